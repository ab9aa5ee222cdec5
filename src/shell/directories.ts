import type { CommandWord } from '../schema/command.ts';
import { homeMark } from './words.ts';

/** Most directories of a line in which its paths are looked for. */
const maxDirectories = 16;

/** Options by which a program goes elsewhere before it does anything. */
const goesTo = /^(?:-C|--directory|--chdir|--cwd|--wd)$/;
const goesToAttached = /^(?:-C|--(?:directory|chdir|cwd|wd)=)(?=.)/;

export type DirectoriesDeps = {
  /** What the line gives to a name so far: literals, as paths. */
  valuesOf(name: string): readonly string[];
  /** The line leads to more places than are looked at. */
  spent(): void;
  /** A directory is no literal. */
  unnamed(text: string): void;
};

/** Where a line may have gone by its literal `cd`s: every place before stays in view, since one may fail. */
export function createDirectories({ valuesOf, spent, unnamed }: DirectoriesDeps) {
  let current: readonly string[] = [''];
  const all = new Set<string>(current);

  const go = (targets: readonly string[]): void => {
    const moved = current.flatMap((base) => targets.map((target) => below(base, target)));
    current = [...new Set([...current, ...moved])];
    if (current.length > maxDirectories) {
      current = current.slice(0, maxDirectories);
      spent();
    }
    for (const directory of current) all.add(directory);
  };

  const placesOf = (target: CommandWord | undefined): readonly string[] => {
    if (target === undefined) return [homeMark, ...valuesOf('HOME')];
    // The way back leads to a place that is in view already, unless the line says otherwise.
    if (target.text === '-') return valuesOf('OLDPWD');
    const search = valuesOf('CDPATH').flatMap((value) => value.split(':'));
    return [target.path, ...search.map((directory) => below(directory, target.path))];
  };

  return {
    current: (): readonly string[] => current,
    /** Every place that the line has led to: for what may run again, or later than it stands. */
    all: (): readonly string[] => [...all].slice(0, maxDirectories),

    /** A shell of its own comes back to where it was started. */
    back(to: readonly string[]): void {
      current = to;
    },

    /** The words behind `cd`. */
    change(rest: readonly CommandWord[]): void {
      const target = rest.find((word) => !/^-[LPe@]+$|^--$/.test(word.text));
      if (target?.open === true) unnamed(target.text);
      else go(placesOf(target));
    },

    /** What a command does that one of its options sends elsewhere. */
    during(words: readonly CommandWord[], read: () => void): void {
      const targets = words.flatMap(({ path, text }, index) => {
        if (index > 0 && goesTo.test(words[index - 1]?.text ?? '')) return [path];
        const attached = goesToAttached.exec(text)?.[0];
        return index === 0 || attached === undefined ? [] : [path.slice(attached.length)];
      });
      const before = current;
      if (targets.length > 0) go(targets);
      const during = current;
      read();
      // What it reads may be a `cd`, as with `eval`.
      if (current === during) current = before;
    },
  };
}

const below = (base: string, target: string): string =>
  base === '' || /^[/\0]/.test(target) ? target : `${base}/${target}`;
