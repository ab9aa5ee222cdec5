import type { CommandWord } from '../schema/command.ts';
import { literalWord } from './words.ts';

/** Files by which the code of a program is more than the file that it was started with. */

const words = (text: string): readonly string[] => text.split(' ');

/** Modules by the files that hold them: `-m a.b`, and a directory, of which the interpreter takes the first file. */
export const modulesOf = (rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap(({ text }, index): readonly CommandWord[] => {
    if (rest[index - 1]?.text === '-m')
      return [literalWord(`${text.replace(/^.*\./, '')}.py`), literalWord('__main__.py')];
    return /^\.{0,2}\/?$/.test(text) && text !== ''
      ? words('index.js index.mjs index.cjs __main__.py').map(literalWord)
      : [];
  });

/** A file that code may have read by its name. */
export const isModule = (file: string): boolean => /\.(?:py|[cm]?[jt]sx?|rb|p[lm]|php|lua|exs?)$/.test(file);

/** A name without what it ends in. */
export const stemOf = (file: string): string => file.replace(/(?<=.)\.\w+$/, '');

/** Names that stand where code has others read: behind an `import` and its like, and behind such an option. */
export const importedNames = (text: string): readonly string[] => [
  ...new Set(Array.from(text.matchAll(importing), ([line]) => line.replace(/^-[rM]/, '').split(/[^\w-]+/)).flat()),
];

const importing = /(?:\b(?:import|require|from|use|include|load|dofile|source)\w{0,16}\b|^-[rM])[^\n;]{1,512}/g;
