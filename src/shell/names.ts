import type { CommandWord, Origin } from '../schema/command.ts';
import { givers } from './origins.ts';
import type { ScriptWord } from './script.ts';
import { around, type Choice, choicesOf, expandWord, homeMark, latest, openWord, type Variable } from './words.ts';

/** Most values of one name. None of them is longer than the texts of the line together: what is open is none. */
const maxValues = 64;

/** What names stand for in a shell until the line gives them something else. */
const inherited: Readonly<Record<string, readonly string[]>> = { HOME: [homeMark], PWD: ['.'], OLDPWD: ['.'] };

/**
 * What a line gives to names, and what its words are by that.
 * @param spent the line has more of something than is read
 */
export function createNames(spent: (what: string) => void) {
  const variables = new Map<string, Variable>();
  /** The line says where the shell splits values that are not quoted. */
  let splits = false;

  /** Any name may hold something else from here on. */
  const forget = (): void => {
    for (const [name, known] of variables) variables.set(name, { ...known, certain: false });
  };

  /** The name may hold what these give, too. */
  const mayHold = (name: string, origins: readonly Origin[]): void => {
    if (origins.length === 0) return;
    const before = variables.get(name);
    const all = [...new Set([...(before?.origins ?? []), ...origins])];
    if (all.length > maxValues) spent(`${name} has too many values`);
    const values = before?.values ?? inherited[name] ?? [];
    variables.set(name, { values, certain: false, origins: all.slice(-maxValues) });
  };

  return {
    forget,
    mayHold,
    /** The line gives it something, known or not. */
    isGiven: (name: string): boolean => variables.has(name),
    valuesOf: (name: string): readonly string[] => variables.get(name)?.values ?? [],

    /** The words that a word becomes; one that is too much stays as it is written. */
    expand(word: ScriptWord, choice: Choice = latest): readonly CommandWord[] {
      const words = expandWord(word, variables, choice);
      if (words === null) spent('a word stands for too much');
      return words ?? [openWord(word)];
    },

    /** Every reading of these words together, the one with the latest values first. */
    readings(words: readonly ScriptWord[]): readonly Choice[] {
      const choices = choicesOf(words, variables);
      if (choices === null) spent('a command has too many readings');
      return choices ?? [latest];
    },

    /**
     * The name may hold each of these from here on, and whatever it may have held before.
     * @param certain it holds one of them and nothing else
     * @param append they stand behind what it held
     */
    give(
      name: string,
      values: readonly CommandWord[],
      { certain, append }: { readonly certain: boolean; readonly append: boolean },
    ): void {
      const known = values.flatMap((value) => (value.open ? [] : [value.path]));
      const before = variables.get(name)?.values ?? inherited[name] ?? [];
      const longer = append ? before.flatMap((value) => known.map((more) => value + more)) : [];
      // The latest stands last, also where it had been there before.
      const last = [...known, ...longer].slice(-1);
      const all = [...new Set([...before, ...known, ...longer])].filter((value) => value !== last[0]);
      if (all.length >= maxValues) spent(`${name} has too many values`);
      variables.set(name, {
        values: [...all, ...last].slice(-maxValues),
        certain: certain && !splits && known.length > 0 && known.length === values.length,
        origins: variables.get(name)?.origins ?? [],
      });
      const unknown = values.flatMap((value): readonly Origin[] => {
        const { unknown: part, open } = value;
        if (part !== undefined) return part.origins.map((origin) => around(part, origin));
        return open ? givers(value) : [];
      });
      mayHold(name, unknown);
      if (name !== 'IFS') return;
      splits = true;
      forget();
    },
  };
}
