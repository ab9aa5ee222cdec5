import type { Ask } from '../schema/ask.ts';

const mostShown = 200;

/** What a row says of a call: the beginning of a shell line as it is, for who draws it escapes it, else its summary. */
export function whatOf({ args, tools, summary }: Pick<Ask, 'args' | 'tools' | 'summary'>): string {
  const command: unknown =
    tools === 'local_shell' && typeof args === 'object' && args !== null && !('args' in args)
      ? Reflect.get(args, 'command')
      : null;
  return typeof command === 'string' ? command.slice(0, mostShown) : summary;
}
