type Service = (input: never) => Promise<unknown>;

/**
 * Services that are loaded when the first of them is called: a run does not pay for operations that it never asks for.
 * @param names of all that `load` gives
 */
export function lazyServices<S extends { readonly [name in N]: Service }, N extends string>(
  names: readonly N[],
  load: () => Promise<S>,
): Pick<S, N> {
  let loading: Promise<S> | undefined;
  const entries = names.map((name) => [
    name,
    async (input: never): Promise<unknown> => {
      loading ??= load();
      return (await loading)[name](input);
    },
  ]);
  // Each name got a function that takes and gives what its own one does.
  return Object.fromEntries(entries) as Pick<S, N>;
}
