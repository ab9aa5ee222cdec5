import type { FeedEntry, FeedKind } from '../../src/schema/feed.ts';
import { topics } from '../../src/schema/feed.ts';
import { type Connection, client, connection } from './client.ts';

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

type Told = { readonly entries: readonly FeedEntry[] } | { readonly line: Connection };

/**
 * Follows the feed of all runs, over as many connections as it takes, until the signal aborts. A browser has six
 * connections to a server: of all tabs one reads, and tells the others; when it closes, another goes on behind it.
 */
export async function followFeed(signal: AbortSignal): Promise<void> {
  let after: number | null = null;
  const heard = (entries: readonly FeedEntry[]) => {
    after = Math.max(after ?? 0, ...entries.map(({ cursor }) => cursor));
    for (const listener of [...listeners]) listener(entries);
  };
  const read = async (tell: (told: Told) => void) => {
    for await (const entries of client.watchFeed({ after, signal })) {
      heard(entries);
      tell({ entries });
    }
  };
  // Both are missing where the page has come over plain HTTP from another machine.
  if (navigator.locks === undefined) return read(() => undefined);
  const others = new BroadcastChannel('reins feed');
  others.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('entries' in data) heard(data.entries);
    else connection.set(data.line);
  };
  signal.addEventListener('abort', () => others.close(), { once: true });
  await navigator.locks.request('reins feed', { signal }, async () => {
    const stop = connection.subscribe(() => others.postMessage({ line: connection.get() } satisfies Told));
    try {
      await read((told) => others.postMessage(told));
    } finally {
      stop();
    }
  });
}
