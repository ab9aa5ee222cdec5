import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Actor } from '../../src/asks/answer.ts';
import { createAsks } from '../../src/asks/asks.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { Evaluation } from '../../src/schema/policy.ts';
import { createAsks as createRows } from '../../src/store/asks.ts';
import { createAudit } from '../../src/store/audit.ts';
import { createEvents } from '../../src/store/events.ts';
import { createFeed } from '../../src/store/feed.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const tenant = '00000000-0000-0000-0000-000000000001';
const policy = { name: 'default', source: 'builtin', path: null, sha256: 'ab', state: 'ok' } as const;
const person: Actor = { by: 'operator:cli', name: 'u', client: 'test' };
const binding = 'b'.repeat(64);

let place: TempHome;
let stores: OpenedStore[];
let clock: number;
let driven: () => boolean;

const evaluation = (timeout_s: number): Evaluation => ({
  action: 'approve',
  matched_rule: 3,
  reason: 'matched_rule',
  timeout_s,
  on_timeout: null,
  policy,
  detail: null,
  note: null,
  trust: [],
  exec: null,
});

/** Asks as one process has them, on the database that all of them share. */
async function open(ceilingMs: number | null = 3_600_000) {
  const store = await openStore({
    path: join(place.workspace, 'local.db'),
    mode: 'create',
    reinsHome: place.home,
    version: '0',
    now: () => clock,
    warn: () => {},
  });
  stores.push(store);
  const { sql } = store;
  if (stores.length === 1) insertRun(sql, 'run_a');
  const feed = createFeed({ sql, events: createEvents(sql), now: () => clock, mask: (value) => value });
  const asks = createAsks({
    rows: createRows(sql, tenant),
    audit: createAudit(sql),
    feed,
    now: () => clock,
    ceilingMs: () => ceilingMs,
    tenant,
    isDriven: () => driven(),
    rests: () => !driven(),
    checkResumable: () => {
      throw new RuntimeError('not_resumable_here', 'elsewhere');
    },
  });
  const raise = (timeout_s = 0): string =>
    feed.commit('full', (record) =>
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
        evaluation: evaluation(timeout_s),
        policy,
        call_hash: 'h',
        binding,
      }),
    );
  return { sql, feed, asks, raise };
}

const answer = (id: string, outcome: 'approve' | 'deny', more: object = {}) => ({
  id,
  outcome,
  feedback: null,
  text: null,
  binding: null,
  ...more,
});

beforeEach(() => {
  place = tempHome();
  stores = [];
  driven = () => true;
  clock = Date.parse('2026-01-01T00:00:00.000Z');
});
afterEach(() => {
  for (const store of stores) store.close();
  place.remove();
});

it('keeps the first of two answers and tells the second who was first', async () => {
  const one = await open();
  const other = await open();
  const id = one.raise();
  const first = other.asks.answer(answer(id, 'deny', { feedback: 'not now' }), person);
  expect(first.yours).toBe(true);
  expect(first.ask).toMatchObject({ state: 'denied', verdict: { by: 'operator:cli', feedback: 'not now' } });
  expect(() => one.asks.answer(answer(id, 'approve'), { ...person, by: 'operator:web' })).toThrow(
    `${id} was already denied by operator:cli at 2026-01-01T00:00:00.000Z`,
  );
  expect(one.asks.show(id).state).toBe('denied');
});

it('gives the stored verdict to the same answer repeated within a minute, and refuses it after', async () => {
  const { asks, raise } = await open();
  const id = raise();
  asks.answer(answer(id, 'approve'), person);
  clock += 59_000;
  expect(asks.answer(answer(id, 'approve'), person)).toMatchObject({ yours: false, ask: { state: 'approved' } });
  clock += 2_000;
  expect(() => asks.answer(answer(id, 'approve'), person)).toThrow('was already approved');
});

it('does not take other words or another choice for the same answer', async () => {
  const { asks, raise } = await open();
  const denied = raise();
  asks.answer(answer(denied, 'deny', { feedback: 'use git mv' }), person);
  expect(asks.answer(answer(denied, 'deny', { feedback: 'use git mv' }), person)).toMatchObject({ yours: false });
  expect(() => asks.answer(answer(denied, 'deny', { feedback: 'leave it' }), person)).toThrow('was already denied');
  const approved = raise();
  asks.answer(answer(approved, 'approve'), person);
  expect(() => asks.answer(answer(approved, 'approve', { remember: 'session' }), person)).toThrow(
    'was already approved',
  );
  const changed = raise();
  const edit = (args: object) => ({ ...answer(changed, 'approve'), outcome: 'cancel' as const, edited: { ...args } });
  asks.answer(edit({ path: 'a', content: 'b' }), person);
  expect(asks.answer(edit({ content: 'b', path: 'a' }), person)).toMatchObject({ yours: false });
  expect(() => asks.answer(edit({ path: 'c' }), person)).toThrow('was already cancelled by system:superseded');
});

it('wakes a waiting run when another process answers', async () => {
  const run = await open();
  const terminal = await open();
  const id = run.raise();
  const waiting = run.asks.wait(id, new AbortController().signal);
  terminal.asks.answer(answer(id, 'approve'), person);
  expect((await waiting).state).toBe('approved');
});

it('closes an ask as cancelled when the run that waits for it is aborted', async () => {
  const { asks, raise } = await open();
  const id = raise();
  const abort = new AbortController();
  const waiting = asks.wait(id, abort.signal);
  abort.abort();
  expect(await waiting).toMatchObject({ state: 'cancelled', verdict: { by: 'system:cancelled' } });
});

it.each([
  ['interrupted', 'pending'],
  ['suspended', 'pending'],
  ['cancelled', 'cancelled'],
] as const)('leaves an ask open for a run that rests and for no other: %s', async (code, state) => {
  const { asks, raise } = await open();
  const id = raise();
  const abort = new AbortController();
  const waiting = asks.wait(id, abort.signal).then(
    (ask) => ask.state,
    (reason: unknown) => reason,
  );
  const reason = new RuntimeError(code, 'the run has ended');
  abort.abort(reason);
  expect(await waiting).toBe(state === 'pending' ? reason : state);
  expect(asks.show(id).state).toBe(state);
});

it('reads a passed deadline as expired where nothing can be written, and refuses an answer for it', async () => {
  const { asks, raise, sql } = await open();
  const id = raise(10);
  clock += 10_000;
  sql.run('PRAGMA query_only = ON');
  expect(asks.show(id)).toMatchObject({
    state: 'expired',
    resolved_at: '2026-01-01T00:00:10.000Z',
    verdict: { outcome: 'expire', by: 'system:timeout' },
  });
  expect(() => asks.answer(answer(id, 'approve'), person)).toThrow(`${id} expired at 2026-01-01T00:00:10.000Z`);
  expect(asks.list({ state: 'all', kind: null, session_id: null, mission_id: null, by: null, limit: 5 })).toMatchObject(
    {
      expired: 0,
      total: 1,
    },
  );
});

it('closes asks whose deadline has passed when a process begins to sweep and every 30 s, until it ends', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { asks, raise, sql } = await open();
    const state = (id: string) => sql.get<{ state: string }>('SELECT state FROM asks WHERE id = ?', id)?.state;
    const [before, meanwhile, after] = [raise(10), raise(40), raise(70)];
    clock += 10_000;
    const stop = asks.keepSwept();
    expect([state(before), state(meanwhile)]).toEqual(['expired', 'pending']);
    clock += 30_000;
    vi.advanceTimersByTime(29_999);
    expect(state(meanwhile)).toBe('pending');
    vi.advanceTimersByTime(1);
    expect([state(meanwhile), state(after)]).toEqual(['expired', 'pending']);
    expect(sql.all("SELECT body FROM audit WHERE type = 'verdict'")).toHaveLength(2);
    stop();
    clock += 30_000;
    vi.advanceTimersByTime(60_000);
    expect([state(after), vi.getTimerCount()]).toEqual(['pending', 0]);
  } finally {
    vi.useRealTimers();
  }
});

it('goes on sweeping after a pass that could not write', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { asks, raise, sql } = await open();
    const id = raise(10);
    clock += 10_000;
    sql.run('PRAGMA query_only = ON');
    const stop = asks.keepSwept();
    sql.run('PRAGMA query_only = OFF');
    expect(sql.get('SELECT state FROM asks WHERE id = ?', id)).toEqual({ state: 'pending' });
    vi.advanceTimersByTime(30_000);
    expect(sql.get('SELECT state FROM asks WHERE id = ?', id)).toEqual({ state: 'expired' });
    stop();
  } finally {
    vi.useRealTimers();
  }
});

it('closes what is over in one transaction, all of it or nothing, and tells who waits', async () => {
  const { asks, raise, sql } = await open();
  const ids = [raise(10), raise(20)];
  const waiting = asks.wait(ids[0] ?? '', new AbortController().signal);
  clock += 20_000;
  const states = () => sql.all<{ state: string }>('SELECT state FROM asks ORDER BY id').map(({ state }) => state);
  // The second one cannot be written.
  sql.run(`CREATE TEMP TRIGGER refused BEFORE UPDATE ON asks WHEN OLD.id = '${ids[1]}'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  asks.keepSwept()();
  expect(states()).toEqual(['pending', 'pending']);
  sql.run('DROP TRIGGER refused');
  asks.keepSwept()();
  expect(states()).toEqual(['expired', 'expired']);
  expect((await waiting).state).toBe('expired');
});

it('reads an ask as expired from its deadline on, although nobody swept', async () => {
  const { asks, raise } = await open();
  const id = raise(60);
  clock += 59_999;
  expect(asks.show(id).state).toBe('pending');
  clock += 1;
  expect(asks.show(id)).toMatchObject({ state: 'expired', verdict: { by: 'system:timeout', outcome: 'expire' } });
  expect(() => asks.answer(answer(id, 'approve'), person)).toThrow('that counted as a denial');
  // Nobody drives the run: it goes on when it is told to.
  driven = () => false;
  expect(hintsOf(() => asks.answer(answer(id, 'approve'), person))).toEqual(['reins state resume run_a']);
  asks.delivered(id);
  expect(hintsOf(() => asks.answer(answer(id, 'approve'), person))).toEqual([]);
});

function hintsOf(body: () => unknown): readonly string[] | undefined {
  try {
    body();
  } catch (error) {
    return error instanceof RuntimeError ? error.hints : undefined;
  }
  return undefined;
}

it('takes the deadline of the rule, of the ceiling, or none', async () => {
  const { asks, raise } = await open(90_000);
  expect(asks.show(raise(7200)).expires_at).toBe('2026-01-01T02:00:00.000Z');
  expect(asks.show(raise(0)).expires_at).toBe('2026-01-01T00:01:30.000Z');
  expect(asks.show(raise(-1)).expires_at).toBeNull();
  const never = await open(null);
  expect(never.asks.show(never.raise(0)).expires_at).toBeNull();
});

it('refuses an answer that was given to something else', async () => {
  const { asks, raise } = await open();
  const id = raise();
  expect(() => asks.answer(answer(id, 'approve', { binding: 'c'.repeat(64) }), person)).toThrow(
    'is not what was looked at',
  );
  expect(asks.show(id).state).toBe('pending');
  expect(asks.answer(answer(id, 'approve', { binding: binding.slice(0, 12) }), person).ask.state).toBe('approved');
});

it('finds an ask by four characters of its end and refuses an ambiguous beginning', async () => {
  const { asks, raise } = await open();
  const ids = [raise(), raise()];
  const [first] = ids;
  expect(asks.show((first ?? '').slice(-6)).id).toBe(first);
  // Both were made in the same millisecond: they begin alike.
  expect(() => asks.show((first ?? '').slice(0, 10))).toThrow('names several asks');
  expect(() => asks.show('nope')).toThrow(/^no such ask: nope$/);
  expect(() => asks.show((first ?? '').slice(-3))).toThrow(/4 characters of an id are the least$/);
});

it('lists an ask whose row is damaged as unreadable; it can be refused and never approved', async () => {
  const { asks, raise, sql } = await open();
  const [bad, good] = [raise(60), raise(120)];
  // No statement of the program could write this: the CHECK of the column is switched off as a damaged page would be.
  sql.run('PRAGMA ignore_check_constraints = ON');
  sql.run("UPDATE asks SET record = '{\"action\":', preview = '' WHERE id = ?", bad);
  sql.run('PRAGMA ignore_check_constraints = OFF');
  const filter = { state: 'pending', kind: null, session_id: null, mission_id: null, by: null, limit: 50 } as const;
  expect(asks.list(filter).asks.map(({ id, summary, unreadable }) => [id, summary, unreadable])).toEqual([
    [bad, '[unreadable ask]', true],
    [good, 'write a.txt', undefined],
  ]);
  expect(() => asks.answer(answer(bad, 'approve'), person)).toThrow(`${bad} cannot be read`);
  expect(asks.answer(answer(bad, 'deny'), person).ask.state).toBe('denied');
});

it('sweeps before it lists and says how many expired, soonest deadline first', async () => {
  const { asks, raise } = await open();
  const late = raise(7200);
  const soon = raise(60);
  raise(1);
  clock += 1_000;
  const filter = { state: 'pending', kind: null, session_id: null, mission_id: null, by: null, limit: 50 } as const;
  const listed = asks.list(filter);
  expect(listed.expired).toBe(1);
  expect(listed.asks.map((ask) => ask.id)).toEqual([soon, late]);
  expect(asks.list({ ...filter, state: 'all', by: 'system' }).asks.map((ask) => ask.state)).toEqual(['expired']);
});

it('lists what is open first, then the newest verdicts, however many are older', async () => {
  const { asks, raise } = await open();
  const ids = [raise(1000), raise(2000), raise(3000), raise(4000)];
  const [first = '', second = '', third = ''] = ids;
  for (const id of [second, first]) {
    clock += 1000;
    asks.answer(answer(id, 'deny'), person);
  }
  clock += 1000;
  asks.answer(answer(third, 'approve'), person);
  const list = (state: 'all' | 'resolved' | 'denied', limit: number) =>
    asks
      .list({ state, kind: null, session_id: null, mission_id: null, by: null, limit })
      .asks.map(({ id }) => ids.indexOf(id));
  expect(list('resolved', 2)).toEqual([2, 0]);
  expect(list('denied', 1)).toEqual([0]);
  expect(list('all', 3)).toEqual([3, 2, 0]);
});

it('writes ask and verdict into the audit chain, without the words of the person', async () => {
  const { asks, raise, sql } = await open();
  const id = raise();
  asks.answer(answer(id, 'deny', { feedback: 'my words' }), person);
  const rows = sql.all<{ seq: number; type: string; body: string; prev_hash: string; hash: string }>(
    'SELECT seq, type, body, prev_hash, hash FROM audit ORDER BY seq',
  );
  expect(rows.map((row) => row.type)).toEqual(['ask', 'verdict']);
  expect(rows[1]?.prev_hash).toBe(rows[0]?.hash);
  expect(rows[1]?.body).not.toContain('my words');
});

it('gives one verdict when three processes answer at the same moment', async () => {
  const surfaces = [await open(), await open(), await open()];
  for (let round = 0; round < 20; round += 1) {
    const [first] = surfaces;
    const id = first?.raise() ?? '';
    const outcomes = await Promise.allSettled(
      surfaces.map(async ({ asks }, index) =>
        asks.answer(answer(id, 'approve'), { ...person, by: `operator:${index}` }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  }
});

it('gives agents no more verdicts than the cap of the mission, from whatever process and after a restart', async () => {
  const surfaces = [await open(), await open(), await open()];
  const ids = surfaces.map(({ raise }) => raise());
  const verdict = { outcome: 'approve', by: 'agent:judge', at: '2026-01-01T00:00:00.000Z', binding } as const;
  const given = surfaces.map(({ asks }, index) => asks.adjudicate(asks.show(ids[index] ?? ''), verdict, 2));
  expect(given).toEqual([true, true, false]);
  const [first, second, third] = ids.map((id) => surfaces[0]?.asks.show(id));
  expect([first?.state, second?.state, third?.state]).toEqual(['approved', 'approved', 'pending']);
  const later = await open();
  expect(later.asks.adjudicate(later.asks.show(ids[2] ?? ''), verdict, 2)).toBe(false);
  expect(later.asks.agentsMayAnswer(later.asks.show(ids[2] ?? ''), 2)).toBe(false);
  // People are not counted, and may answer what agents may not.
  expect(later.asks.answer(answer(ids[2] ?? '', 'deny'), person).ask.state).toBe('denied');
  expect(later.asks.agentsMayAnswer(later.asks.show(later.raise()), 3)).toBe(true);
});

it('lets an agent answer nothing but what it looked at, and nothing that a person has answered', async () => {
  const { asks, raise } = await open();
  const id = raise();
  const seen = asks.show(id);
  const verdict = { outcome: 'approve', by: 'agent:judge', at: '2026-01-01T00:00:00.000Z', binding } as const;
  expect(asks.adjudicate({ ...seen, binding: 'c'.repeat(64) }, verdict, 20)).toBe(false);
  asks.answer(answer(id, 'deny'), person);
  expect(asks.adjudicate(seen, verdict, 20)).toBe(false);
  expect(asks.show(id)).toMatchObject({ state: 'denied', verdict: { by: 'operator:cli' } });
});

it('refuses a verdict for a run that could not go on here, and records nothing', async () => {
  const { asks, raise } = await open();
  const id = raise();
  driven = () => false;
  const elsewhere = expect.objectContaining({ code: 'not_resumable_here' });
  expect(() => asks.answer(answer(id, 'approve'), person)).toThrow(elsewhere);
  expect(() => asks.answer(answer(id, 'deny'), person)).toThrow(elsewhere);
  expect(asks.show(id)).toMatchObject({ state: 'pending', verdict: null });
  const recorded = asks.answer(answer(id, 'approve', { no_resume: true }), person);
  expect(recorded).toMatchObject({ rests: false, ask: { state: 'approved', verdict: { by: 'operator:cli' } } });
  // What stands is said first, whoever drives the run.
  expect(() => asks.answer(answer(id, 'deny'), person)).toThrow(`${id} was already approved by operator:cli`);
});

it('cancels an ask of a run that nobody drives', async () => {
  const { asks, raise } = await open();
  const id = raise();
  driven = () => false;
  expect(asks.answer({ ...answer(id, 'deny'), outcome: 'cancel' }, person).ask.state).toBe('cancelled');
});

it('names the answer that came first when the run has ended by it meanwhile', async () => {
  const { asks, raise } = await open();
  const other = await open();
  const id = raise();
  driven = () => {
    driven = () => true;
    other.asks.answer(answer(id, 'approve'), { ...person, by: 'operator:web' });
    return false;
  };
  expect(() => asks.answer(answer(id, 'deny'), person)).toThrow(`${id} was already approved by operator:web`);
});
