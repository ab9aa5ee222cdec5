import type { Sql } from './sql.ts';

/** Words of deleted messages stay in the index until its parts are merged, so they are merged at once. */
export const mergeSearchIndex = (sql: Sql): void => {
  sql.run(`INSERT INTO message_search (message_search) VALUES ('optimize')`);
};
