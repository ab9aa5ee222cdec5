import type { Action } from './actions.ts';
import type { InputEvent } from './keys/decoder.ts';
import type { Screen } from './screen.ts';

export type IncomingDeps = {
  readonly screen: () => Pick<Screen, 'protocol'>;
  readonly notifier: { key(): void; focus(has: boolean): void };
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
};

/** What comes from the terminal, told to whom it concerns. */
export const incoming =
  ({ screen, notifier, dispatch, now }: IncomingDeps) =>
  (events: readonly InputEvent[]): void => {
    for (const event of events) {
      switch (event.type) {
        case 'key':
          notifier.key();
          dispatch({ type: 'key', key: event, now: now() });
          break;
        case 'focus':
        case 'blur':
          notifier.focus(event.type === 'focus');
          // What is typed as the terminal comes to the front was begun elsewhere: the guard of a card begins anew.
          if (event.type === 'focus') dispatch({ type: 'approve', action: { type: 'redrawn' }, now: now() });
          break;
        case 'paste':
          dispatch({ type: 'paste', text: event.text, now: now() });
          break;
        case 'mouse':
          dispatch({ type: 'wheel', delta: event.wheel === 'up' ? -3 : 3 });
          break;
        case 'protocol':
          screen().protocol();
          break;
      }
    }
  };
