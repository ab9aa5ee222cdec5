import { foreign, type Line, say } from '../../src/view/line.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { spread } from '../../src/view/wrap.ts';
import { keyOf } from '../keys/key-map.ts';
import { runInView, type State } from '../state.ts';
import { shownIdOf } from './approvals-state.ts';

/** More of them would leave no room for what they are about. */
const mostRows = 3;

/**
 * The open asks of the run in view that do not have the keys, one row each (10 §7.1, §7.5): one that was left for later
 * stays in sight, with the key that goes back to it. A view that is paused is not moved by them.
 */
export function waitingLines(state: State, columns: number): readonly Line[] {
  const { approvals, anchor, glyphs, keys } = state;
  const runId = runInView(state);
  if (runId === null || anchor !== null) return [];
  const asks = approvals.asks.filter(({ id, run_id }) => run_id === runId && id !== approvals.card?.id);
  const key = keyOf(keys, 'app.next-ask');
  // Where a card has the keys, the next one gets them by itself.
  const right: Line = [say(key === null || approvals.card !== null ? 'waits' : `waits · ${key}`, 'ask')];
  const mark = say(glyphs === 'ascii' ? '# ' : '┏ ', 'ask');
  const shown = asks.slice(0, asks.length > mostRows ? mostRows - 1 : mostRows);
  const rows = shown.map((ask): Line => {
    const name = foreign(`${shownIdOf(approvals)(ask.id)} · ${ask.tools}.${ask.tool}`, glyphs, 'ask');
    return spread([mark, ...name, ...foreign(`  ${whatOf(ask)}`, glyphs)], right, columns);
  });
  const hidden = asks.length - shown.length;
  return hidden === 0 ? rows : [...rows, [mark, say(`${hidden} more wait`, 'ask')]];
}
