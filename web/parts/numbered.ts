/** Parts of a list that only grows at its end, each with its place as its key. */
export const numbered = <T>(list: readonly T[]): readonly { readonly key: string; readonly part: T }[] =>
  list.map((part, place) => ({ key: String(place), part }));
