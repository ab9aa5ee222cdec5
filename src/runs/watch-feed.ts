import type { FeedEntry } from '../schema/feed.ts';
import type { Feed } from '../store/feed.ts';
import type { FeedEntries } from '../store/feed-entries.ts';

/** Entries of one batch. */
const page = 500;

/**
 * The feed across runs, ascending by cursor: stored entries behind `after`, then those of every process as they are
 * committed, none twice. Ends when the signal aborts. Following begins before the first look, so nothing is missed.
 */
export async function* watchFeed(
  feed: Feed,
  entries: FeedEntries,
  input: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly FeedEntry[]> {
  let changed = true;
  let wake = (): void => {};
  const stop = feed.follow(() => {
    changed = true;
    wake();
  });
  const onAbort = (): void => wake();
  input.signal.addEventListener('abort', onAbort);
  try {
    let cursor = input.after;
    while (!input.signal.aborted) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      changed = false;
      const { newest } = entries.range();
      for (;;) {
        const found = entries.between(cursor, newest, page);
        const last = found.at(-1);
        if (last === undefined || input.signal.aborted) break;
        cursor = last.cursor;
        yield found;
      }
      // What is of other kinds is not read again.
      cursor = Math.max(cursor, newest);
    }
  } finally {
    input.signal.removeEventListener('abort', onAbort);
    stop();
  }
}
