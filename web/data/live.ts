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

/** A page is not kept longer from what it reads by a feed that does not come… */
const beginsMs = 300;
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

/** Follows the feed of all runs, together with the other tabs, until the signal aborts. */
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
    await followTogether(signal, { begun, heard });
  } finally {
    begun();
  }
}
