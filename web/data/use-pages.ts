import { useEffect, useState } from 'react';
import { isReturning } from './places.ts';
import { type Data, type LiveOptions, useData } from './use-data.ts';

/** What one request for a part of a list says (09 §5.3). */
type Wanted = { readonly limit: number; readonly cursor: string | undefined };
type Answer<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

/** What is known of a list, from its beginning. */
export type Pages<T> = {
  readonly items: readonly T[];
  /** There are others behind these. */
  readonly more: boolean;
};

export type PagedData<T> = Data<Pages<T>> & {
  /** Reads one page more. What is shown stays until it is there. */
  readonly readMore: () => void;
  /** That page is on its way. */
  readonly reading: boolean;
};

/** How many pages of a list were wanted when it was left. */
const left = new Map<string, number>();

/** A server answers with at most so many items at once. */
const mostAtOnce = 1000;

/**
 * A long list, read page by page as somebody wants more of it, and kept fresh as a whole.
 * @param key another one begins anew, with one page
 * @param size items of a page
 */
export function usePages<T>(
  key: string,
  size: number,
  read: (wanted: Wanted) => Promise<Answer<T>>,
  live: LiveOptions = {},
): PagedData<T> {
  const [wanted, want] = useState(() => ({ key, pages: isReturning() ? (left.get(key) ?? 1) : 1 }));
  const pages = wanted.key === key ? wanted.pages : 1;
  const data = useData(
    key,
    async () => {
      const items: T[] = [];
      let cursor: string | undefined;
      do {
        const limit = Math.min(mostAtOnce, pages * size - items.length);
        const answer = await read({ limit, cursor });
        items.push(...answer.items);
        cursor = answer.next_cursor ?? undefined;
      } while (cursor !== undefined && items.length < pages * size);
      return { items, more: cursor !== undefined, pages };
    },
    live,
  );
  const { reload, value, error } = data;
  useEffect(() => {
    left.set(key, pages);
    if (pages > 1) reload();
  }, [key, pages, reload]);
  return {
    ...data,
    readMore: () => want({ key, pages: pages + 1 }),
    reading: error === null && value !== null && value.pages < pages,
  };
}
