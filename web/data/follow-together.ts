import type { FeedEntry } from '../../src/schema/feed.ts';
import { type Connection, client, connection, heardElsewhere } from './client.ts';

/** `cursor`: how far the tab that reads has come; null = it is asked. */
type Told =
  | { readonly entries: readonly FeedEntry[] }
  | { readonly line: Connection }
  | { readonly missed: true }
  | { readonly cursor: number | null };

type Following = {
  /** It is known where the feed stands: what happens from now on is heard. May be called again. */
  readonly begun: () => void;
  /** Entries that nobody has heard are not there any more. */
  readonly missed: () => void;
  readonly heard: (entries: readonly FeedEntry[]) => void;
};

/**
 * Follows the feed of all runs, over as many connections as it takes, until the signal aborts. A browser has six
 * connections to a server: of all tabs one reads, and tells the others; when it closes, another goes on behind it.
 */
export async function followTogether(signal: AbortSignal, following: Following): Promise<void> {
  const { begun, missed } = following;
  let after: number | null = null;
  const heard = (entries: readonly FeedEntry[]) => {
    after = Math.max(after ?? 0, ...entries.map(({ cursor }) => cursor));
    following.heard(entries);
  };
  const read = async (tell: (told: Told) => void) => {
    const stands = (cursor: number) => {
      after ??= cursor;
      begun();
      tell({ cursor: after });
      // What the tab before this one has said of its line holds no more, here and in the others.
      heardElsewhere({ state: 'open' });
      tell({ line: connection.get() });
    };
    const lacks = () => {
      missed();
      tell({ missed: true });
    };
    for await (const entries of client.watchFeed({ after, signal, begun: stands, missed: lacks })) {
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
    else if ('line' in data) heardElsewhere(data.line);
    else if ('missed' in data) missed();
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
