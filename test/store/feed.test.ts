import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EventBody, RunEvent } from '../../src/schema/event.ts';
import { createEvents, type EventRef } from '../../src/store/events.ts';
import { createFeed, type Feed } from '../../src/store/feed.ts';
import { type OpenedStore, openStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let place: TempHome;
let stores: OpenedStore[];

const ref: EventRef = { run_id: 'run_a', session_id: null, mission_id: 'run_a', chain_id: 'c', tenant_id: 't' };
const print = (text: string): EventBody => ({ kind: 'print', text });

async function open(): Promise<{ store: OpenedStore; feed: Feed }> {
  const store = await openStore({
    path: join(place.workspace, 'local.db'),
    mode: 'create',
    reinsHome: place.home,
    version: '0',
    now: Date.now,
    warn: () => {},
  });
  stores.push(store);
  const { sql } = store;
  if (stores.length === 1) insertRun(sql, 'run_a');
  return { store, feed: createFeed({ sql, events: createEvents(sql), now: () => 0, mask: (value) => value }) };
}

beforeEach(() => {
  place = tempHome();
  stores = [];
});
afterEach(() => {
  for (const store of stores) store.close();
  place.remove();
});

const textOf = (event: RunEvent): string => (event.kind === 'print' ? `${event.seq} ${event.text}` : event.kind);

it('publishes an event after its transaction stands, and not at all when it is rolled back', async () => {
  const { store, feed } = await open();
  const heard: string[] = [];
  const count = (): number => store.sql.get<{ n: number }>('SELECT count(*) AS n FROM events')?.n ?? 0;
  feed.listen('run_a', (event) => heard.push(`${textOf(event)} stored=${count()}`));
  feed.commit('full', (record) => {
    record(ref, print('one'));
    record(ref, print('two'));
    expect(heard).toEqual([]);
  });
  expect(heard).toEqual(['1 one stored=2', '2 two stored=2']);
  expect(() =>
    feed.commit('full', (record) => {
      record(ref, print('three'));
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(heard).toHaveLength(2);
  expect(feed.replay('run_a', 1).map(textOf)).toEqual(['2 two']);
});

it('numbers the events of a run without a gap when two processes write them', async () => {
  const one = await open();
  const other = await open();
  for (let index = 0; index < 10; index += 1) {
    const { feed } = index % 2 === 0 ? one : other;
    feed.commit('normal', (record) => record(ref, print(String(index))));
  }
  expect(one.feed.replay('run_a', 0).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it("gives a listener the other process's events in their order", async () => {
  const one = await open();
  const other = await open();
  const heard: string[] = [];
  let wake = (): void => {};
  one.feed.listen('run_a', (event) => {
    heard.push(textOf(event));
    wake();
  });
  one.feed.commit('normal', (record) => record(ref, print('mine')));
  other.feed.commit('normal', (record) => record(ref, print('theirs')));
  one.feed.commit('normal', (record) => record(ref, print('mine again')));
  expect(heard).toEqual(['1 mine', '2 theirs', '3 mine again']);
  const arrived = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const stop = one.feed.poll(() => {});
  other.feed.commit('normal', (record) => record(ref, print('theirs again')));
  await arrived;
  stop();
  expect(heard.at(-1)).toBe('4 theirs again');
});

it('delivers deltas without storing them', async () => {
  const { feed } = await open();
  const heard: string[] = [];
  feed.listen('run_a', (event) => heard.push(`${event.kind} ${event.seq}`));
  feed.live(ref, { kind: 'tool_output', call_id: 'c', stream: 'stdout', text: 'x' });
  expect(heard).toEqual(['tool_output 0']);
  expect(feed.replay('run_a', 0)).toEqual([]);
});

it('cuts strings above 64 KiB and names the members', async () => {
  const { feed } = await open();
  feed.commit('normal', (record) => record(ref, print('x'.repeat(70_000))));
  const [event] = feed.replay('run_a', 0);
  expect(event?.kind === 'print' && event.text.length).toBe(65_536);
  expect(event?.truncated).toEqual(['text']);
});
