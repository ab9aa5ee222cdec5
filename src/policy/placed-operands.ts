import type { CommandWord } from '../schema/command.ts';

/** What `cp`, `mv`, `ln` and their like are given, and where they put it. */
export function operandsOf(rest: readonly CommandWord[]): {
  readonly sources: readonly CommandWord[];
  readonly targets: readonly CommandWord[];
} {
  const at = rest.findIndex(({ text }) => /^(?:-[A-Za-z]*t|--target-directory)$/.test(text));
  const attached = rest.flatMap(({ path }) => /^--target-directory=(.+)$/s.exec(path)?.[1] ?? []);
  const behind = at === -1 ? undefined : rest[at + 1];
  const all = rest.filter((word) => !word.text.startsWith('-') && word !== behind);
  const named = [
    ...(behind === undefined ? [] : [behind]),
    ...attached.map((path) => ({ text: path, path, open: false })),
  ];
  return named.length > 0 ? { sources: all, targets: named } : { sources: all.slice(0, -1), targets: all.slice(-1) };
}
