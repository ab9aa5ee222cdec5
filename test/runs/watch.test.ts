import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import { watchRun } from '../../src/runs/watch.ts';
import type { EventBody } from '../../src/schema/event.ts';
import { createEvents, type EventRef } from '../../src/store/events.ts';
import { createFeed, type Feed } from '../../src/store/feed.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
import { scriptedApp } from '../support/scripted-app.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let place: TempHome;
let store: OpenedStore;
let feed: Feed;
beforeEach(async () => {
  place = tempHome();
  const path = join(place.workspace, 'local.db');
  const { home: reinsHome } = place;
  store = await openStore({ path, mode: 'create', reinsHome, version: '0', now: Date.now, warn: () => {} });
  const { sql } = store;
  insertRun(sql, 'run_a');
  feed = createFeed({ sql, events: createEvents(sql), now: () => 0, mask: (value) => value });
});
afterEach(() => {
  store.close();
  place.remove();
});

const ref: EventRef = { run_id: 'run_a', session_id: null, mission_id: 'run_a', chain_id: 'c', tenant_id: 't' };
const happen = (...bodies: readonly EventBody[]): void => {
  for (const body of bodies) feed.commit('normal', (record) => record(ref, body));
};
const rests: EventBody = { kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq: 0 };
const resumed: EventBody = { kind: 'chain_resumed', by: 'operator:cli', from_seq: 1 };
const print = (text: string): EventBody => ({ kind: 'print', text });

const kinds = async (after: number, then: () => void): Promise<readonly string[]> => {
  const seen: string[] = [];
  const input = { run_id: 'run_a', after, signal: new AbortController().signal };
  const nothing = () => null;
  for await (const batch of watchRun(feed, input, nothing, Date.now)) {
    if (seen.length === 0) then();
    seen.push(...batch.map(({ kind }) => kind));
  }
  return seen;
};

it('goes on over a rest that lies behind the run, and ends where it rests now', async () => {
  happen(print('one'), rests, resumed, print('two'));
  expect(await kinds(0, () => happen(print('three'), rests))).toEqual([
    'print',
    'chain_suspended',
    'chain_resumed',
    'print',
    'print',
    'chain_suspended',
  ]);
  // The rest that was watched for is an end, whoever takes the run up behind it.
  expect(await kinds(4, () => happen(resumed))).toEqual(['print', 'chain_suspended']);
});

it('tells what a run had begun to say when its process died in front of its rest, and nothing of it while it rests', async () => {
  const task = { task_id: 't', task_handler: 'chat_completion', attempt: 1 } as const;
  happen({ ...task, kind: 'step_started', input_type: 'string', input_var: 'input' }, rests);
  const told = async (after: number): Promise<readonly string[]> => {
    const seen: string[] = [];
    const end = new AbortController();
    const input = { run_id: 'run_a', after, signal: end.signal };
    for await (const batch of watchRun(
      feed,
      input,
      () => ({ text: 'half a sen', thinking: '' }),
      () => 0,
    )) {
      seen.push(...batch.map((event) => (event.kind === 'step_chunk' ? `=${event.content}` : event.kind)));
      if (after > 1) end.abort();
    }
    return seen;
  };
  expect(await told(0)).toEqual(['step_started', '=half a sen', 'chain_suspended']);
  expect(await told(1)).toEqual(['=half a sen', 'chain_suspended']);
  // As a stream goes on that waits for what comes behind the rest.
  const waits = told(2);
  happen(print('something'));
  expect(await waits).toEqual(['print']);
});

describe('the words of a run of another process', () => {
  const chunks = async (client: RuntimeClient, run: string, until: string, after = 0): Promise<readonly string[]> => {
    const seen: string[] = [];
    for await (const batch of client.watch({ run_id: run, after, signal: new AbortController().signal })) {
      for (const event of batch) {
        if (event.kind === 'step_chunk') {
          const { from_start, thinking, content } = event;
          const thought = thinking === undefined ? '' : `(${thinking})`;
          seen.push(`${from_start === true ? '=' : '+'}${thought}${content ?? ''}`);
        }
        if (event.kind === 'message' && event.message.role === 'assistant') seen.push(event.message.content);
      }
      if (seen.some((text) => text.includes(until))) return seen;
    }
    return seen;
  };

  it('stand ahead of the rest in which they broke off, also for who has followed it as it came', async () => {
    const steps = [{ text: 'one ' }, { wait_ms: 800 }, { text: 'two ' }, { wait_ms: 60_000 }, { text: 'three' }];
    const app = await scriptedApp({ turns: [{ reply: { steps } }] });
    try {
      const other = await app.open();
      const { run_id } = await app.chat('say it');
      const told = async (client: RuntimeClient, after: number): Promise<readonly string[]> => {
        const seen: string[] = [];
        for await (const batch of client.watch({ run_id, after, signal: AbortSignal.timeout(5000) }))
          seen.push(...batch.map((event) => (event.kind === 'step_chunk' ? (event.content ?? '') : event.kind)));
        return seen;
      };
      const along = told(other, 0);
      await chunks(other, run_id, 'one');
      await app.client.stopRun({ run_id, reason: 'shutdown', within_ms: 0 });
      expect((await along).slice(-2)).toEqual([expect.stringMatching(/one|two/), 'chain_suspended']);
      for (const client of [app.client, other]) {
        expect((await told(client, 0)).slice(-2)).toEqual([expect.stringContaining('one'), 'chain_suspended']);
        const { last_seq } = await client.showRun({ run_id });
        const behind: string[] = [];
        const signal = AbortSignal.timeout(300);
        for await (const batch of client.watch({ run_id, after: last_seq, signal }))
          behind.push(...batch.map(({ kind }) => kind));
        expect(behind).toEqual([]);
      }
    } finally {
      await app.close();
    }
  });

  it('are read along as they are stored, from the middle of a message too, and end with the message itself', async () => {
    const pause = { wait_ms: 800 };
    const steps = [{ text: 'one ' }, pause, { text: 'two ' }, pause, { text: 'three' }, { finish: 'stop' }];
    const app = await scriptedApp({ turns: [{ reply: { steps } }] });
    try {
      const other = await app.open();
      const { run_id } = await app.chat('say it');
      const all = chunks(other, run_id, 'three');
      const late = all.then(() => app.client.awaitRun({ run_id }));
      await chunks(other, run_id, 'two');
      const { last_seq } = await other.showRun({ run_id });
      expect(await chunks(other, run_id, 'three', last_seq)).toEqual(['=one two ', 'one two three']);
      expect(await all).toEqual(['=one ', '+two ', 'one two three']);
      await late;
    } finally {
      await app.close();
    }
  });

  it('are read along with what was thought before them, and that from its beginning', async () => {
    const pause = { wait_ms: 800 };
    const steps = [{ thinking: 'hm ' }, pause, { thinking: 'so ' }, pause, { text: 'one ' }, pause, { text: 'two' }];
    const app = await scriptedApp({ turns: [{ reply: { steps: [...steps, { finish: 'stop' }] } }] });
    try {
      const other = await app.open();
      const { run_id } = await app.chat('say it');
      expect(await chunks(other, run_id, 'one two')).toEqual(['=(hm )', '+(so )', '+one ', 'one two']);
      await app.client.awaitRun({ run_id });
      const { messages } = await other.showSession({ name: null, tail: 10, tools: true });
      expect(messages.map(({ text, thinking, status }) => [text, thinking, status])).toEqual([
        ['say it', null, 'complete'],
        ['one two', 'hm so ', 'complete'],
      ]);
    } finally {
      await app.close();
    }
  });
});
