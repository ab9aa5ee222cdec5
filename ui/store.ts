import type { Action } from './actions.ts';
import type { Ruler } from './move.ts';
import { reduce } from './reducer.ts';
import type { Effect } from './effect.ts';
import type { State } from './state.ts';

/** Streams are drawn at most this often; what a person does is drawn at once (10 §14). */
const frameMs = 40;
/** With reduced motion: a text grows by what has come in a second, not letter by letter. */
const calmFrameMs = 1000;
/** Streams are not drawn this soon after a key: the frame of the next key shows them too, and would have to wait. */
const typingMs = 120;

export type Store = {
  state(): State;
  dispatch(action: Action): void;
  /** Draws what has changed now. */
  flush(): void;
  /** Reduced motion, from now on or no more. */
  calm(on: boolean): void;
  close(): void;
};

/** Holds the state, hands effects to `perform`, and calls `draw` for the newest state, never more often than it has to. */
export function createStore(
  first: State,
  ruler: Ruler,
  perform: (effect: Effect) => void,
  draw: (state: State) => void,
): Store {
  let state = first;
  let drawn: State | null = null;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let closed = false;
  let betweenMs = frameMs;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (immediate !== undefined) clearImmediate(immediate);
    immediate = undefined;
    if (closed || state === drawn) return;
    drawn = state;
    drawnAt = performance.now();
    draw(state);
  };
  const urgent: ReadonlySet<Action['type']> = new Set(['key', 'paste', 'wheel', 'resize', 'opened', 'ready']);

  return {
    state: () => state,
    dispatch(action) {
      const { state: next, effects } = reduce(state, action, ruler);
      state = next;
      for (const effect of effects) perform(effect);
      if (state === drawn || closed) return;
      // All keys of one read are one frame.
      if (urgent.has(action.type)) {
        if (action.type === 'key') pressedAt = performance.now();
        immediate ??= setImmediate(flush);
      } else {
        const due = Math.max(drawnAt + betweenMs, pressedAt + typingMs);
        timer ??= setTimeout(flush, Math.max(0, due - performance.now()));
      }
    },
    flush,
    calm(on) {
      betweenMs = on ? calmFrameMs : frameMs;
    },
    close() {
      flush();
      closed = true;
    },
  };
}
