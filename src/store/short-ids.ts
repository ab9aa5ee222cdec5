import type { Sql } from './sql.ts';

/** Tables of the kinds that people name by id. */
const tables: ReadonlyMap<string, string> = new Map([
  ['ask', 'asks'],
  ['run', 'runs'],
]);

/** The ending of a whole id: the random part tells more than the time in front (06 §2.4.6). */
const least = 6;

/**
 * Ids as a terminal shows them: the kind and the shortest ending of at least six characters that no other stored id of
 * that kind has. An id of another kind stays as it is.
 */
export function createShortIds(sql: Sql, tenant: string) {
  /** Read from the index of ids: the rows are a hundred times as long. The `+` keeps SQLite from another index. */
  const rivals = (table: string, kind: string, ids: readonly string[]): readonly string[] =>
    sql
      .all<{ id: string }>(
        `SELECT id FROM ${table} WHERE +tenant_id = ? AND id IN (
           SELECT id FROM ${table} WHERE substr(id, ?) IN (SELECT substr(value, ?) FROM json_each(?)))`,
        tenant,
        -least,
        -least,
        JSON.stringify(ids),
      )
      .map(({ id }) => id.slice(kind.length + 1));

  return (ids: readonly string[]): string[] => {
    const others = new Map(
      [...tables].map(([kind, table]) => {
        const own = ids.filter((id) => id.startsWith(`${kind}_`));
        return [kind, own.length === 0 ? [] : rivals(table, kind, own)];
      }),
    );
    return ids.map((id) => {
      const kind = id.slice(0, id.indexOf('_'));
      const known = others.get(kind);
      return known === undefined ? id : `${kind}_${shortestEnding(id.slice(kind.length + 1), known)}`;
    });
  };
}

function shortestEnding(body: string, known: readonly string[]): string {
  for (let length = least; length < body.length; length += 1) {
    const ending = body.slice(-length);
    if (known.filter((other) => other.endsWith(ending)).length <= 1) return ending;
  }
  return body;
}
