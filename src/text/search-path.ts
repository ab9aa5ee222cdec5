/** A search path without its empty and relative elements: these find programs in whatever directory a child starts in. */
export const absoluteElements = (path: string): string =>
  path
    .split(':')
    .filter((element) => element.startsWith('/'))
    .join(':');

type Environment = Readonly<Record<string, string | undefined>>;

/** An environment for a program that is looked for by its name. */
export const withSearchPath = (environment: Environment): Environment => ({
  ...environment,
  ...(environment['PATH'] === undefined ? {} : { PATH: absoluteElements(environment['PATH']) }),
});
