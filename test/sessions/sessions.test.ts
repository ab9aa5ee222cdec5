import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSessionOperations, type SessionOperations } from '../../src/sessions/sessions.ts';
import { createCalls } from '../../src/store/calls.ts';
import { createRuns } from '../../src/store/runs.ts';
import type { NewMessage } from '../../src/store/messages.ts';
import { createSessions, type Sessions } from '../../src/store/sessions.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
import { noUsage } from '../../src/schema/message.ts';
import type { RunStatus } from '../../src/schema/run.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const tenant = '00000000-0000-0000-0000-000000000001';
let temp: TempHome;
let store: OpenedStore;
let rows: Sessions;
let operations: SessionOperations;
let cancelled: string[];
let now: number;

beforeEach(async () => {
  temp = tempHome();
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
  store = await openStore({
    path: `${temp.home}/local.db`,
    mode: 'create',
    reinsHome: temp.home,
    version: 't',
    now: () => now,
    warn: () => undefined,
  });
  rows = createSessions(store.sql, tenant);
  const runs = createRuns(store.sql);
  cancelled = [];
  operations = createSessionOperations({
    sql: store.sql,
    sessions: rows,
    runs,
    calls: createCalls(store.sql),
    workspace: temp.workspace,
    now: () => now,
    cancelRun: async (runId, reason) => {
      cancelled.push(`${runId}: ${reason}`);
      runs.close(runId, 'cancelled', now);
    },
  });
});
afterEach(() => {
  store.close();
  temp.remove();
});

const idOf = (name: string): string => rows.byName(name)?.id ?? '';
const addRun = (id: string, session: string, status: RunStatus): void =>
  createRuns(store.sql).insert(
    {
      id,
      tenant_id: tenant,
      kind: 'chat',
      status,
      workspace: temp.workspace,
      cwd: temp.workspace,
      chain_id: 'c',
      chain_sha256: '0',
      chain_path: null,
      policy: { name: 'default', source: 'builtin', path: null, sha256: null, state: 'ok' },
      session_id: idOf(session),
      plan_id: null,
      plan_step_id: null,
      parent_run_id: null,
      mission_id: id,
      surface: 'cli',
      model: null,
      provider: null,
      options: {},
      input: null,
      created_at: now,
    },
    noUsage,
  );
const say = (session: string, id: string, role: string, body: object = {}, columns: Partial<NewMessage> = {}): void => {
  rows.appendMessage(idOf(session), {
    id,
    role,
    kind: 'message',
    payload: JSON.stringify({ id, role, content: id, ...body }),
    status: 'complete',
    run_id: null,
    error: null,
    tokens_in: null,
    tokens_out: null,
    created_at: now,
    ...columns,
  });
};

describe('a new session', () => {
  it('is active and empty', async () => {
    const session = await operations.newSession({ name: 'work' });
    expect(session).toEqual({
      id: expect.stringMatching(/^[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'work',
      active: true,
      message_count: 0,
      created_at: '2026-01-02T03:04:05.000Z',
      last_message_at: null,
      preview: '',
      forked_from: null,
      active_run_id: null,
      suspended_run_id: null,
    });
    expect(rows.byName('work')?.workspace).toBe(temp.workspace);
  });

  it('gets a name of its own when none is given', async () => {
    const { name } = await operations.newSession({ name: null });
    expect(name).toMatch(/^session-[0-9a-f]{8}$/);
  });

  it('takes letters of any script, composed', async () => {
    expect((await operations.newSession({ name: 'cafe\u0301-1' })).name).toBe('café-1');
    expect((await operations.newSession({ name: '作業.2' })).name).toBe('作業.2');
    expect((await operations.newSession({ name: 'x'.repeat(64) })).name).toHaveLength(64);
  });

  it.each(['', ' work', '-work', '.work', 'a b', 'a/b', 'a\u202eb', 'x'.repeat(65)])(
    'refuses the name %j',
    async (name) => {
      await expect(operations.newSession({ name })).rejects.toMatchObject({ code: 'usage' });
      expect(await operations.listSessions()).toEqual([]);
    },
  );

  it('refuses a taken name and leaves the active session as it was', async () => {
    await operations.newSession({ name: 'work' });
    await operations.newSession({ name: 'play' });
    await expect(operations.newSession({ name: 'work' })).rejects.toMatchObject({
      code: 'already_exists',
      message: 'A session named "work" exists already.',
    });
    expect(rows.activeId()).toBe(idOf('play'));
  });
});

describe('switching and listing', () => {
  it('marks the active one and puts the newest activity first', async () => {
    await operations.newSession({ name: 'one' });
    now += 1000;
    await operations.newSession({ name: 'two' });
    now += 1000;
    say('one', 'hello', 'user');
    expect((await operations.switchSession({ name: 'one' })).active).toBe(true);
    expect((await operations.listSessions()).map((session) => [session.name, session.active, session.preview])).toEqual(
      [
        ['one', true, 'hello'],
        ['two', false, ''],
      ],
    );
  });

  it('names near sessions when there is none of that name', async () => {
    for (const name of ['work', 'word', 'worker', 'play']) await operations.newSession({ name });
    await expect(operations.switchSession({ name: 'wrok' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no session "wrok". Near names: work, word.',
      hints: ['reins session list'],
    });
    await expect(operations.switchSession({ name: 'wor' })).rejects.toMatchObject({
      message: 'There is no session "wor". Near names: word, work, worker.',
    });
    await expect(operations.switchSession({ name: 'zzzzzz' })).rejects.toMatchObject({
      message: 'There is no session "zzzzzz".',
    });
    expect(rows.activeId()).toBe(idOf('play'));
  });
});

describe('showing a session', () => {
  it('gives its messages as people read them', async () => {
    await operations.newSession({ name: 'work' });
    const call = { id: 'c1', type: 'function', function: { name: 'local_fs.read_file', arguments: '{"path":"a"}' } };
    say('work', 'hi', 'user');
    say('work', 'm2', 'assistant', { content: '', tool_calls: [call] }, { run_id: 'run_1' });
    say('work', 'm3', 'tool', { tool_call_id: 'c1', content: 'text of a' });
    say('work', 'm4', 'assistant', { content: 'done', thinking: 'hm' }, { status: 'partial', error: '{"class":"x"}' });
    const { session, total, messages } = await operations.showSession({ name: null, tools: true });
    expect([session.name, total]).toEqual(['work', 4]);
    const common = {
      kind: 'message',
      status: 'complete',
      thinking: null,
      tool_calls: [],
      tool_call_id: null,
      run_id: null,
      error: null,
      created_at: '2026-01-02T03:04:05.000Z',
    };
    expect(messages).toEqual([
      { ...common, seq: 1, id: 'hi', role: 'user', text: 'hi' },
      {
        ...common,
        seq: 2,
        id: 'm2',
        role: 'assistant',
        text: '',
        run_id: 'run_1',
        tool_calls: [{ id: 'c1', name: 'local_fs.read_file', arguments: '{"path":"a"}' }],
      },
      { ...common, seq: 3, id: 'm3', role: 'tool', text: 'text of a', tool_call_id: 'c1' },
      {
        ...common,
        seq: 4,
        id: 'm4',
        role: 'assistant',
        text: 'done',
        thinking: 'hm',
        status: 'partial',
        error: { class: 'x' },
      },
    ]);
  });

  it('leaves tool traffic out and counts messages at either end', async () => {
    await operations.newSession({ name: 'work' });
    for (const id of ['a', 'b', 'c']) say('work', id, 'user');
    say('work', 't', 'tool');
    const ids = async (want: { tail?: number; head?: number }) =>
      (await operations.showSession({ name: 'work', tools: false, ...want })).messages.map(({ id }) => id);
    expect(await ids({})).toEqual(['a', 'b', 'c']);
    expect(await ids({ tail: 2 })).toEqual(['b', 'c']);
    expect(await ids({ head: 1 })).toEqual(['a']);
    await expect(ids({ head: 1, tail: 1 })).rejects.toMatchObject({ code: 'usage' });
    await expect(ids({ tail: -1 })).rejects.toMatchObject({ code: 'usage' });
    await expect(ids({ head: 1.5 })).rejects.toMatchObject({ code: 'usage' });
  });

  it('needs an active session when none is named', async () => {
    await expect(operations.showSession({ name: null, tools: false })).rejects.toMatchObject({
      code: 'not_found',
      message: 'No session is active.',
      hints: ['reins session list', 'reins session new'],
    });
  });

  it('shows a row that cannot be read as unreadable, and the rest', async () => {
    await operations.newSession({ name: 'work' });
    say('work', 'a', 'user');
    say('work', 'b', 'assistant', {}, { payload: '[1]' });
    store.sql.run('PRAGMA ignore_check_constraints = ON');
    say('work', 'c', 'assistant', {}, { payload: '{"content' });
    say('work', 'd', 'oracle');
    say('work', 'e', 'assistant', {}, { payload: '{}' });
    say('work', 'f', 'assistant');
    say('work', 'g', 'assistant');
    say('work', 'h', 'assistant');
    store.sql.run("UPDATE messages SET kind = 'riddle' WHERE id = 'f'");
    store.sql.run("UPDATE messages SET status = 'lost' WHERE id = 'g'");
    store.sql.run("UPDATE messages SET created_at = 9007199254740991 WHERE id = 'h'");
    store.sql.run('UPDATE sessions SET last_message_at = 9007199254740991');
    expect(await operations.listSessions()).toHaveLength(1);
    const { messages } = await operations.showSession({ name: 'work', tools: true });
    expect(messages.map(({ id, text }) => [id, text])).toEqual([
      ['a', 'a'],
      ['b', '[unreadable message]'],
      ['c', '[unreadable message]'],
      ['d', '[unreadable message]'],
      ['e', '[unreadable message]'],
      ['f', '[unreadable message]'],
      ['g', '[unreadable message]'],
      // Its text is whole; a time that no calendar has is no time.
      ['h', 'h'],
    ]);
    expect(messages.at(-1)?.created_at).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('deleting a session', () => {
  it('counts its messages and leaves none active when it was', async () => {
    await operations.newSession({ name: 'other' });
    await operations.newSession({ name: 'work' });
    say('work', 'a', 'user');
    addRun('run_1', 'work', 'completed');
    expect(await operations.deleteSession({ name: 'work', force: false })).toEqual({
      name: 'work',
      messages: 1,
      was_active: true,
    });
    expect((await operations.listSessions()).map(({ name, active }) => [name, active])).toEqual([['other', false]]);
    expect(await operations.deleteSession({ name: 'other', force: false })).toMatchObject({ was_active: false });
    await expect(operations.deleteSession({ name: 'work', force: false })).rejects.toMatchObject({ code: 'not_found' });
    expect(cancelled).toEqual([]);
  });

  it.each(['queued', 'running', 'waiting', 'suspended', 'interrupted'] as const)(
    'is refused while a run of it is %s, unless forced: then the run is cancelled first',
    async (status) => {
      await operations.newSession({ name: 'work' });
      say('work', 'a', 'user');
      addRun('run_1', 'work', status);
      await expect(operations.deleteSession({ name: 'work', force: false })).rejects.toMatchObject({
        code: 'in_use',
        data: { run_id: 'run_1', status },
      });
      expect(rows.byName('work')?.message_count).toBe(1);
      expect(await operations.deleteSession({ name: 'work', force: true })).toMatchObject({ messages: 1 });
      expect(cancelled).toEqual(['run_1: session deleted']);
      expect(store.sql.get("SELECT status FROM runs WHERE id = 'run_1'")).toEqual({ status: 'cancelled' });
    },
  );
});

describe('the session of a turn', () => {
  it('is the active one', async () => {
    await operations.newSession({ name: 'work' });
    expect(operations.sessionForTurn(null).name).toBe('work');
  });

  it('is the named one, which does not become active', async () => {
    await operations.newSession({ name: 'a' });
    await operations.newSession({ name: 'b' });
    expect(operations.sessionForTurn('a').name).toBe('a');
    expect(rows.activeId()).toBe(idOf('b'));
    expect(() => operations.sessionForTurn('c')).toThrow('There is no session "c".');
  });

  it('is "default", made once and active, when none is active', async () => {
    const made = operations.sessionForTurn(null);
    expect([made.name, rows.activeId()]).toEqual(['default', made.id]);
    rows.setActive(null, now);
    expect(operations.sessionForTurn(null).id).toBe(made.id);
    expect(rows.activeId()).toBe(made.id);
  });
});
