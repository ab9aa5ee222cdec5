import type { RunEvent } from '../../src/schema/event.ts';
import { client } from './client.ts';

/** @param ended the run is over: nothing comes behind these */
type Listener = (events: readonly RunEvent[], ended: boolean) => void;

type Followed = {
  readonly events: RunEvent[];
  readonly listeners: Set<Listener>;
  readonly end: AbortController;
  ended: boolean;
};

/** A browser has six connections to a server: however many parts of a page look at a run, it is read once. */
const followed = new Map<string, Followed>();

/** Calls back with everything that is known of a run, from its first event, and goes on. @returns how to stop */
export function onRun(runId: string, listener: Listener): () => void {
  const run = followed.get(runId) ?? begin(runId);
  run.listeners.add(listener);
  if (run.events.length > 0 || run.ended) listener(run.events.slice(), run.ended);
  return () => {
    run.listeners.delete(listener);
    if (run.listeners.size > 0) return;
    run.end.abort();
    if (followed.get(runId) === run) followed.delete(runId);
  };
}

function begin(runId: string): Followed {
  const run: Followed = { events: [], listeners: new Set(), end: new AbortController(), ended: false };
  followed.set(runId, run);
  // A refusal is said by what else the page reads.
  follow(runId, run).catch(() => undefined);
  return run;
}

const closing: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled']);

/** Over as many rests, lost connections and times in the background as it takes. */
async function follow(runId: string, run: Followed): Promise<void> {
  const { signal } = run.end;
  let after = 0;
  while (!signal.aborted) {
    await shown(signal);
    const hidden = new AbortController();
    const onHide = () => {
      // What is stored meanwhile is read when somebody looks again.
      if (document.hidden) hidden.abort();
    };
    document.addEventListener('visibilitychange', onHide);
    let rested = false;
    try {
      const until = AbortSignal.any([signal, hidden.signal]);
      for await (const batch of client.watch({ run_id: runId, after, signal: until })) {
        after = Math.max(after, ...batch.map(({ seq }) => seq));
        // What came behind it, where the run goes on already, may be in the same piece.
        rested = batch.some(({ kind }) => kind === 'chain_suspended');
        run.events.push(...batch);
        run.ended = batch.some(({ kind }) => closing.has(kind));
        for (const listener of [...run.listeners]) listener(batch, run.ended);
      }
    } finally {
      document.removeEventListener('visibilitychange', onHide);
    }
    if (run.ended || signal.aborted) return;
    if (hidden.signal.aborted || rested) continue;
    // The events of its end were pruned: there is nothing more to hear.
    run.ended = true;
    for (const listener of [...run.listeners]) listener([], true);
    return;
  }
}

/** Resolves when somebody may see the page. */
function shown(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
}
