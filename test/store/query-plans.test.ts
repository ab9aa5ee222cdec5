import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAsks } from '../../src/store/asks.ts';
import { createCalls } from '../../src/store/calls.ts';
import { createFeedEntries } from '../../src/store/feed-entries.ts';
import { createRemembered } from '../../src/store/remembered.ts';
import { createShortIds } from '../../src/store/short-ids.ts';
import type { Sql, SqlValue } from '../../src/store/sql.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

/** How rows are found that are asked for often: none of these reads through its table, or sorts more than it shows. */

let temp: TempHome;
let store: OpenedStore;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
});
afterEach(() => {
  store.close();
  temp.remove();
});

/** What SQLite means to do for the statements that `use` makes. */
function plansOf(use: (sql: Sql) => unknown): string[] {
  const plans: string[] = [];
  const explained =
    <T>(read: (text: string, ...params: readonly SqlValue[]) => T) =>
    (text: string, ...params: readonly SqlValue[]): T => {
      const steps = store.sql.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...params);
      plans.push(...steps.map(({ detail }) => detail).filter((detail) => !/SUBQUERY|sessions|BLOOM/.test(detail)));
      return read(text, ...params);
    };
  // The statements give rows of the types that their callers name.
  use({ ...store.sql, get: explained(store.sql.get) as Sql['get'], all: explained(store.sql.all) as Sql['all'] });
  return plans;
}

const all = { kind: null, session_id: null, mission_id: null, by: null, limit: 50 } as const;
const asksOf = (use: (asks: ReturnType<typeof createAsks>) => unknown) =>
  plansOf((sql) => use(createAsks(sql, tenant)));

describe('the rows of', () => {
  test('the open asks come in order of their deadlines', () => {
    expect(asksOf((asks) => asks.list({ ...all, state: 'pending' }))).toEqual([
      'SEARCH asks USING COVERING INDEX asks_state (tenant_id=? AND state=?)',
      'SEARCH asks USING INDEX asks_deadline (state=?)',
      'SEARCH plans USING INDEX sqlite_autoindex_plans_1 (id=?)',
      'USE TEMP B-TREE FOR LAST TERM OF ORDER BY',
    ]);
  });

  test('the asks whose deadline has passed are those that the sweep looks at', () => {
    expect(asksOf((asks) => asks.due(1))).toEqual([
      'SEARCH asks USING INDEX asks_deadline (state=? AND expires_at<?)',
      'SEARCH plans USING INDEX sqlite_autoindex_plans_1 (id=?)',
    ]);
  });

  test('a short id are found among the ids alone', () => {
    const found = ['asks', 'runs'].map((table) => [
      `SEARCH ${table} USING INDEX sqlite_autoindex_${table}_1 (id=?)`,
      `SCAN ${table} USING COVERING INDEX sqlite_autoindex_${table}_1`,
    ]);
    const [asks = [], runs = []] = found;
    expect(asksOf((rows) => rows.candidates('abcdef'))).toEqual(asks);
    const given = 'SCAN json_each VIRTUAL TABLE INDEX 1:';
    expect(plansOf((sql) => createShortIds(sql, tenant)(['ask_abcdefgh', 'run_abcdefgh']))).toEqual([
      ...[...asks, given],
      ...[...runs, given],
    ]);
  });

  test('a run, a mission and a call have indexes of their own', () => {
    expect(asksOf((asks) => asks.pendingOfRun('r'))).toEqual(['SEARCH asks USING INDEX asks_run (run_id=?)']);
    expect(asksOf((asks) => asks.agentVerdicts('m', 'permission'))).toEqual([
      'SEARCH given USING INDEX asks_mission (mission_id=?)',
    ]);
    expect(asksOf((asks) => asks.askedBefore('r', 'h', 'c'))).toEqual([
      'SEARCH tool_calls USING INDEX tool_calls_hash (call_hash=?)',
    ]);
    const place = { session_id: 's', run_id: null };
    expect(plansOf((sql) => createRemembered(sql).askOf(place, 'h', 'p'))).toEqual([
      'SEARCH remembered USING INDEX remembered_call (call_hash=?)',
    ]);
  });

  test('the running calls are looked up by the runs that are driven, at every start', () => {
    expect(plansOf((sql) => createCalls(sql).running())).toEqual([
      'SCAN s',
      'SEARCH c USING INDEX tool_calls_state (run_id=? AND state=?)',
    ]);
  });

  test('the ends of the feed are two steps into the events', () => {
    expect(plansOf((sql) => createFeedEntries(sql, tenant).range())).toEqual([
      'SCAN CONSTANT ROW',
      'SEARCH events',
      'SCAN sqlite_sequence',
      'SEARCH events',
    ]);
  });
});
