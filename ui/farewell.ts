import { escapeText } from '../src/view/escape.ts';
import { lastTurns, plainLines } from '../src/view/plain-lines.ts';
import type { State } from './state.ts';

/** Most asks that are named. */
const mostAsks = 3;

/** What stands on the main screen after the program has left it: the last turn, and what is still open (10 §1.5, §5.8). */
export function farewell(state: State, dump: string): readonly string[] {
  const { session, items, asks } = state;
  const kept = dump === 'none' ? [] : dump === 'all' ? items : lastTurns(items, 1);
  const name = session === null ? [] : [`reins: session ${escapeText(session.name, { mode: 'line' })}`];
  const open = asks.slice(0, mostAsks).map((ask) => `reins: open: reins approvals respond ${ask.id} --approve|--deny`);
  const more = asks.length > mostAsks ? [`reins: ${asks.length - mostAsks} more open asks: reins approvals list`] : [];
  return [...kept.flatMap((item) => plainLines(item, state.thinkOpen)), ...name, ...open, ...more];
}
