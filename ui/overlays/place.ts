import { isTooSmall, type Layout, layoutOf } from '../layout.ts';
import type { State } from '../state.ts';
import type { Overlay } from './overlay.ts';
import { overlayWidth, roomOf } from './overlay-size.ts';
import type { OverlayView } from './overlay-view.ts';
import { viewOf } from './views.ts';

/** An overlay on this screen. */
export type OverlayPlace = {
  readonly view: OverlayView;
  /** With its borders. */
  readonly width: number;
  /** Inside of them. */
  readonly columns: number;
  /** Rows of what scrolls that are in view. */
  readonly room: number;
  /** The last row that may stand at the top. */
  readonly last: number;
  readonly top: number;
};

export function placeOf(state: State, overlay: Overlay): OverlayPlace {
  const layout = layoutOf(state);
  const width = overlayWidth(layout.columns);
  const columns = width - 4;
  const { view, room } = roomIn(viewOf(overlay, state, columns), layout, isTooSmall(state));
  const last = Math.max(0, view.body.length - room);
  // A chosen row stays in view; a text scrolls by its first row.
  const wanted = view.chosen ? Math.max(0, view.at - Math.floor(room / 2)) : view.at;
  return { view, width, columns, room, last, top: Math.min(wanted, last) };
}

/** A small screen has room for the rows alone, and for as much of the head as leaves some of them. */
function roomIn(whole: OverlayView, { rows, body }: Layout, small: boolean): Pick<OverlayPlace, 'view' | 'room'> {
  if (!small) return { view: whole, room: roomOf(whole.head.length, whole.body.length, body, whole.below.length) };
  const head = whole.head.slice(0, Math.max(0, rows - 6));
  return { view: { ...whole, head, below: [] }, room: rows - 2 - (head.length === 0 ? 0 : head.length + 1) };
}
