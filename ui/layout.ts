import { foreign, type Line, say } from '../src/view/line.ts';
import { cutLine } from '../src/view/wrap.ts';
import { composerRows } from './composer/composer-lines.ts';
import { keyOf } from './keys/key-map.ts';
import { bannerOf } from './status-lines.ts';
import type { State } from './state.ts';

/** Rows of each region (10 §2.1). The last row of the terminal is never written. */
export type Layout = {
  readonly columns: number;
  readonly rows: number;
  readonly banner: number;
  readonly body: number;
  readonly queue: number;
  /** Text lines of the composer; its rule is one more. 0 where the pane has none. */
  readonly composer: number;
};

const least = { columns: 60, rows: 16 };
/** Below this there is no room for a sentence. */
const tiny = { columns: 20, rows: 6 };

export const isTooSmall = ({ size }: Pick<State, 'size'>): boolean =>
  size.columns < least.columns || size.rows < least.rows;
export const isTiny = ({ size }: Pick<State, 'size'>): boolean => size.columns < tiny.columns || size.rows < tiny.rows;

export function layoutOf(state: State): Layout {
  const { columns } = state.size;
  const rows = state.size.rows - 1;
  // Nothing else stands beside what has the keys on a small screen.
  if (isTooSmall(state)) return { columns, rows, banner: 0, queue: 0, composer: 0, body: rows };
  const banner = bannerOf(state) === null ? 0 : 1;
  const queue = state.pane === 'chat' ? Math.min(3, state.composer.queue.length) : 0;
  const most = state.size.rows < 30 ? 4 : 8;
  const composer =
    state.pane === 'chat' ? composerRows(state.composer, Math.max(4, columns - 2), most, state.glyphs) : 0;
  const fixed = 3 + banner + queue + (composer === 0 ? 0 : composer + 1);
  return { columns, rows, banner, queue, composer, body: Math.max(1, rows - fixed) };
}

/** The only thing on a screen that is too small (10 §1.3); the keys fit at every size that has them. */
export function tooSmallLines(state: State): readonly Line[] {
  const { columns, rows } = state.size;
  if (isTiny(state)) return [[say('60x16')]];
  const wide = columns >= 40;
  const asks = state.asks.length;
  const next = keyOf(state.keys, 'app.next-ask') ?? 'Ctrl+N';
  return [
    [say(wide ? 'The terminal is too small.' : 'Too small', undefined, ['bold'])],
    [say(wide ? `It has ${columns}x${rows}; 60x16 is needed.` : `${columns}x${rows} of 60x16`)],
    asks === 0
      ? [say('No open asks.')]
      : [say(wide ? `Open asks: ${asks}   ${next} opens the next` : `asks ${asks}: ${next}`, 'ask')],
    // What became of the last answer has no other place here.
    cutLine(
      state.said === null ? [] : foreign(state.said.text, state.glyphs, state.said.bad ? 'danger' : 'accent'),
      columns,
    ),
    [say(wide ? 'p plain mode   q quit' : 'p plain   q quit')],
  ];
}
