import type { FeedEntry, FeedKind } from '../../src/schema/feed.ts';
import { topics } from '../../src/schema/feed.ts';
import { followTogether } from './follow-together.ts';
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

const heard: Listener = (entries) => {
  for (const listener of [...listeners]) listener(entries);
};

/**
 * How often it became known from when on the feed tells what happens: when it begins, and where it has a gap. What was
 * read before is read again: nobody tells what changed in between.
 */
export const beginnings = createStore(0);

/** Follows the feed of all runs, together with the other tabs, until the signal aborts. */
export async function followFeed(signal: AbortSignal): Promise<void> {
  let isBegun = false;
  const anew = () => beginnings.set(beginnings.get() + 1);
  await followTogether(signal, {
    begun() {
      if (!isBegun) anew();
      isBegun = true;
    },
    missed: anew,
    heard,
  });
}
