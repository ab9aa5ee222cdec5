const isOption = (text: string): boolean => /^[-+]./.test(text);

/**
 * Whether the words behind a program are covered by those of an entry, for rules that tighten (02 §9.6): options are not
 * judged there, so they may stand before and between the words (`git -C . push` is `git push`), each with the word behind
 * it for a value; and an option of the entry may stand anywhere (`git push origin --force`). Linear in words times entry.
 */
export function coversWords(entry: readonly string[], words: readonly { readonly text: string }[]): boolean {
  if (entry.every((text, index) => text === words[index]?.text)) return true;
  const plain = entry.filter((text) => !isOption(text));
  return entry.every((text) => !isOption(text) || words.some((word) => word.text === text)) && follow(plain, words);
}

/** How many of the entry's words have been met by each way of telling values from words, and whether one may come now. */
type Met = { readonly count: number; readonly behindOption: boolean };

function follow(plain: readonly string[], words: readonly { readonly text: string }[]): boolean {
  let ways: readonly Met[] = [{ count: 0, behindOption: false }];
  if (plain.length === 0) return true;
  for (const { text } of words) {
    const next = new Map<string, Met>();
    const add = (count: number, behindOption: boolean): void => {
      next.set(`${count} ${behindOption}`, { count, behindOption });
    };
    for (const { count, behindOption } of ways) {
      if (text === plain[count]) add(count + 1, false);
      if (isOption(text)) add(count, true);
      else if (behindOption) add(count, false);
    }
    ways = [...next.values()];
    if (ways.some(({ count }) => count === plain.length)) return true;
    if (ways.length === 0) return false;
  }
  return false;
}
