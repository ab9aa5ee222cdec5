import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LiveRun } from '../../src/runs/live-run.ts';
import { createSlots } from '../../src/runs/slots.ts';
import { createEvents } from '../../src/store/events.ts';
import { createFeed } from '../../src/store/feed.ts';
import { createRuns } from '../../src/store/runs.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { databaseIn, openIn } from '../store/open.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let store: OpenedStore;
beforeEach(async () => {
  vi.useFakeTimers();
  temp = tempHome();
  store = await openIn(temp);
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
  temp.remove();
});

it('keeps the place of a run whose row is locked when its turn comes, and begins it when the lock is gone', async () => {
  const { sql } = store;
  const runs = createRuns(sql);
  const feed = createFeed({ sql, events: createEvents(sql), now: () => 0, mask: (value) => value });
  const slots = createSlots({ runs, feed, now: () => 0, most: () => 1 });
  const live = (id: string): LiveRun => {
    insertRun(sql, id);
    sql.run("UPDATE runs SET status = 'running' WHERE id = ?", id);
    runs.openState(id, 'me', 1, 0);
    const clock = { pause: () => {}, resume: () => {} };
    // What the turns of runs look at.
    return { gate: { ref: { run_id: id }, owner: 'me' }, clock, abort: new AbortController(), stopped: null } as never;
  };
  const status = () => sql.column("SELECT id || ' ' || status FROM runs ORDER BY id");
  const begun: string[] = [];
  await slots.enter(live('run_a'));
  const second = slots.enter(live('run_b')).then(() => begun.push('b'));
  expect(status()).toEqual(['run_a running', 'run_b queued']);

  const other = new Sqlite(databaseIn(temp));
  other.exec('BEGIN IMMEDIATE');
  await vi.advanceTimersByTimeAsync(5000);
  slots.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect([begun, status()]).toEqual([[], ['run_a running', 'run_b queued']]);

  other.exec('COMMIT');
  other.close();
  await vi.advanceTimersByTimeAsync(5000);
  await second;
  expect([begun, status()]).toEqual([['b'], ['run_a running', 'run_b running']]);
});
