import { createStore, useStore } from '../data/store.ts';

type Said = { readonly polite: string; readonly assertive: string };
const said = createStore<Said>({ polite: '', assertive: '' });
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
      said.set({ ...said.get(), polite });
    },
    Math.max(0, lastPolite + politePauseMs - now),
  );
}

/** Says it at once: an ask waits. */
export const announceAsk = (assertive: string): void => said.set({ ...said.get(), assertive });

export function Announcer() {
  const { polite, assertive } = useStore(said);
  return (
    <>
      <div className="sr" role="status" aria-live="polite">
        {polite}
      </div>
      <div className="sr" role="alert" aria-live="assertive">
        {assertive}
      </div>
    </>
  );
}
