import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewMessage } from '../../src/store/messages.ts';
import { createSessions, type Sessions } from '../../src/store/sessions.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
let sessions: Sessions;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
  sessions = createSessions(store.sql, tenant);
  sessions.insert({ id: 's1', name: 'work', workspace: '/srv/p', created_at: 10, forked_from: null });
});
afterEach(() => {
  store.close();
  temp.remove();
});

/** A message whose text is its id, unless given otherwise. */
function message(id: string, role: string, rest: Partial<NewMessage> & { body?: object } = {}): NewMessage {
  const { body, ...columns } = rest;
  return {
    id,
    role,
    kind: 'message',
    payload: JSON.stringify({ id, role, content: id, ...body }),
    status: 'complete',
    run_id: null,
    error: null,
    tokens_in: null,
    tokens_out: null,
    created_at: 100,
    ...columns,
  };
}
const add = (...messages: NewMessage[]): number[] => messages.map((each) => sessions.appendMessage('s1', each));
const calls = { content: '', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'x.y', arguments: '{}' } }] };
const history = (trim?: number, turnFrom?: number): string[] =>
  (JSON.parse(sessions.historyText('s1', trim, turnFrom)) as { id: string }[]).map((each) => each.id);

/** A run row with nothing but what sessions look at. */
const addRun = (id: string, status: string, createdAt: number): number =>
  store.sql.run(
    `INSERT INTO runs (id, kind, status, workspace, cwd, chain_id, chain_sha256, policy, session_id, mission_id, surface, options,
       input, usage, counters, created_at) VALUES (?, 'chat', ?, '/', '/', 'c', '0', '{}', 's1', ?, 'cli', '{}', '{}', '{}', '{}', ?)`,
    id,
    status,
    id,
    createdAt,
  );

describe('sessions', () => {
  it('are found by id and by exact name, in their tenant only', () => {
    const row = {
      id: 's1',
      name: 'work',
      workspace: '/srv/p',
      created_at: 10,
      last_message_at: null,
      message_count: 0,
      forked_from: null,
    };
    expect(sessions.byId('s1')).toEqual(row);
    expect(sessions.byName('work')).toEqual(row);
    expect(sessions.byName('Work')).toBeUndefined();
    const others = createSessions(store.sql, 'another-tenant');
    expect(others.byId('s1')).toBeUndefined();
    expect(others.list()).toEqual([]);
    expect(others.delete('s1')).toBeUndefined();
    expect(() => others.appendMessage('s1', message('m', 'user'))).toThrow('There is no session s1.');
  });

  it('refuse a name that is taken', () => {
    const twice = () => sessions.insert({ id: 's2', name: 'work', workspace: '/', created_at: 1, forked_from: null });
    expect(twice).toThrow('A session named "work" exists already.');
    sessions.insert({ id: 's2', name: 'play', workspace: '/', created_at: 1, forked_from: null });
    expect(() => sessions.rename('s2', 'work')).toThrow('A session named "work" exists already.');
    expect(sessions.rename('s2', 'fun')).toBe(true);
    expect(sessions.rename('gone', 'other')).toBe(false);
  });

  it('are listed by last activity with preview and runs', () => {
    sessions.insert({ id: 's2', name: 'older', workspace: '/', created_at: 50, forked_from: null });
    add(
      message('a', 'user', { body: { content: 'first question' } }),
      message('b', 'user', { body: { content: 'q'.repeat(200) } }),
      message('c', 'assistant'),
    );
    addRun('run_1', 'completed', 1);
    addRun('run_2', 'suspended', 2);
    addRun('run_3', 'running', 3);
    expect(sessions.list().map((row) => [row.name, row.preview, row.active_run_id, row.suspended_run_id])).toEqual([
      ['work', 'q'.repeat(80), 'run_3', 'run_2'],
      ['older', '', null, null],
    ]);
    expect(sessions.listed('s1')).toMatchObject({ message_count: 3, last_message_at: 100, active_run_id: 'run_3' });
  });

  it('remember which one is active until it is deleted', () => {
    expect(sessions.activeId()).toBeNull();
    sessions.setActive('s1', 1);
    expect(sessions.activeId()).toBe('s1');
    expect(createSessions(store.sql, 'another-tenant').activeId()).toBeNull();
    add(message('a', 'user'), message('b', 'assistant'));
    expect(sessions.delete('s1')).toBe(2);
    expect(sessions.activeId()).toBeNull();
    expect(store.sql.all('SELECT * FROM messages')).toEqual([]);
    expect(store.sql.all('SELECT * FROM kv')).toEqual([]);
  });

  it('take their marks, choices and draft with them, and leave runs and the others alone', () => {
    addRun('run_1', 'completed', 1);
    for (const session of ['s1', 's2']) {
      store.sql.run(
        "INSERT INTO remembered (id, session_id, call_hash, policy_sha256, ask_id, created_at) VALUES (?, ?, 'h', 'p', 'a', 1)",
        `r-${session}`,
        session,
      );
      store.sql.run(
        `INSERT INTO read_marks (scope, path, sha256, "full", ranges, at) VALUES (?, '/f', 'h', 1, '[]', 1)`,
        session,
      );
      store.sql.run(`INSERT INTO kv (key, value, updated_at) VALUES (?, '""', 1)`, `tui.draft.${session}`);
    }
    sessions.delete('s1');
    expect(store.sql.all('SELECT id FROM remembered')).toEqual([{ id: 'r-s2' }]);
    expect(store.sql.all('SELECT scope FROM read_marks')).toEqual([{ scope: 's2' }]);
    expect(store.sql.all('SELECT key FROM kv')).toEqual([{ key: 'tui.draft.s2' }]);
    expect(store.sql.all('SELECT id FROM runs')).toEqual([{ id: 'run_1' }]);
  });
});

describe('messages', () => {
  it('are numbered from 1 and counted', () => {
    expect(add(message('a', 'user'), message('b', 'assistant', { created_at: 90 }))).toEqual([1, 2]);
    expect(sessions.byId('s1')).toMatchObject({ message_count: 2, last_message_at: 100 });
  });

  it('are overwritten in their place when they are there already', () => {
    add(message('a', 'user'));
    const partial = message('b', 'assistant', { status: 'partial', body: { content: 'hel' } });
    expect(sessions.putMessage('s1', partial)).toBe(2);
    expect(sessions.putMessage('s1', message('b', 'assistant', { status: 'partial', body: { content: 'hell' } }))).toBe(
      2,
    );
    add(message('c', 'user'));
    expect(sessions.putMessage('s1', message('final', 'assistant', { tokens_in: 3, tokens_out: 4 }), 'b')).toBe(2);
    const rows = sessions.messages('s1', { tools: true });
    expect(rows.map((row) => [row.seq, row.id, row.status])).toEqual([
      [1, 'a', 'complete'],
      [2, 'final', 'complete'],
      [3, 'c', 'complete'],
    ]);
    expect(rows[1]).toMatchObject({ tokens_in: 3, tokens_out: 4, created_at: 100, covers_to: null });
    expect(sessions.byId('s1')?.message_count).toBe(3);
  });

  it('are shown without tool traffic unless it is wanted, and cut at either end', () => {
    add(
      message('a', 'user'),
      message('b', 'assistant', { body: calls }),
      message('c', 'tool', { body: { tool_call_id: 'c1' } }),
      message('d', 'assistant', { body: { ...calls, content: 'text and calls' } }),
      message('e', 'assistant', { kind: 'note' }),
    );
    const ids = (want: Parameters<Sessions['messages']>[1]) => sessions.messages('s1', want).map((row) => row.id);
    expect(ids({ tools: true })).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(ids({ tools: false })).toEqual(['a', 'd', 'e']);
    expect(ids({ tools: false, tail: 2 })).toEqual(['d', 'e']);
    expect(ids({ tools: false, head: 2 })).toEqual(['a', 'd']);
    expect(ids({ tools: true, tail: 0 })).toEqual([]);
  });

  it('end at 100,000 in one session', () => {
    store.sql.run("UPDATE sessions SET message_count = 100000 WHERE id = 's1'");
    let error: unknown;
    try {
      add(message('a', 'user'));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'storage', hints: ['reins session fork --summary', 'reins session new'] });
    expect(sessions.messages('s1', { tools: true })).toEqual([]);
  });
});

describe('the history of a turn', () => {
  it('is the stored messages in order, as they are', () => {
    add(message('a', 'user'), message('b', 'assistant'));
    expect(sessions.historyText('s1')).toBe(
      '[{"id":"a","role":"user","content":"a"},{"id":"b","role":"assistant","content":"b"}]',
    );
    expect(sessions.historyText('none')).toBe('[]');
  });

  it('leaves out rows that hold no message', () => {
    add(message('a', 'user'), message('b', 'user'));
    for (const payload of ['{}', '5', '{"id":"b","role":"oracle","content":"x"}', '{"id":"b","role":"user"}']) {
      store.sql.run("UPDATE messages SET payload = ? WHERE id = 'b'", payload);
      expect([payload, history()]).toEqual([payload, ['a']]);
    }
  });

  it('leaves out notes and replies that failed without text', () => {
    add(
      message('a', 'user'),
      message('b', 'assistant', { status: 'failed', body: { content: '' } }),
      message('c', 'assistant', { kind: 'note' }),
      message('d', 'assistant', { status: 'failed', body: { content: 'half' } }),
    );
    expect(history()).toEqual(['a', 'd']);
  });

  it('marks text that arrived only in part, and drops its calls', () => {
    add(message('a', 'assistant', { status: 'partial', body: { ...calls, content: 'hal' } }));
    expect(sessions.historyText('s1')).toBe('[{"id":"a","role":"assistant","content":"hal","interrupted":true}]');
  });

  it('leaves out a row that is not JSON and keeps the rest', () => {
    add(message('a', 'user'), message('b', 'assistant'), message('c', 'user'));
    store.sql.run('PRAGMA ignore_check_constraints = ON');
    store.sql.run("UPDATE messages SET payload = '{\"content' WHERE id = 'b'");
    expect(history()).toEqual(['a', 'c']);
    expect(sessions.list()[0]?.preview).toBe('c');
    expect(sessions.messages('s1', { tools: false }).map((row) => row.id)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ["payload = json_set(payload, '$.tool_calls', json('[{\"id\":1}]'))"],
    ["payload = json_set(payload, '$.tool_calls', json('[5]'))"],
    ["payload = json_set(payload, '$.tool_calls', 'none')"],
    ["kind = 'riddle'"],
    ["status = 'lost'"],
  ])('leaves out a row that is damaged so: %s', (change) => {
    add(message('a', 'user'), message('b', 'assistant'), message('c', 'user'));
    store.sql.run('PRAGMA ignore_check_constraints = ON');
    store.sql.run(`UPDATE messages SET ${change} WHERE id = 'b'`);
    expect(history()).toEqual(['a', 'c']);
  });

  it('begins with the newest summary and goes on with what it does not cover', () => {
    add(
      message('a', 'user'),
      message('b', 'assistant'),
      message('s-old', 'user', { kind: 'summary', covers_to: 1 }),
      message('c', 'user'),
      message('d', 'assistant'),
      message('s-new', 'user', { kind: 'summary', covers_to: 4 }),
      message('e', 'user'),
    );
    expect(history()).toEqual(['s-new', 'd', 'e']);
    expect(history(3)).toEqual(['s-new', 'd', 'e']);
    expect(history(2)).toEqual(['d', 'e']);
    expect(history(1)).toEqual(['e']);
  });

  it('sends at most the last messages of --trim, and system messages always', () => {
    add(
      message('sys', 'system'),
      message('a', 'user'),
      message('b', 'assistant'),
      message('c', 'user'),
      message('d', 'assistant'),
    );
    expect(history(2)).toEqual(['sys', 'c', 'd']);
    expect(history(100)).toEqual(['sys', 'a', 'b', 'c', 'd']);
    expect(history(0)).toEqual(['sys', 'a', 'b', 'c', 'd']);
  });

  it('never separates calls from their results: the cut moves to the end of the unit', () => {
    add(
      message('a', 'user'),
      message('b', 'assistant', { body: calls }),
      message('c', 'tool'),
      message('d', 'tool'),
      message('e', 'assistant'),
    );
    expect(history(4)).toEqual(['b', 'c', 'd', 'e']);
    expect(history(3)).toEqual(['e']);
    expect(history(1)).toEqual(['e']);
  });

  it('sends the newest unit whole when the cut would leave nothing', () => {
    add(message('a', 'user'), message('b', 'assistant', { body: calls }), message('c', 'tool'), message('d', 'tool'));
    expect(history(1)).toEqual(['b', 'c', 'd']);
    expect(history(2)).toEqual(['b', 'c', 'd']);
  });

  it('always holds the new turn, which does not count', () => {
    const [, , from] = add(message('a', 'user'), message('b', 'assistant'), message('c', 'user'));
    expect(history(1, from)).toEqual(['b', 'c']);
    expect(history(0, from)).toEqual(['a', 'b', 'c']);
  });
});
