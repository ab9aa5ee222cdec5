import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchRun } from '../../src/runs/watch.ts';
import type { EventBody } from '../../src/schema/event.ts';
import { createEvents, type EventRef } from '../../src/store/events.ts';
import { createFeed, type Feed } from '../../src/store/feed.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
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
  for await (const batch of watchRun(feed, { run_id: 'run_a', after, signal: new AbortController().signal })) {
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
