import type { CommandWord } from '../schema/command.ts';

/** A word as far as entries look at it. */
type Word = Pick<CommandWord, 'text'> & Partial<CommandWord>;

/** `open`: a word that nobody knows before the call runs may be the one that is missing. */
export type Coverage = 'covered' | 'open' | 'none';

const isOption = (text: string): boolean => /^[-+]./.test(text);

/**
 * Whether the words behind a program are covered by those of an entry, for rules that tighten (02 §9.6): options are not
 * judged there, so they may stand before and between the words (`git -C . push` is `git push`), each with the word behind
 * it for a value; and an option of the entry may stand anywhere (`git push origin --force`). A name without a value is
 * nothing (`git $X push`), and what it may hold leaves the question open (`git $X`). Linear in words times entry.
 */
export function coversWords(entry: readonly string[], words: readonly Word[]): Coverage {
  if (entry.every((text, index) => is(words[index], text))) return 'covered';
  const plain = entry.filter((text) => !isOption(text));
  const options = entry.filter(isOption);
  const found = [follow(plain, words), ...options.map((text) => among(text, words))];
  return found.includes('none') ? 'none' : found.includes('open') ? 'open' : 'covered';
}

const is = (word: Word | undefined, text: string): boolean => word?.text === text || word?.unset === text;

/**
 * Whether a word that is not known may be this one, or several words that begin with it: what stands literally before its
 * first expansion or place must agree.
 */
function mayBe({ text, open = false, filled = false }: Word, wanted: string): boolean {
  if (!open && !filled) return false;
  return filled || wanted.startsWith(/^[^$`*?[{~<>]*/.exec(text)?.[0] ?? '');
}

function among(text: string, words: readonly Word[]): Coverage {
  if (words.some((word) => is(word, text))) return 'covered';
  return words.some((word) => mayBe(word, text)) ? 'open' : 'none';
}

/** How many of the entry's words have been met by each way of telling values from words, and whether one may come now. */
type Met = { readonly count: number; readonly behindOption: boolean };

function follow(plain: readonly string[], words: readonly Word[]): Coverage {
  let ways: readonly Met[] = [{ count: 0, behindOption: false }];
  if (plain.length === 0) return 'covered';
  let open = false;
  for (const word of words) {
    const next = new Map<string, Met>();
    const add = (count: number, behindOption: boolean): void => {
      next.set(`${count} ${behindOption}`, { count, behindOption });
    };
    for (const { count, behindOption } of ways) {
      const wanted = plain[count] ?? '';
      if (is(word, wanted)) add(count + 1, false);
      if (isOption(word.text)) add(count, true);
      else if (behindOption) add(count, false);
      if (word.unset === '') add(count, behindOption);
      open ||= mayBe(word, wanted);
    }
    ways = [...next.values()];
    if (ways.some(({ count }) => count === plain.length)) return 'covered';
    if (ways.length === 0) break;
  }
  return open ? 'open' : 'none';
}
