import type { CommandWord } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import { listedOperands } from './option-tables.ts';
import type { Holding } from './reach.ts';
import { wildcard } from './wildcard.ts';

/** Which files a search lists that looks for a text in them: `grep -rl old . | xargs sed -i s/old/new/`. */

export type SearchList = {
  /** Null where the pattern may be met by any file. */
  readonly holding: Holding | null;
  /** Whether a name is among those that are looked at. */
  mayLookAt(path: string): boolean;
};

/** @param words those behind the program, or behind `git grep` */
export function searchList(program: 'grep' | 'rg' | 'git grep', words: readonly CommandWord[]): SearchList {
  const patterns = words.flatMap(({ text }, index) => {
    const attached = /^--include=(.*)$/s.exec(text)?.[1];
    return attached ?? (words[index - 1]?.text === '--include' ? text : []);
  });
  const names = patterns.map(wildcard);
  return {
    holding: words.some(({ open }) => open) ? null : lookedFor(program, words),
    mayLookAt: (path) =>
      program !== 'grep' || names.length === 0 || names.some((name) => name === null || name(baseName(path))),
  };
}

/** Characters that stand for themselves in every kind of pattern. */
const plain = /^[\w \-/:,=@<>"'#;%&!~]+$/;

function lookedFor(program: 'grep' | 'rg' | 'git grep', words: readonly CommandWord[]): Holding | null {
  const options = words.filter(({ text }) => text.startsWith('-'));
  // What it lists does not hold the text.
  if (options.some(({ text }) => /^-[A-Za-z]*[vL]|^--(?:invert|files-without)/.test(text))) return null;
  // The file of a list is known whatever else is printed of it.
  const known = words.filter(
    ({ text }) => !/^--(?:files-with-matches|name-only|include=.*|exclude(?:-dir)?=.*)$/.test(text),
  );
  const operands = listedOperands(program === 'rg' ? 'rg' : 'grep', known, undefined);
  if (operands === null) return null;
  const texts = operands.filter(({ kind }) => kind === 'text');
  const [first] = texts;
  if (first === undefined || texts.length !== 1 || !plain.test(first.text)) return null;
  return { text: first.text, folds: options.some(({ text }) => /^-[A-Za-z]*[iS]/.test(text)) };
}

/** Whether a file may hold it; what cannot be read as a text may. */
export function mayHold(real: string, { text, folds }: Holding, host: PolicyHost): boolean {
  const held = host.isDirectory(real) ? null : host.textOf(real);
  if (held === null || /[\0\ufffd]/.test(held)) return true;
  return folds ? held.toLowerCase().includes(text.toLowerCase()) : held.includes(text);
}
