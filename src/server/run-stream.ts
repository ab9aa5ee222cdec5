import type { RouteClient } from '../client/routes.ts';
import { RuntimeError } from '../schema/errors.ts';
import { isEphemeral, type RunEvent } from '../schema/event.ts';
import { type Frames, frame } from './frames.ts';
import type { Call } from './route.ts';
import { endWith, gap, onlyParameters, type StreamSources, startOf } from './stream-parts.ts';

const lastKinds: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled']);

/** Stored events that are read at once. */
const pageEvents = 200;

/** `lookMs`: how often it is looked whether a run has ended without a word. */
type RunSources = StreamSources & { readonly lookMs: number };

/**
 * The events of one run by their `seq` (09 §7): what is stored, then what happens, until the run ends or the client goes.
 * @throws RuntimeError not_found, invalid_parameter
 */
export async function streamRun({ client, operations, open, lookMs }: RunSources, call: Call): Promise<void> {
  onlyParameters(call, 'after');
  const wanted = startOf(call) ?? 0;
  const run = await operations.getRun({ id: call.params['id'] ?? '' });
  // Where nothing is left of a run, nobody knows what its last one was.
  let after = run.last_seq === 0 ? wanted : Math.min(wanted, run.last_seq);
  const frames = open(call);
  if (run.last_seq === 0 && run.ended_at !== null) frames.send(gap(after + 1, null));
  after = await sendStored(frames, operations, run, after, call.signal());
  // A watch ends where the run rests; whoever watches here waits until it goes on.
  while (frames.isOpen() && !call.signal().aborted) {
    const over = await overBehind(operations, run.id, after);
    if (over !== null) {
      frames.end('end', { status: over });
      return;
    }
    const silent = new AbortController();
    const signal = AbortSignal.any([call.signal(), silent.signal]);
    const looks = setInterval(() => {
      overBehind(operations, run.id, after).then(
        (status) => status !== null && silent.abort(),
        // What cannot be read now is looked for again.
        () => undefined,
      );
    }, lookMs);
    try {
      for await (const batch of client.watch({ run_id: run.id, after, signal })) {
        const last = sendBatch(frames, batch, after);
        after = Math.max(after, ...batch.map(({ seq }) => seq));
        if (last !== undefined) {
          const { status } = await operations.getRun({ id: run.id });
          frames.end('end', { status });
          return;
        }
        if (!frames.isOpen()) return;
      }
    } finally {
      clearInterval(looks);
    }
  }
  endWith(frames, call);
}

/**
 * Sends what is stored of a run as fast as it is taken: a run of thousands of calls is more than is kept for a slow client,
 * and its reader would seem to lose the connection again and again.
 * @returns the number of the last event that was sent
 */
async function sendStored(
  frames: Frames,
  operations: RouteClient,
  { id, last_seq }: { readonly id: string; readonly last_seq: number },
  after: number,
  signal: AbortSignal,
): Promise<number> {
  let sent = after;
  while (sent < last_seq) {
    const { items } = await operations.pageRunEvents({ id, after: sent, limit: pageEvents });
    if (items.length === 0) break;
    // They are events as they were written; the table of operations only says more loosely what these are.
    for (const event of items as readonly RunEvent[]) {
      if (!(await frames.room(signal))) return sent;
      sendBatch(frames, [event], sent);
      sent = event.seq;
    }
  }
  return sent;
}

/**
 * The status of a run that has ended and tells nothing more: its last events were pruned, or it had been interrupted and made
 * room for the next turn of its session, which is no event; `removed` for one that is not there any more. Null for any other.
 */
async function overBehind(operations: RouteClient, id: string, after: number): Promise<string | null> {
  try {
    const { status, ended_at } = await operations.getRun({ id });
    if (ended_at === null) return null;
    const { items } = await operations.pageRunEvents({ id, after, limit: 1 });
    return items.length === 0 ? status : null;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'not_found') return 'removed';
    throw error;
  }
}

/**
 * Stored events are numbered without gaps: where one is missing in front of another it was pruned, which is said.
 * @param after the last one that was sent
 * @returns the event that ends the run, where it is among them
 */
function sendBatch(frames: Frames, batch: readonly RunEvent[], after: number): RunEvent | undefined {
  let sent = after;
  for (const event of batch) {
    const text = textOf(event);
    if (isEphemeral(event.kind)) {
      frames.mayLose(text);
      continue;
    }
    if (event.seq > sent + 1 && !frames.send(gap(sent + 1, event.seq - 1))) return undefined;
    sent = Math.max(sent, event.seq);
    if (!frames.send(text)) return undefined;
  }
  return batch.find(({ kind }) => lastKinds.has(kind));
}

/** Every watcher of a run is handed the same object: it is written once for all of them. */
const texts = new WeakMap<RunEvent, string>();
function textOf(event: RunEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = frame(event.kind, event.seq === 0 ? null : event.seq, JSON.stringify(event));
  texts.set(event, text);
  return text;
}
