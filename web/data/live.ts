import type { FeedEntry, FeedKind } from '../../src/schema/feed.ts';
import { topics } from '../../src/schema/feed.ts';
import { client } from './client.ts';

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

/** Follows the feed of all runs, over as many connections as it takes, until the signal aborts. */
export async function followFeed(signal: AbortSignal): Promise<void> {
  for await (const entries of client.watchFeed({ after: null, signal })) {
    for (const listener of [...listeners]) listener(entries);
  }
}
