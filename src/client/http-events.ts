import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { RuntimeError } from '../schema/errors.ts';
import type { RunEvent } from '../schema/event.ts';
import type { FeedEntry } from '../schema/feed.ts';
import { pause } from '../text/pause.ts';
import { refusalOf } from './http-refusal.ts';
import type { WatchInput } from './operations.ts';

export type EventSourceDeps = {
  /** `http://127.0.0.1:8787`; empty = where the page came from. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  /** What every request carries: a credential, where no cookie does. Asked for at each request. */
  readonly headers: () => Readonly<Record<string, string>>;
  /**
   * Told when a stream is lost and after how many milliseconds it is tried again, when it is there again, and when nobody
   * wants it any more. `stream` is the same object over all of its connections.
   */
  readonly connection?: (state: 'open' | 'lost' | 'over', retryInMs: number, stream: object) => void;
  /** After how many milliseconds without a word a stream counts as lost. Absent: 40 s. */
  readonly silentMs?: number;
};

/** `asleep`: wakes the streams of one client that wait to connect again: where one is there again, the server is. */
export type Streams = EventSourceDeps & { readonly asleep: Set<() => void> };

const closes: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled', 'chain_suspended']);
/** Waits between attempts to connect again: the first after this, doubling up to the last. */
const firstWaitMs = 250;
const lastWaitMs = 8_000;
/**
 * A server says something every 15 s (09 §7.3). Who has heard nothing for so long has no connection any more, though
 * nobody said so: the machine slept, or something on the way has let go of it.
 */
const standardSilentMs = 40_000;
/**
 * How long the first word of a stream may take. It comes at once, unless the browser has asked for the stream on another
 * old connection, which may be as dead as the one before.
 */
const beginsMs = 10_000;

/** As `watch` in the server's own process; a connection that is lost is made again behind the last stored event. */
export async function* watchRunOver(
  deps: Streams,
  { run_id, after, signal }: WatchInput,
): AsyncGenerator<readonly RunEvent[]> {
  const path = `/api/runs/${encodeURIComponent(run_id)}/events`;
  for await (const messages of follow(deps, path, after, signal)) {
    const events = messages.flatMap(({ event, data }) =>
      event === undefined || frames.has(event) ? [] : [JSON.parse(data) as RunEvent],
    );
    if (events.length > 0) yield events;
    if (messages.some(endsRun) || events.some(({ kind }) => closes.has(kind))) return;
  }
}

/** The stream of a run ends with it. One that was closed with the login that had opened it says nothing of the run. */
const endsRun = ({ event, data }: Pick<EventSourceMessage, 'event' | 'data'>): boolean =>
  event === 'end' && Reflect.get(Object(JSON.parse(data)), 'status') !== 'closed';

export type FeedInput = {
  /** null = from now on. */
  readonly after: number | null;
  readonly signal: AbortSignal;
  /** Told at each connection behind which entry it goes on: nothing that comes then is missed. */
  readonly begun?: (cursor: number) => void;
  /** Told when entries behind the last one were pruned before they could be told. */
  readonly missed?: () => void;
};

/** As `watchFeed` in the server's own process. */
export async function* watchFeedOver(
  deps: Streams,
  { after, signal, begun, missed }: FeedInput,
): AsyncGenerator<readonly FeedEntry[]> {
  for await (const messages of follow(deps, '/api/events', after, signal)) {
    const hello = messages.find(({ event }) => event === 'hello');
    if (hello !== undefined) begun?.(helloCursor(hello));
    if (messages.some(({ event }) => event === 'gap')) missed?.();
    const entries = messages.flatMap(({ event, data }) =>
      event === undefined || frames.has(event) ? [] : [JSON.parse(data) as FeedEntry],
    );
    if (entries.length > 0) yield entries;
  }
}

/** What a stream says of itself, and no event is (09 §7.4). */
const frames: ReadonlySet<string> = new Set(['hello', 'end', 'gap', 'overflow', 'server-stop']);

const helloCursor = ({ data }: Pick<EventSourceMessage, 'data'>): number =>
  Number(Reflect.get(Object(JSON.parse(data)), 'cursor'));

/** Messages of a stream in the pieces in which they arrive, over as many connections as it takes. */
async function* follow(
  deps: Streams,
  path: string,
  after: number | null,
  signal: AbortSignal,
): AsyncGenerator<readonly EventSourceMessage[]> {
  const stream = {};
  const opened = (): void => {
    deps.connection?.('open', 0, stream);
    for (const wake of [...deps.asleep]) wake();
  };
  let seen = after;
  let wait = firstWaitMs;
  try {
    while (!signal.aborted) {
      let isBusy = false;
      let wasSlow = false;
      try {
        for await (const messages of connect(deps, path, seen, signal, opened)) {
          wait = firstWaitMs;
          for (const { id, event, data } of messages) {
            if (id !== undefined) seen = Math.max(seen ?? 0, Number(id));
            // Where "from now on" is, for the connection after this one.
            else if (event === 'hello') seen ??= helloCursor({ data });
            // The server ends it for who reads slowly, to be read on from here: nothing is lost, and nobody is away.
            else if (event === 'overflow') wasSlow = true;
          }
          yield messages;
        }
      } catch (error) {
        // A refusal is final; a line that broke, and a server that is not there or has too much to do just now, are not.
        const said = (name: string): number =>
          error instanceof RuntimeError ? Number(Reflect.get(Object(error.data), name)) : Number.NaN;
        isBusy = said('status') === 429;
        if (said('status') < 500 && !isBusy) throw error;
        if (isBusy) wait = Math.max(wait, said('retryAfterS') * 1000);
      }
      if (signal.aborted) return;
      if (wasSlow) continue;
      deps.connection?.('lost', wait, stream);
      await (isBusy ? pause(wait, signal) : sleep(deps, wait, signal));
      wait = Math.min(wait * 2, lastWaitMs);
    }
  } finally {
    deps.connection?.('over', 0, stream);
  }
}

/**
 * Waits so many milliseconds, or until another stream has found the server there, but for the shortest wait: streams that
 * are ended as soon as they begin would wake each other without a pause.
 */
async function sleep({ asleep }: Streams, ms: number, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const woken = new AbortController();
  const wake = () => woken.abort();
  asleep.add(wake);
  try {
    await pause(ms, AbortSignal.any([signal, woken.signal]));
  } finally {
    asleep.delete(wake);
  }
  await pause(began + Math.min(ms, firstWaitMs) - performance.now(), signal);
}

async function* connect(
  deps: Streams,
  path: string,
  after: number | null,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<readonly EventSourceMessage[]> {
  const from = after === null ? {} : { 'last-event-id': String(after) };
  const { silentMs = standardSilentMs } = deps;
  const silent = new AbortController();
  /** Time runs only while the server is waited for, and not while what has come is being used. */
  const heard = async <T>(awaited: Promise<T>, within: number): Promise<T> => {
    const timer = setTimeout(() => silent.abort(), within);
    try {
      return await awaited;
    } finally {
      clearTimeout(timer);
    }
  };
  const response = await heard(
    deps.fetch(`${deps.base}${path}`, {
      headers: { ...deps.headers(), accept: 'text/event-stream', ...from },
      signal: AbortSignal.any([signal, silent.signal]),
    }),
    Math.min(silentMs, beginsMs),
  );
  if (!response.ok) throw await refusalOf(response);
  if (response.body === null) return;
  opened();
  let arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => arrived.push(message) });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await heard(reader.read(), silentMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (arrived.length === 0) continue;
      yield arrived;
      arrived = [];
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
