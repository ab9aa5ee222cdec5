import { type Change, only, type State } from '../state.ts';
import type { Overlay } from './overlay.ts';

/** A command while an overlay has the keys. */
export function overlayCommand(state: State, id: string, now: number): Change {
  const top = state.overlays.at(-1);
  if (top === undefined) return only(state);
  if (id === 'overlay.close') return only({ ...state, overlays: state.overlays.slice(0, -1), closedAt: now });
  return only({ ...state, overlays: [...state.overlays.slice(0, -1), scrolled(top, id)] });
}

const steps: Readonly<Record<string, number>> = {
  'overlay.up': -1,
  'overlay.down': 1,
  'overlay.page-up': -10,
  'overlay.page-down': 10,
  'overlay.top': -1_000_000,
};

const scrolled = (overlay: Overlay, id: string): Overlay => ({
  ...overlay,
  top: Math.max(0, overlay.top + (steps[id] ?? 0)),
});
