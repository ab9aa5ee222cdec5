import { layoutOf } from '../layout.ts';
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
  const view = viewOf(overlay, state, columns);
  const room = roomOf(view.head.length, view.body.length, layout.body, view.below.length);
  const last = Math.max(0, view.body.length - room);
  // A chosen row stays in view; a text scrolls by its first row.
  const wanted = view.chosen ? Math.max(0, view.at - Math.floor(room / 2)) : view.at;
  return { view, width, columns, room, last, top: Math.min(wanted, last) };
}
