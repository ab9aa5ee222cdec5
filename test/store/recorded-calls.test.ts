import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CallFilter, createRecordedCalls } from '../../src/store/recorded-calls.ts';
import { createCalls } from '../../src/store/calls.ts';
import type { Evaluation } from '../../src/schema/policy.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

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

const record: Evaluation = {
  action: 'allow',
  matched_rule: 0,
  reason: 'matched_rule',
  timeout_s: 0,
  on_timeout: null,
  policy: { name: 'default', source: 'builtin', path: null, sha256: null, state: 'ok' },
  detail: null,
  note: null,
  trust: [],
  exec: null,
};

const insert = (run: string, number: number, more: { record?: Evaluation | null; tools?: string } = {}): void => {
  createCalls(store.sql).insert({
    run_id: run,
    call_id: `c${number}`,
    batch: 0,
    tools: more.tools ?? 'echo',
    tool: 'echo',
    args: { number },
    call_hash: 'h',
    record: more.record === undefined ? record : more.record,
    state: 'planned',
    at: number,
  });
};
const read = (filter: Partial<CallFilter> = {}, limit = 100_000) => {
  const all = { since: 0, session_id: null, tools: null, ...filter };
  const pages = [...createRecordedCalls(store.sql, tenant).pages(all, limit)];
  return { sizes: pages.map((page) => page.length), ids: pages.flat().map(({ call_id }) => call_id) };
};

describe('recorded calls', () => {
  it('are those that a policy decided', () => {
    store.sql.write('normal', () => {
      insertRun(store.sql, 'run_a');
      insert('run_a', 1);
      insert('run_a', 2, { tools: 'plan_summary', record: { ...record, matched_rule: null, reason: 'internal' } });
    });
    expect(read().ids).toEqual(['c1']);
  });

  it('come newest first, in pages that overlap nowhere', () => {
    store.sql.write('normal', () => {
      insertRun(store.sql, 'run_a');
      insertRun(store.sql, 'run_b');
      for (let number = 0; number < 1201; number += 1) insert(number % 2 === 0 ? 'run_a' : 'run_b', number);
    });
    const { sizes, ids } = read();
    expect(sizes).toEqual([500, 500, 201]);
    expect(ids).toEqual(Array.from({ length: 1201 }, (_, index) => `c${1200 - index}`));
    expect(read({}, 501).sizes).toEqual([500, 1]);
  });

  it('are those that somebody decided, of the time, session and toolset that were meant', () => {
    store.sql.write('normal', () => {
      insertRun(store.sql, 'run_a', 'session_1');
      insertRun(store.sql, 'run_b');
      insert('run_a', 1);
      insert('run_b', 2, { tools: 'print' });
      insert('run_b', 3, { record: null });
    });
    expect(read().ids).toEqual(['c2', 'c1']);
    expect(read({ since: 2 }).ids).toEqual(['c2']);
    expect(read({ session_id: 'session_1' }).ids).toEqual(['c1']);
    expect(read({ tools: 'print' }).ids).toEqual(['c2']);
    expect(
      createRecordedCalls(store.sql, 'another').pages({ since: 0, session_id: null, tools: null }, 1).next().done,
    ).toBe(true);
  });
});
