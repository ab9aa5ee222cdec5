import type { IncomingHttpHeaders } from 'node:http';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { everyAsk } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import { isEphemeral, type RunEvent } from '../schema/event.ts';
import { type FeedEntry, type FeedKind, topics } from '../schema/feed.ts';
import { principalKey } from '../schema/login.ts';
import { refuse } from './error-body.ts';
import { createFrames, type Frames, frame } from './frames.ts';
import type { Call, Reply, Route } from './route.ts';

export type StreamDeps = {
  readonly client: RuntimeClient;
  readonly operations: RouteClient;
  /** Routes of the table. That of a run's events answers requests that do not ask for a stream. */
  readonly routes: readonly Route[];
  readonly limits?: StreamLimits | undefined;
};

/** How many streams of one login session, and of all (09 §7.4). */
export type StreamLimits = {
  readonly perCredential: number;
  readonly all: number;
  /** How long a stream is silent at most. */
  readonly heartbeatMs: number;
};
const standardLimits: StreamLimits = { perCredential: 16, all: 64, heartbeatMs: 15_000 };

/** The event streams (09 §7): of a run by its `seq`, and of all runs by the cursor of the feed. */
export function streamRoutes(deps: StreamDeps): readonly Route[] {
  const { client, operations } = deps;
  const limits = deps.limits ?? standardLimits;
  const counted = countStreams(limits);
  const open = (call: Call): Frames => createFrames(call.response, limits.heartbeatMs);
  const runEvents = deps.routes.find(({ method, path }) => method === 'GET' && path === '/api/runs/{id}/events');
  if (runEvents === undefined) throw new TypeError('the table has no events of a run');
  return [
    {
      ...runEvents,
      streams: true,
      handle: (call) =>
        wantsStream(call)
          ? counted(call, () => streamRun({ client, operations, open, lookMs: limits.heartbeatMs }, call))
          : runEvents.handle(call),
    },
    {
      method: 'GET',
      path: '/api/events',
      access: 'any',
      streams: true,
      handle: (call) => counted(call, () => streamFeed({ client, operations, open }, call)),
    },
  ];
}

/** A request that names the last event it got wants a stream, even if a proxy has dropped its `Accept` header. */
function wantsStream({ request: { headers } }: Call): boolean {
  const accepts = headers.accept ?? '';
  if (accepts.includes('text/event-stream')) return true;
  return headers['last-event-id'] !== undefined && !accepts.includes('application/json');
}

/** Bounds how many streams are open. */
function countStreams({ perCredential, all }: StreamLimits) {
  const open = new Map<string, number>();
  let total = 0;
  return async (call: Call, serve: () => Promise<void>): Promise<Reply> => {
    const { principal } = call;
    const key = principal === null ? '' : principalKey(principal);
    const own = open.get(key) ?? 0;
    if (total >= all || (principal?.kind === 'session' && own >= perCredential)) {
      throw refuse('busy', 'Too many event streams are open.', { retryAfterS: 5 });
    }
    total += 1;
    open.set(key, own + 1);
    try {
      await serve();
    } finally {
      total -= 1;
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    }
    return 'written';
  };
}

/** Where a stream begins: `Last-Event-ID`, or `after` in the query; null when nothing is said. */
function startOf(call: Call): number | null {
  const header: IncomingHttpHeaders[string] = call.request.headers['last-event-id'];
  const given = header ?? call.query.get('after');
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw refuse('invalid_parameter', 'The number of an event is a whole number.', {
    param: header === undefined ? 'after' : 'Last-Event-ID',
  });
}

function onlyParameters(call: Call, ...names: readonly string[]): void {
  for (const name of call.query.keys()) {
    if (!names.includes(name))
      throw refuse('invalid_parameter', `There is no parameter ${name} here.`, { param: name });
  }
}

const lastKinds: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled']);

/** Stored events that are read at once. */
const pageEvents = 200;

type Sources = Pick<StreamDeps, 'client' | 'operations'> & { readonly open: (call: Call) => Frames };
/** `lookMs`: how often it is looked whether a run has ended without a word. */
type RunSources = Sources & { readonly lookMs: number };

async function streamRun({ client, operations, open, lookMs }: RunSources, call: Call): Promise<void> {
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

/** @param to null = to the end */
const gap = (from: number, to: number | null): string => frame('gap', null, JSON.stringify({ from, to }));

/** Every watcher of a run is handed the same object: it is written once for all of them. */
const texts = new WeakMap<RunEvent, string>();
function textOf(event: RunEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = frame(event.kind, event.seq === 0 ? null : event.seq, JSON.stringify(event));
  texts.set(event, text);
  return text;
}

function endWith(frames: Frames, { signal }: Call): void {
  if (signal().reason === 'stop') frames.end('server-stop', {});
  else frames.end('end', { status: 'closed' });
}

async function streamFeed({ client, open }: Sources, call: Call): Promise<void> {
  onlyParameters(call, 'after', 'topics');
  const kinds = kindsOf(call.query.get('topics'));
  const wanted = startOf(call);
  const range = await client.feedRange({});
  const after = Math.min(wanted ?? range.newest, range.newest);
  const asks = await client.listAsks({ ...everyAsk, state: 'pending', limit: 1 });
  let running = 0;
  for (const status of ['running', 'waiting', 'queued']) {
    running += (await client.listRuns({ status, session: null, limit: 1 })).total;
  }
  const frames = open(call);
  frames.send(frame('hello', null, JSON.stringify({ pending_asks: asks.total, active_runs: running, cursor: after })));
  if (wanted !== null && after + 1 < range.oldest) {
    frames.send(gap(after + 1, range.oldest - 1));
  }
  for await (const batch of client.watchFeed({ after, signal: call.signal() })) {
    for (const entry of batch) {
      if (kinds.has(entry.kind) && !frames.send(entryText(entry))) return;
    }
    // The next ones are read when they are wanted.
    if (!(await frames.room(call.signal()))) break;
  }
  endWith(frames, call);
}

const entryText = (entry: FeedEntry): string => frame(entry.kind, entry.cursor, JSON.stringify(entry));

/** The kinds of the topics that are wanted; all of them when none is named. @throws RuntimeError invalid_parameter */
function kindsOf(wanted: string | null): ReadonlySet<FeedKind> {
  const names = wanted === null ? Object.keys(topics) : wanted.split(',').map((name) => name.trim());
  return new Set(
    names.flatMap((name) => {
      if (Object.hasOwn(topics, name)) return topics[name as keyof typeof topics];
      throw refuse('invalid_parameter', `The topics are ${Object.keys(topics).join(', ')}.`, { param: 'topics' });
    }),
  );
}
