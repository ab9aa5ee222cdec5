import type { FeedEntry, FeedKind } from '../../src/schema/feed.ts';
import { topics } from '../../src/schema/feed.ts';
import { type Connection, client, connection } from './client.ts';
import { createStore } from './store.ts';

export type Topic = keyof typeof topics;
type Listener = (entries: readonly FeedEntry[]) => void;

const listeners = new Set<Listener>();

/** Calls back with what has happened anywhere, in the pieces in which it arrives. @returns how to stop */
export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const kindsOf = (names: readonly Topic[]): ReadonlySet<FeedKind> =>
  new Set(names.flatMap((name) => topics[name] as readonly FeedKind[]));

/** `cursor`: how far the tab that reads has come; null = it is asked. */
type Told =
  | { readonly entries: readonly FeedEntry[] }
  | { readonly line: Connection }
  | { readonly cursor: number | null };

/** A page is not kept longer from what it reads by a feed that does not come… */
const beginsMs = 1000;
/** …and reads again when it comes at last. How often that was. */
export const lateBeginnings = createStore(0);

const pending = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((begun) => {
    resolve = begun;
  });
  return { promise, resolve };
};
let beginning = pending();

/** Reads behind the moment from which the feed tells what happens: what changed in between would be told by nobody. */
export async function behindFeed<T>(read: () => Promise<T>): Promise<T> {
  await beginning.promise;
  return read();
}

/**
 * Follows the feed of all runs, over as many connections as it takes, until the signal aborts. A browser has six
 * connections to a server: of all tabs one reads, and tells the others; when it closes, another goes on behind it.
 */
export async function followFeed(signal: AbortSignal): Promise<void> {
  const { resolve } = beginning;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve();
  }, beginsMs);
  const begun = () => {
    clearTimeout(timer);
    resolve();
    if (isLate) lateBeginnings.set(lateBeginnings.get() + 1);
    isLate = false;
  };
  // Whoever follows next begins anew, even before this one has come to its end.
  signal.addEventListener('abort', () => {
    beginning = pending();
  });
  try {
    await followTogether(signal, begun);
  } finally {
    begun();
  }
}

async function followTogether(signal: AbortSignal, begun: () => void): Promise<void> {
  let after: number | null = null;
  const heard = (entries: readonly FeedEntry[]) => {
    after = Math.max(after ?? 0, ...entries.map(({ cursor }) => cursor));
    for (const listener of [...listeners]) listener(entries);
  };
  const read = async (tell: (told: Told) => void) => {
    const stands = (cursor: number) => {
      after ??= cursor;
      begun();
      tell({ cursor: after });
    };
    for await (const entries of client.watchFeed({ after, signal, begun: stands })) {
      heard(entries);
      tell({ entries });
    }
  };
  // Both are missing where the page has come over plain HTTP from another machine.
  if (navigator.locks === undefined) return read(() => undefined);
  let reads = false;
  const others = new BroadcastChannel('reins feed');
  const tell = (told: Told) => others.postMessage(told);
  others.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('entries' in data) heard(data.entries);
    else if ('line' in data) connection.set(data.line);
    else if (data.cursor === null) {
      if (reads && after !== null) tell({ cursor: after });
    } else {
      after ??= data.cursor;
      begun();
    }
  };
  signal.addEventListener('abort', () => others.close(), { once: true });
  // Another tab that reads answers with where it stands, and tells what comes from then on.
  tell({ cursor: null });
  await navigator.locks.request('reins feed', { signal }, async () => {
    reads = true;
    const stop = connection.subscribe(() => tell({ line: connection.get() }));
    try {
      await read(tell);
    } finally {
      reads = false;
      stop();
    }
  });
}
