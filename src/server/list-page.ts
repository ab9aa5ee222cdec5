import { createHash } from 'node:crypto';
import { cursorOf, foreignCursor, keyOfCursor, type Page } from '../schema/page.ts';
import { refuse } from './error-body.ts';

/** Query parameters of every list that is made whole and then cut into pages (09 §5.3). */
export const listParameters: readonly string[] = ['limit', 'cursor'];

/**
 * The page of a whole list that a request wants; without `limit` all of it, because such lists are short.
 * @throws RuntimeError invalid_parameter
 */
export function pageOfList<T>(all: readonly T[], query: URLSearchParams, path: string): Page<T> {
  for (const name of listParameters) {
    if (query.getAll(name).length > 1) throw refuse('invalid_parameter', `${name} is given twice.`, { param: name });
  }
  const cursor = query.get('cursor');
  const [start = 0] = keyOfCursor(cursor === null ? undefined : cursorOfList(path, cursor), ['number']) ?? [];
  if (!Number.isInteger(start) || Number(start) < 0) throw foreignCursor();
  const given = query.get('limit');
  const limit = given === null ? all.length : Number(/^\d{1,4}$/.test(given) ? given : Number.NaN);
  if (given !== null && !(limit >= 1 && limit <= 1000)) {
    throw refuse('invalid_parameter', 'A page has 1 to 1000 items.', { param: 'limit' });
  }
  const end = Number(start) + limit;
  const next = end < all.length ? markedCursor(path, cursorOf([end])) : null;
  return { items: all.slice(Number(start), end), next_cursor: next };
}

/** A cursor tells which list it is of: in another one it would name a place by accident. */
const markOf = (path: string): string => createHash('sha256').update(path).digest('base64url').slice(0, 4);

/** @param path of the route, as the table has it */
export const markedCursor = (path: string, cursor: string): string => `${markOf(path)}${cursor}`;

/** The list's own cursor in one that a client sends back. @throws RuntimeError invalid_parameter */
export function cursorOfList(path: string, cursor: string): string {
  const mark = markOf(path);
  if (cursor.startsWith(mark) && cursor.length > mark.length) return cursor.slice(mark.length);
  throw foreignCursor();
}
