import type { CommandWord } from '../schema/command.ts';
import { gitLines } from './git-lines.ts';
import { optionTable } from './option-table.ts';
import { cut, valuesOf } from './option-values.ts';

/**
 * Options of ordinary programs whose value is started. No list grants them, since no table lists them; a rule that denies
 * should see all the same what they run.
 */

/** The lines that a command has started by its options. Linear in its words. */
export function lineOptions(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (name === 'git') return gitLines(rest);
  const own = Object.hasOwn(optionTable, name) ? optionTable[name] : undefined;
  return own === undefined ? [] : valuesOf(own.options, rest).flatMap(own.line);
}

/** Options that most likely hold a line, by the end of their names, of programs that are in no table. */
const guessedOption =
  /^--(?:[\w-]*[-_])?(?:pager|exec|command|cmd|editor|preview|askpass|launcher|linker|renderer|run_under|prgbox)(?:=|$)/;

/** Of a program that is in no table: what may be a line, by the names of its options. */
export function guessedLines(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (name === 'git' || Object.hasOwn(optionTable, name)) return [];
  return rest.flatMap((word, index) => {
    const found = guessedOption.exec(word.text)?.[0];
    if (found === undefined) return [];
    return found.endsWith('=') ? [cut(word, found.length)] : rest.slice(index + 1, index + 2);
  });
}
