import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../src/asks/answer.ts';
import { createAsks } from '../../src/asks/asks.ts';
import { type AskReviewer, respond } from '../../src/asks/respond.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { Evaluation } from '../../src/schema/policy.ts';
import { createAsks as createRows } from '../../src/store/asks.ts';
import { createAudit } from '../../src/store/audit.ts';
import { createEvents } from '../../src/store/events.ts';
import { createFeed } from '../../src/store/feed.ts';
import { createRemembered } from '../../src/store/remembered.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const tenant = '00000000-0000-0000-0000-000000000001';
const policy = { name: 'default', source: 'builtin', path: null, sha256: 'ab', state: 'ok' } as const;
const evaluation: Evaluation = {
  action: 'approve',
  matched_rule: 3,
  reason: 'matched_rule',
  timeout_s: 0,
  on_timeout: null,
  policy,
  detail: null,
  note: null,
  trust: [],
  exec: null,
};
const person: Actor = { by: 'operator:cli', name: 'u', client: 'test' };
const now = () => Date.parse('2026-01-01T00:00:00.000Z');

let place: TempHome;
let store: OpenedStore;
beforeEach(async () => {
  place = tempHome();
  const path = join(place.workspace, 'local.db');
  store = await openStore({ path, mode: 'create', reinsHome: place.home, version: '0', now, warn: () => {} });
  insertRun(store.sql, 'run_a');
});
afterEach(() => {
  store.close();
  place.remove();
});

/** An open ask, and a desk that answers it with this reviewer. */
function open({
  driven = true,
  ...given
}: Partial<Pick<AskReviewer, 'review' | 'addRule'>> & { readonly driven?: boolean }) {
  const { sql } = store;
  const feed = createFeed({ sql, events: createEvents(sql), now, mask: (value) => value });
  const audit = createAudit(sql);
  const rows = createRows(sql, tenant);
  const asks = createAsks({
    rows,
    audit,
    feed,
    now,
    ceilingMs: () => null,
    tenant,
    isDriven: () => driven,
    rests: () => false,
    checkResumable: () => {},
  });
  const id = feed.commit('full', (record) =>
    asks.raise(record, {
      kind: 'permission',
      ref: { run_id: 'run_a', session_id: null, mission_id: 'run_a', chain_id: 'c', tenant_id: tenant },
      task_id: 't',
      call_id: 'call_1',
      tools: 'local_fs',
      tool: 'write_file',
      args: { path: 'a.txt' },
      summary: 'write a.txt',
      preview: {},
      cwd: '/',
      evaluation,
      policy,
      call_hash: 'h',
      binding: 'b'.repeat(64),
    }),
  );
  const reviewer: AskReviewer = {
    review: async () => null,
    reserved: async () => null,
    addRule: async () => {},
    ...given,
  };
  const desk = { asks, remembered: createRemembered(sql), audit, reviewer, tenant, now };
  const choose = () =>
    respond(
      desk,
      {
        id,
        outcome: 'approve',
        feedback: null,
        text: null,
        binding: null,
        remember: 'rule',
        rule: { candidate: 0, sha256: 'c' },
      },
      person,
    );
  const noted = () => sql.all<{ type: string }>('SELECT type FROM audit ORDER BY seq').map(({ type }) => type);
  return { id, asks, choose, noted };
}

it('leaves the question open, and no trace, when the rule cannot be written', async () => {
  const desk = open({
    addRule: async (_ask, _chosen, record) => {
      record({ path: '/p', index: 0 }, () => {
        throw new RuntimeError('storage', 'no space left');
      });
    },
  });
  await expect(desk.choose()).rejects.toMatchObject({ code: 'storage' });
  expect(desk.asks.show(desk.id)).toMatchObject({ state: 'pending', verdict: null });
  expect(desk.noted()).toEqual(['ask']);
});

it('writes no rule for a question that somebody has answered meanwhile', async () => {
  const written: string[] = [];
  const desk = open({
    addRule: async (ask, _chosen, record) => {
      desk.asks.close(ask.id, 'deny', 'operator:web');
      record({ path: '/p', index: 0 }, () => written.push('rule'));
    },
  });
  await expect(desk.choose()).rejects.toMatchObject({ code: 'already_answered' });
  expect(written).toEqual([]);
  expect(desk.noted()).toEqual(['ask', 'verdict']);
});

it.each([
  [false, ['reins state resume run_a']],
  [true, []],
])('closes what the policy denies by now, and says how a run goes on that nobody drives: %j', async (driven, hints) => {
  const desk = open({
    driven,
    review: async () => ({ policy, record: { ...evaluation, action: 'deny' }, binding: 'c'.repeat(64) }),
  });
  await expect(desk.choose()).rejects.toMatchObject({ code: 'already_answered', hints });
  expect(desk.asks.show(desk.id)).toMatchObject({ state: 'denied', verdict: { by: 'system:policy' } });
});
