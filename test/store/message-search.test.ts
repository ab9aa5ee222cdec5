import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessageSearch } from '../../src/store/message-search.ts';
import type { NewMessage } from '../../src/store/messages.ts';
import { migrations } from '../../src/store/migrate.ts';
import { createSessions, type Sessions } from '../../src/store/sessions.ts';
import type { OpenedStore, OpenOptions } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { databaseIn, openIn, tenant } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
let sessions: Sessions;
const open = async (options?: Partial<OpenOptions>): Promise<void> => {
  store = await openIn(temp, options);
  sessions = createSessions(store.sql, tenant);
};
beforeEach(async () => {
  temp = tempHome();
  await open();
  sessions.insert({ id: 's1', name: 'work', workspace: '/', created_at: 1, forked_from: null });
});
afterEach(() => {
  store.close();
  temp.remove();
});

const message = (id: string, content: string, over: Partial<NewMessage> = {}): NewMessage => ({
  id,
  role: 'assistant',
  kind: 'message',
  payload: JSON.stringify({ id, role: 'assistant', content }),
  status: 'complete',
  run_id: 'run_1',
  error: null,
  tokens_in: null,
  tokens_out: null,
  created_at: 1,
  ...over,
});
const found = (match: string): string[] =>
  createMessageSearch(store.sql, tenant)
    .find({ match, literals: [] }, { sessionId: null, limit: 10 })
    .found.map(({ id }) => id);
/** Throws when the index is not sound in itself or does not hold exactly what the messages say. */
const checkIndex = (): void => {
  store.sql.run(`INSERT INTO message_search (message_search, rank) VALUES ('integrity-check', 1)`);
};

describe('the index of messages', () => {
  it('follows a message that is added, replaced, taken back and deleted', () => {
    sessions.putMessage('s1', message('partial', 'heron', { status: 'partial' }));
    expect(found('heron')).toEqual(['partial']);
    sessions.putMessage('s1', message('whole', 'heron and stork'), 'partial');
    expect([found('heron'), found('stork')]).toEqual([['whole'], ['whole']]);
    sessions.putMessage('s1', message('whole', 'egret'));
    expect([found('heron'), found('egret')]).toEqual([[], ['whole']]);
    sessions.takeBack('s1', 'run_1', ['whole']);
    expect(found('egret')).toEqual([]);
    sessions.appendMessage('s1', message('last', 'crane'));
    checkIndex();
    sessions.delete('s1');
    expect(found('crane')).toEqual([]);
    checkIndex();
    expect(store.sql.all('SELECT * FROM message_texts')).toEqual([]);
  });

  it('does not hold a message of a transaction that failed', () => {
    const fails = (): void =>
      store.sql.write('full', () => {
        sessions.appendMessage('s1', message('a', 'heron'));
        throw new Error('no');
      });
    expect(fails).toThrow('no');
    expect(found('heron')).toEqual([]);
    checkIndex();
  });

  it('leaves no word of a deleted session in the file', async () => {
    for (let each = 0; each < 50; each += 1)
      sessions.appendMessage('s1', message(`m${each}`, `kingfisher${each} loon`));
    const inFile = (): boolean => readFileSync(databaseIn(temp)).includes('kingfisher');
    store.close();
    expect(inFile()).toBe(true);
    await open();
    sessions.delete('s1');
    store.close();
    expect(inFile()).toBe(false);
    await open();
  });

  it('has the messages of a database of schema 1 after its upgrade, unreadable ones left out', async () => {
    store.close();
    temp.remove();
    temp = tempHome();
    await open({ migrations: migrations.slice(0, 1) });
    store.sql.run(
      `INSERT INTO sessions (id, tenant_id, name, workspace, created_at, message_count) VALUES ('s1', ?, 'work', '/', 1, 2)`,
      tenant,
    );
    store.sql.run('PRAGMA ignore_check_constraints = ON');
    const rows: readonly (readonly [string, string])[] = [
      ['a', JSON.stringify({ id: 'a', content: 'heron' })],
      ['b', '{"content'],
      ['c', '[1]'],
      ['d', JSON.stringify({ id: 'd', content: ['heron'] })],
    ];
    for (const [index, [id, payload]] of rows.entries()) {
      store.sql.run(
        `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
         VALUES (?, 's1', ?, 'user', 'message', ?, 'complete', 1)`,
        id,
        index + 1,
        payload,
      );
    }
    store.close();
    await open();
    expect(found('heron')).toEqual(['a']);
    checkIndex();
    sessions.delete('s1');
    expect(found('heron')).toEqual([]);
  });
});
