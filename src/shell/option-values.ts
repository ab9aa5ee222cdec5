import type { CommandWord } from '../schema/command.ts';

/** How the value of an option stands in words. */

/** The values of these options: as a word of their own, at the end of a bundle, or attached, a long one by `=`. */
export const valuesOf = (own: readonly string[], rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap((word, index) => {
    for (const option of own) {
      const from = behind(option, word.text);
      if (from === word.text.length) return rest.slice(index + 1, index + 2);
      if (from !== null) return [cut(word, from)];
    }
    return [];
  });

/** Where the value of an option begins in a word; at its end where that is the next one; null for another word. */
function behind(option: string, word: string): number | null {
  if (word === option) return word.length;
  if (option.startsWith('--')) return behindLong(option, word);
  if (word.startsWith(option)) return option.length;
  const bundle = option.length === 2 && /^-[A-Za-z]+/.exec(word);
  const at = bundle ? bundle[0].indexOf(option.charAt(1), 1) : -1;
  return at === -1 ? null : at + 1;
}

/** A long option, also shortened as most programs take it. Where it would be another one that is whole, it is that. */
function behindLong(option: string, word: string): number | null {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word : word.slice(0, equals);
  if (name.length < 3 || !option.startsWith(name) || wholeOptions.has(name)) return null;
  return equals === -1 ? word.length : equals + 1;
}

const wholeOptions: ReadonlySet<string> = new Set(['--checkpoint', '--cmd', '--g']);

export const cut = (word: CommandWord, from: number): CommandWord => ({ ...word, text: word.text.slice(from) });
