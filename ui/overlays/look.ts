import { layoutOf } from '../layout.ts';
import type { State } from '../state.ts';
import type { Looking } from './looking.ts';
import { overlayWidth, roomOf } from './overlay-size.ts';

/** Columns inside of the borders. */
export const innerColumns = ({ size }: Pick<State, 'size'>): number => overlayWidth(size.columns) - 4;

/** Keys that come sooner after it was drawn answer nothing (10 §7.3). */
const frameMs = 50;

/**
 * A key of such a text: it moves the view, or answers.
 * @param rows those that stay in view, and those of the text
 * @param answer what the key would say; null for any other one
 * @returns `counts`: the answer holds
 */
export function look(
  state: State,
  top: Looking,
  rows: { readonly head: number; readonly body: number },
  id: string,
  answer: 'yes' | 'no' | null,
  now: number,
): { readonly looking: Looking; readonly counts: boolean } {
  const { columns } = state.size;
  const room = roomOf(rows.head, rows.body, layoutOf(state).body);
  // Another width is another sight: what was seen of it begins anew.
  const known = top.columns === columns ? top.seen : 0;
  const last = Math.max(0, rows.body - room);
  const at = Math.min(top.at, last);
  const seen = at <= known ? Math.max(known, at + room) : known;
  const looking: Looking = { ...top, at, seen, columns, said: null };
  const by = steps(room, rows.body)[id];
  if (by !== undefined) return { looking: { ...looking, at: Math.max(0, Math.min(at + by, last)) }, counts: false };
  // What lay over it until now counts as drawing it.
  const early = now - Math.max(top.shownAt, state.closedAt) < state.guardMs + frameMs;
  if (answer === null || early) return { looking, counts: false };
  if (answer === 'yes' && seen < rows.body)
    return { looking: { ...looking, said: `${rows.body - seen} lines not seen: PgDn` }, counts: false };
  return { looking, counts: true };
}

const steps = (room: number, rows: number): Readonly<Record<string, number>> => ({
  'overlay.up': -1,
  'overlay.down': 1,
  'overlay.page-up': -room,
  'overlay.page-down': room,
  'overlay.top': -rows,
  'overlay.bottom': rows,
});
