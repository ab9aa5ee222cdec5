import { RuntimeError } from './errors.ts';

/** A page of a listing (09 §5.3). */
export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

/** What a caller says about the page that it wants. */
export type PageWanted = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/** The sort key of an item: what stands first counts first, and the last part is unique. */
export type CursorKey = readonly (string | number)[];

const standard = 100;

export const pageSize = ({ limit }: PageWanted): number => limit ?? standard;

/** What each part of a key is. */
export type KeyShape = readonly ('string' | 'number')[];

/** The key behind which a page begins; null for the first one. @throws RuntimeError invalid_parameter */
export function keyOfCursor(cursor: string | undefined, shape: KeyShape): CursorKey | null {
  if (cursor === undefined) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(cursor)));
    if (Array.isArray(value) && value.length === shape.length && shape.every((kind, at) => isPart(value[at], kind)))
      return value;
  } catch {
    // Said below.
  }
  throw foreignCursor();
}

export const foreignCursor = (): RuntimeError =>
  new RuntimeError('invalid_parameter', 'The cursor is none that this server gave for this list.', {
    data: { param: 'cursor' },
  });

const isPart = (part: unknown, kind: KeyShape[number]): part is string | number =>
  kind === 'string' ? typeof part === 'string' : Number.isFinite(part);

/** What a page weighs at most as JSON (09 §2); its first item is there in any case. */
const mostLength = 8 * 1024 * 1024;

/** The first items, as many as a reply may hold. Each is written as JSON to be measured, so this is for long ones only. */
export function thatFit<T>(items: readonly T[]): readonly T[] {
  let length = 0;
  const over = items.findIndex((item) => {
    length += JSON.stringify(item).length;
    return length > mostLength;
  });
  return over === -1 ? items : items.slice(0, Math.max(1, over));
}

/** A page of rows that were read with one more than it holds. */
export function pageOf<R, T>(
  rows: readonly R[],
  wanted: PageWanted,
  keyOf: (row: R) => CursorKey,
  show: (row: R) => T,
): Page<T> {
  const size = pageSize(wanted);
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const more = rows.length > size && last !== undefined;
  return { items: shown.map(show), next_cursor: more ? cursorOf(keyOf(last)) : null };
}

/** A page of a list that is there whole, in its order. */
export function slicePage<T>(
  all: readonly T[],
  wanted: PageWanted,
  { shape, keyOf }: { readonly shape: KeyShape; keyOf(item: T): CursorKey },
  isBehind: (key: CursorKey, mark: CursorKey) => boolean,
): Page<T> {
  const mark = keyOfCursor(wanted.cursor, shape);
  const rest = mark === null ? all : all.filter((item) => isBehind(keyOf(item), mark));
  return pageOf(rest, wanted, keyOf, (item) => item);
}

/** Whether a key comes behind another, part by part. */
export function comesAfter(key: CursorKey, mark: CursorKey): boolean {
  for (const [index, part] of key.entries()) {
    const other = mark[index];
    if (other === undefined || typeof other !== typeof part) return false;
    if (part !== other) return part > other;
  }
  return false;
}

export const cursorOf = (key: CursorKey): string => {
  const binary = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(key)));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

const bytesOf = (cursor: string): Uint8Array =>
  Uint8Array.from(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
