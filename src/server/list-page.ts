import { cursorOf, keyOfCursor, type Page } from '../schema/page.ts';
import { refuse } from './error-body.ts';

/** Members of the query of every list (09 §5.3) that is there whole. */
export const listParameters: readonly string[] = ['limit', 'cursor'];

/**
 * The page of a whole list that a request wants; without `limit` all of it, because such lists are short.
 * @throws RuntimeError invalid_parameter
 */
export function pageOfList<T>(all: readonly T[], query: URLSearchParams): Page<T> {
  const [from = 0] = keyOfCursor(query.get('cursor') ?? undefined, 1) ?? [];
  const given = query.get('limit');
  const limit = given === null ? all.length : Number(/^\d{1,4}$/.test(given) ? given : Number.NaN);
  if (given !== null && !(limit >= 1 && limit <= 1000)) {
    throw refuse('invalid_parameter', 'A page has 1 to 1000 items.', { param: 'limit' });
  }
  const start = Number(from);
  const end = start + limit;
  return { items: all.slice(start, end), next_cursor: end < all.length ? cursorOf([end]) : null };
}
