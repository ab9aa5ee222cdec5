import type { Effect } from '../effect.ts';
import type { Facts } from '../state.ts';
import type { Overlay } from './overlay.ts';

/** Lines that name an effect, and one key for it; any other key leaves all as it is. */
export const question = (
  title: string,
  lines: readonly string[],
  { words, effects }: { readonly words: string; readonly effects: readonly Effect[] },
): Overlay => ({ kind: 'question', title, lines, choices: [{ key: 'y', words, effects }], at: 0 });

/** Says what of the configuration is written where, before it is (10 §6.5). */
export const writes = ({ database }: Pick<Facts, 'database'>, key: string, value: string): string =>
  `${key} = ${value} is written to ${database ?? 'the database'}.`;
