import type { CommandWord } from '../schema/command.ts';
import { gitLines } from './git-lines.ts';
import { optionTable } from './option-table.ts';
import { valuesOf } from './option-values.ts';

/**
 * Options of ordinary programs whose value is started. No list grants them, since no table lists them; a rule that denies
 * should see all the same what they run.
 */

/** The lines that a command has started by its options. Linear in its words. */
export function lineOptions(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (name === 'git') return gitLines(rest);
  const own = Object.hasOwn(optionTable, name) ? optionTable[name] : undefined;
  if (own === undefined) return [];
  const { options, line, beside } = own;
  const isBeside = beside !== undefined && rest.some(({ text }) => text === beside.word);
  return valuesOf(isBeside ? [...options, ...beside.options] : options, rest).flatMap(line);
}
