import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ForkInput, forkSession } from '../../src/sessions/fork.ts';
import { createRuns } from '../../src/store/runs.ts';
import { createSessionCopies } from '../../src/store/session-copies.ts';
import { createSessionSummaries } from '../../src/store/session-summaries.ts';
import { startOfTime, tenant } from '../store/open.ts';
import { createPlace, type Place } from './place.ts';

let place: Place;
beforeEach(async () => {
  place = await createPlace();
  place.add('work');
});
afterEach(() => place.close());

const fork = (over: Partial<ForkInput> = {}) => {
  const { store, sessions, find } = place;
  const copies = createSessionCopies(store.sql, tenant);
  const deps = { sql: store.sql, sessions, copies, runs: createRuns(store.sql), find, now: () => startOfTime + 1000 };
  return forkSession(deps, { name: null, new_name: null, at: null, ...over });
};
const rows = (name: string) =>
  place.sessions
    .messages(place.find(name).id, { tools: true })
    .map(({ seq, role, payload, run_id }) => [seq, role, JSON.parse(payload).content, run_id]);
const asks = (...ids: string[]) => ({
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'a.b', arguments: '{}' } })),
});
/** Question, two calls with their results, answer; by run_1. */
const tellTurn = (): void => {
  place.say('work', 'user', 'q', { run_id: 'run_1' });
  place.say('work', 'assistant', '', { run_id: 'run_1', body: asks('c1', 'c2') });
  place.say('work', 'tool', 'r1', { run_id: 'run_1', body: { tool_call_id: 'c1' } });
  place.say('work', 'tool', 'r2', { run_id: 'run_1', body: { tool_call_id: 'c2' } });
  place.say('work', 'assistant', 'done', { run_id: 'run_1' });
};

describe('a fork', () => {
  it('has the messages in order under ids of its own, is active, and goes its own way', () => {
    tellTurn();
    const { session, from, messages, moved_back } = fork();
    expect([session.name, session.active, session.message_count, session.forked_from]).toEqual([
      'work-2',
      true,
      5,
      's1',
    ]);
    expect([from, messages, moved_back]).toEqual(['work', 5, null]);
    expect(session.last_message_at).toBe(new Date(startOfTime + 6).toISOString());
    expect(rows('work-2')).toEqual(rows('work'));
    const ids = place.store.sql.column<string>('SELECT id FROM messages');
    expect(new Set(ids).size).toBe(10);
    place.say('work', 'user', 'only here');
    place.say('work-2', 'user', 'only there');
    expect(rows('work').at(-1)).toEqual([6, 'user', 'only here', null]);
    expect(rows('work-2').at(-1)).toEqual([6, 'user', 'only there', null]);
  });

  it('keeps what a summary covers covered', () => {
    tellTurn();
    place.say('work', 'user', 'so far', { kind: 'summary', covers_to: 4 });
    fork();
    const history = JSON.parse(place.sessions.historyText(place.find('work-2').id)) as { content: string }[];
    expect(history.map(({ content }) => content)).toEqual(['so far', 'done']);
  });

  it('behind a summary of its own has the system messages and the rest, numbered on from it', () => {
    place.say('work', 'system', 'be kind');
    tellTurn();
    place.say('work', 'user', 'so far', { kind: 'summary', covers_to: 4 });
    place.say('work', 'user', 'more');
    place.add('copy');
    const copy = place.find('copy').id;
    const { sql } = place.store;
    createSessionSummaries(sql, tenant).insertFirst(copy, { id: 'sum', payload: '{"content":"all"}', run_id: 'r' }, 0);
    expect(createSessionCopies(sql, tenant).copyMessages('s1', copy, 8, 5)).toBe(4);
    expect(rows('copy').map(([seq, , text]) => [seq, text])).toEqual([
      [1, 'all'],
      [2, 'be kind'],
      [3, 'done'],
      [4, 'more'],
    ]);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 4],
    [5, 5],
  ])('up to message %i ends with message %i: calls are not parted from their results', (at, end) => {
    tellTurn();
    const { messages, moved_back } = fork({ at });
    expect(messages).toBe(end);
    expect(moved_back).toEqual(at === end ? null : { wanted: at, cut: end });
  });

  it.each(['running', 'waiting', 'suspended', 'interrupted'] as const)(
    'leaves out what a run that is %s has not finished',
    (status) => {
      tellTurn();
      place.run('run_2', 'work', status);
      place.say('work', 'user', 'next', { run_id: 'run_2' });
      place.say('work', 'assistant', '', { run_id: 'run_2', body: asks('c3', 'c4') });
      place.say('work', 'tool', 'r3', { run_id: 'run_2', body: { tool_call_id: 'c3' } });
      expect(fork()).toMatchObject({ messages: 6, moved_back: { wanted: 8, cut: 6 } });
      place.say('work', 'tool', 'r4', { run_id: 'run_2', body: { tool_call_id: 'c4' } });
      place.say('work', 'assistant', 'half a sen', { run_id: 'run_2', status: 'partial' });
      expect(fork({ name: 'work' })).toMatchObject({ messages: 9, moved_back: { wanted: 10, cut: 9 } });
    },
  );

  it('copies calls that an ended run left without a result, and text that arrived in part', () => {
    place.say('work', 'user', 'q');
    place.say('work', 'assistant', '', { run_id: 'run_1', body: asks('c1') });
    expect(fork()).toMatchObject({ messages: 2, moved_back: null });
    place.say('work', 'assistant', 'half', { run_id: 'run_1', status: 'partial' });
    expect(fork({ name: 'work' })).toMatchObject({ messages: 3, moved_back: null });
  });

  it('takes the next free name, cut to what a name may have', () => {
    expect(fork().session.name).toBe('work-2');
    expect(fork({ name: 'work' }).session.name).toBe('work-3');
    place.add('長'.repeat(64));
    expect(fork().session.name).toBe(`${'長'.repeat(62)}-2`);
  });

  it('is refused for a taken or bad name, an unknown session and a number that is not there, and leaves nothing', () => {
    tellTurn();
    const refusals = [
      [{ new_name: 'work' }, 'already_exists'],
      [{ new_name: 'a/b' }, 'usage'],
      [{ name: 'nope' }, 'not_found'],
      [{ at: 6 }, 'usage'],
      [{ at: 0 }, 'usage'],
    ] as const;
    for (const [input, code] of refusals) expect(() => fork(input)).toThrow(expect.objectContaining({ code }));
    expect(place.sessions.list().map(({ name }) => name)).toEqual(['work']);
    expect(place.sessions.activeId()).toBe('s1');
  });

  it('of an empty session is empty', () => {
    expect(fork().session).toMatchObject({ name: 'work-2', message_count: 0, last_message_at: null });
    expect(() => fork({ at: 1 })).toThrow('The session "work-2" has no messages; it cannot be copied up to 1.');
  });
});
