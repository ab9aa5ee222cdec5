import type { RunEvent } from '../schema/event.ts';
import type { Feed } from '../store/feed.ts';
import type { Said } from '../store/messages.ts';
import { createStoredText } from './stored-text.ts';

/** Faces are woken at most this often (architecture §4). */
const batchMs = 16;

const last: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled', 'chain_suspended']);

/**
 * Events of a run in batches: stored ones after `after`, then live ones with their deltas. Ends behind the event that
 * closes the run's segment, or when the signal aborts; a segment that is stored, and behind which the run has gone on, is
 * no end. A message that is being streamed comes whole, then its further deltas; of a run of another process as often as
 * it is stored. Listening begins before the replay is read, so nothing is missed in between and nothing comes twice.
 * @param stored what is stored of the message that a run of another process is saying; null when there is none
 */
export async function* watchRun(
  feed: Feed,
  input: { readonly run_id: string; readonly after: number; readonly signal: AbortSignal },
  stored: () => Said | null,
  now: () => number,
): AsyncGenerator<readonly RunEvent[]> {
  let queue: RunEvent[] = [];
  let wake: (() => void) | undefined;
  const begun = () => feed.replay(input.run_id, 0).findLast((event) => event.kind === 'step_started');
  const text = createStoredText(stored, begun, now);
  const add = (event: RunEvent): void => {
    queue.push(event);
    wake?.();
  };
  /** What is stored of a message stays there while its run rests: it was said ahead of the rest, and was told there. */
  let rests = false;
  const heard = (event: RunEvent): void => {
    text.heard(event);
    if (last.has(event.kind)) rests = true;
    else if (event.kind === 'chain_resumed') rests = false;
  };
  const readAlong = (): void => {
    const restsNow = rests && last.has(queue.at(-1)?.kind ?? '');
    const more = rests && !restsNow ? null : text.look();
    if (more === null) return;
    queue.splice(restsNow ? -1 : queue.length, 0, more);
    wake?.();
  };
  const stopListening = feed.listen(input.run_id, (event) => {
    heard(event);
    add(event);
  });
  // Behind the events of the commit, so that what is read here comes behind them.
  const stopPolling = feed.poll(readAlong);
  const onAbort = (): void => wake?.();
  input.signal.addEventListener('abort', onAbort);
  try {
    let seq = input.after;
    const open = feed.underWay(input.run_id);
    // The event that was heard last tells whether the run rests behind it.
    const known = feed.replay(input.run_id, Math.max(0, seq - 1));
    for (const event of known) heard(event);
    const replayed = known.filter((event) => event.seq > seq);
    queue = [...replayed, ...(open === null ? [] : [open]), ...queue];
    readAlong();
    let wokenAt = 0;
    let first = true;
    while (!input.signal.aborted) {
      const batch = queue.filter((event) => event.seq === 0 || event.seq > seq);
      queue = [];
      for (const event of batch) if (event.seq > seq) seq = event.seq;
      if (batch.length > 0) {
        yield batch;
        if (first ? restsBehind(batch) : batch.some((event) => last.has(event.kind))) return;
      }
      first = false;
      if (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (input.signal.aborted) resolve();
        });
        wake = undefined;
      }
      const pause = wokenAt + batchMs - performance.now();
      if (pause > 0 && !queue.some((event) => event.seq > 0))
        await new Promise((resolve) => setTimeout(resolve, pause));
      wokenAt = performance.now();
    }
  } finally {
    input.signal.removeEventListener('abort', onAbort);
    stopListening();
    stopPolling();
  }
}

/** Whether the run rests, or is over, behind stored events. */
function restsBehind(events: readonly RunEvent[]): boolean {
  const turn = events.findLast(({ kind }) => last.has(kind) || kind === 'chain_resumed');
  return turn !== undefined && turn.kind !== 'chain_resumed';
}
