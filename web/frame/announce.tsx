import { createStore, useStore } from '../data/store.ts';

/** The turn makes the same words a second time something new, which is said again. */
type Line = { readonly words: string; readonly turn: number };
type Said = { readonly polite: Line; readonly assertive: Line };
const nothing: Line = { words: '', turn: 0 };
const said = createStore<Said>({ polite: nothing, assertive: nothing });
const next = ({ turn }: Line, words: string): Line => ({ words, turn: turn + 1 });
const politePauseMs = 3000;
let lastPolite = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Says something to who listens, at most once in 3 s; the newest counts (09 §8.17). */
export function announce(polite: string): void {
  clearTimeout(waiting);
  const now = Date.now();
  waiting = setTimeout(
    () => {
      lastPolite = Date.now();
      const before = said.get();
      said.set({ ...before, polite: next(before.polite, polite) });
    },
    Math.max(0, lastPolite + politePauseMs - now),
  );
}

/** Says it at once: an ask waits. */
export function announceAsk(assertive: string): void {
  const before = said.get();
  said.set({ ...before, assertive: next(before.assertive, assertive) });
}

export function Announcer() {
  const { polite, assertive } = useStore(said);
  return (
    <>
      <div className="sr" role="status" aria-live="polite">
        <span key={polite.turn}>{polite.words}</span>
      </div>
      <div className="sr" role="alert" aria-live="assertive">
        <span key={assertive.turn}>{assertive.words}</span>
      </div>
    </>
  );
}
