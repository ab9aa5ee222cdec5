import { expect, test } from 'vitest';
import type { RuntimeClient } from '../../../src/client/operations.ts';
import type { RunEvent } from '../../../src/schema/event.ts';
import type { SessionMessage } from '../../../src/schema/session.ts';
import type { Item } from '../../../src/view/items.ts';
import { storedItems } from '../../../src/view/stored-items.ts';
import type { Action } from '../../../ui/actions.ts';
import { textOf } from '../../../src/view/line.ts';
import { blocksOf, chatLines, newestBlocks, newLinesText } from '../../../ui/chat-lines.ts';
import { plainLook } from '../../../src/view/plain-lines.ts';
import { dumpLines } from '../../../ui/dump.ts';
import { layoutOf } from '../../../ui/layout.ts';
import { reduce } from '../../../ui/reducer.ts';
import type { State } from '../../../ui/state.ts';
import { createFinder, pageOf, pageSize } from '../../../ui/stored-pages.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import { shownItems } from '../../../ui/transcript/stretch.ts';
import { rowsInView } from '../../../ui/transcript/viewport.ts';
import { anAsk } from '../approvals/an-ask.ts';
import { keyOfWords, pressAll, readyState } from '../reducing.ts';

const total = 6000;
const message = (seq: number, over: Partial<SessionMessage> = {}): SessionMessage => ({
  seq,
  id: `m${seq}`,
  role: seq % 2 === 1 ? 'user' : 'assistant',
  kind: 'message',
  status: 'complete',
  text: `Message ${seq}.`,
  thinking: null,
  tool_calls: [],
  tool_call_id: null,
  run_id: null,
  error: null,
  created_at: '',
  ...over,
});

/** A screen on a stored session; what it asks of the store is answered at once. */
function screenOn(messages: readonly SessionMessage[]) {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const exportSession = async ({ after }: { readonly after: number }) => {
    const page = messages.filter(({ seq }) => seq > after).slice(0, pageSize);
    return { messages: page, next: null };
  };
  // Of the client only this operation is used here.
  const client = { exportSession } as unknown as RuntimeClient;
  const newest = messages.slice(-pageSize);
  let state: State = readyState({
    items: storedItems(newest),
    session: { id: 's1', name: 'work', before: newest[0]?.seq ?? null, loading: false, deleted: false },
  });
  const waiting: Action[] = [];
  const finder = createFinder((query, hits) => waiting.push({ type: 'found', query, hits }));
  const dispatch = async (action: Action): Promise<void> => {
    const { state: next, effects } = reduce(state, action, ruler);
    state = next;
    for (const effect of effects) {
      if (effect.do === 'load-page')
        await dispatch({
          type: 'page',
          session: 's1',
          wish: effect.wish,
          page: await pageOf(client, 's1', effect.wish),
        });
      if (effect.do === 'find') await finder.find(client, 's1', effect.query, effect.before);
    }
    for (let action = waiting.shift(); action !== undefined; action = waiting.shift()) await dispatch(action);
  };
  return {
    client,
    state: () => state,
    dispatch,
    async press(...keys: readonly string[]) {
      for (const key of keys) await dispatch({ type: 'key', key: keyOfWords(key), now: state.now + 1000 });
    },
    /** Numbers of the messages in view. */
    view() {
      const rows = rowsInView(blocksOf(state, ruler.cache, ruler.glyphs), state.anchor, layoutOf(state).body);
      const items = shownItems(state);
      const texts = [...new Set(rows.map(({ index }) => items[index]))].map((item) =>
        item !== undefined && 'text' in item ? item.text : '',
      );
      return texts.map((text) => Number(/\d+/.exec(text)?.[0]));
    },
  };
}

const all = Array.from({ length: total }, (_, index) => message(index + 1));
const held = ({ items, far }: State) => items.length + (far?.items.length ?? 0);

test('pages through a long session both ways without a gap, and holds only a part of it', async () => {
  const screen = screenOn(all);
  let most = 0;
  let [top = total] = screen.view();
  for (let page = 0; page < 2000 && top > 1; page += 1) {
    await screen.press('pageup');
    const seen = screen.view();
    expect(seen.at(-1)).toBeGreaterThanOrEqual(top - 1);
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => (seen[0] ?? 0) + index));
    top = seen[0] ?? 0;
    most = Math.max(most, held(screen.state()));
  }
  expect(top).toBe(1);
  expect(most).toBeLessThan(4600);

  let bottom = screen.view().at(-1) ?? 0;
  for (let page = 0; page < 2000 && screen.state().anchor !== null; page += 1) {
    await screen.press('pagedown');
    const seen = screen.view();
    expect(seen[0]).toBeLessThanOrEqual(bottom + 1);
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => (seen[0] ?? 0) + index));
    bottom = seen.at(-1) ?? 0;
    most = Math.max(most, held(screen.state()));
  }
  expect(bottom).toBe(total);
  expect(most).toBeLessThan(4600);
});

test('goes to the first line and back without what is between them', async () => {
  const screen = screenOn(all);
  await screen.press('ctrl+home');
  expect(screen.view()[0]).toBe(1);
  expect(held(screen.state())).toBeLessThan(2 * pageSize + 1);

  await screen.press('ctrl+end');
  expect(screen.view().at(-1)).toBe(total);
  expect(screen.state().far).toBeNull();
});

test('finds what is stored, shows it where it stands, and goes back', async () => {
  const screen = screenOn(all);
  await screen.press('pageup');
  const before = screen.view();
  await screen.press('ctrl+o', '/', 'e', 'space', '1', '2', '3', '.');
  expect(screen.state().search?.hits.map(({ id }) => id)).toEqual(['m123']);
  expect(screen.view()).toContain(123);

  await screen.press('escape');
  expect(screen.view()).toEqual(before);
});

test('lets go of what came while it was written, once its numbers are known', async () => {
  const screen = screenOn(all);
  const { session, items } = screen.state();
  const live = Array.from({ length: 3000 }, (_, turn): Item => {
    const id = { id: `run:${turn}`, message_id: `n${turn}` };
    return { kind: 'assistant', ...id, text: `Message ${total + 1 + turn}.`, state: 'complete', seq: null };
  });
  await screen.dispatch({ type: 'opened', session, items: [...items, ...live], resting: null });
  const numbers = new Map(live.map((_, turn) => [`n${turn}`, total + 1 + turn]));
  await screen.dispatch({ type: 'stored', numbers });
  await screen.dispatch({ type: 'events', run_id: 'run', events: [], now: 1 });
  expect(screen.state().items).toHaveLength(2000);
  expect(screen.state().session?.before).toBe(total + 1001);
});

test('a page that could not be read is asked for again', () => {
  const state = readyState({
    items: storedItems(all.slice(-pageSize)),
    session: { id: 's1', name: 'work', before: total - pageSize + 1, loading: false, deleted: false },
  });
  const top = pressAll(state, 'ctrl+home');
  expect(top.effects).toHaveLength(1);
  const failed = reduce(top.state, { type: 'no-page' }, { cache: createLineCache(), glyphs: 'unicode' });
  expect(pressAll(failed.state, 'pageup').effects).toMatchObject([{ do: 'load-page', wish: { toward: 'older' } }]);
});

test('a view that is paused stays where it is when what was queued is sent', async () => {
  const screen = screenOn(all);
  await screen.dispatch({ type: 'following', run_id: 'r1', line: false, elsewhere: false, now: 1 });
  await screen.press('h', 'i', 'enter', 'pageup');
  const before = screen.view();
  await screen.dispatch({ type: 'compose', action: { type: 'turn-ended', completed: true }, now: 2 });

  expect(screen.state().items.at(-1)).toMatchObject({ kind: 'user', text: 'hi', state: 'pending' });
  expect(screen.view()).toEqual(before);
});

test('a paused view says how much came, and that an ask is among it', async () => {
  const screen = screenOn(all);
  await screen.press('pageup');
  const before = screen.view();
  const base = { v: 1, seq: 1, timestamp: '', run_id: 'r1', session_id: 's1', chain_id: 'c' } as const;
  const call = { call_id: 'c1', tools: 'local_shell', tool: 'local_shell' } as const;
  const news = () =>
    textOf(newLinesText(screen.state(), newestBlocks(screen.state(), createLineCache(), 'unicode'), 10));
  const pending = { ...base, ...call, kind: 'tool_call_pending', args: {}, batch_index: 0, batch_size: 1 } as const;
  await screen.dispatch({ type: 'events', run_id: 'r1', events: [pending], now: 1 });
  expect(news()).toBe('▼ 2 new lines · End');

  const ask = anAsk({ run_id: 'r1' });
  const asked = {
    ...base,
    ...call,
    kind: 'ask',
    ask_id: ask.id,
    ask_kind: 'permission',
    args: {},
    summary: '',
  } as const;
  await screen.dispatch({ type: 'events', run_id: 'r1', events: [asked as unknown as RunEvent], now: 1 });
  await screen.dispatch({ type: 'asks', asks: [ask], ids: {}, now: 1 });
  expect(news()).toBe('▼ an ask waits · Ctrl+N');
  expect(screen.view()).toEqual(before);
});

test('a paused view takes no row for a new one that a resize has made', async () => {
  const text = Array.from({ length: 60 }, (_, word) => `word${word}`).join(' ');
  const screen = screenOn([message(1, { text }), message(2, { text }), message(3, { text })]);
  const news = () =>
    textOf(newLinesText(screen.state(), newestBlocks(screen.state(), createLineCache(), 'unicode'), 10));
  await screen.dispatch({ type: 'resize', size: { columns: 80, rows: 16 }, now: 1 });
  await screen.press('pageup');
  expect(screen.state().anchor).not.toBeNull();
  expect(news()).toBe('');
  await screen.dispatch({ type: 'resize', size: { columns: 60, rows: 16 }, now: 2 });
  expect(news()).toBe('');
  const base = { v: 1, seq: 1, timestamp: '', run_id: 'r1', session_id: 's1', chain_id: 'c' } as const;
  const print = { ...base, kind: 'print', text: 'one more line' } as unknown as RunEvent;
  await screen.dispatch({ type: 'events', run_id: 'r1', events: [print], now: 3 });
  const came = news();
  expect(came).toMatch(/^▼ \d new lines · End$/);
  await screen.dispatch({ type: 'resize', size: { columns: 100, rows: 16 }, now: 4 });
  expect(news()).toBe(came);
});

test('the text at the top of a paused view stays there at any width, and comes back to its row', async () => {
  const text = Array.from({ length: 400 }, (_, word) => `word${word}`).join(' ');
  const screen = screenOn([message(1), message(2, { text }), message(3)]);
  const wide = { columns: 120, rows: 16 };
  const top = () => {
    const { anchor } = screen.state();
    const blocks = blocksOf(screen.state(), createLineCache(), 'unicode');
    return textOf(rowsInView(blocks, anchor, 1)[0]?.line ?? []).trim();
  };
  await screen.dispatch({ type: 'resize', size: wide, now: 1 });
  await screen.press('pageup', 'pageup');
  const before = top();
  const [first = ''] = before.split(' ');
  expect(Number(first.slice(4))).toBeGreaterThan(50);
  for (const columns of [100, 73, 30, 60]) {
    await screen.dispatch({ type: 'resize', size: { columns, rows: 16 }, now: 2 });
    if (columns >= 60) expect(top().split(' ')).toContain(first);
  }
  await screen.dispatch({ type: 'resize', size: wide, now: 3 });
  expect(top()).toBe(before);
});

test('a dump has all of the session, or its last turns, in order', async () => {
  const { client, state } = screenOn(all);
  const numbers = async (turns: number | null) => {
    const { lines, left } = await dumpLines(async () => client, state(), turns, plainLook);
    return [lines.length, left, lines[0], lines.at(-1)];
  };
  expect(await numbers(null)).toEqual([5000, 1000, 'you: Message 1001.', 'reins: Message 6000.']);
  expect(await numbers(2)).toEqual([4, 0, 'you: Message 5997.', 'reins: Message 6000.']);
  // Among lines, what is longer than the terminal goes on under a sign of ours, not in the first column.
  const narrow = await dumpLines(async () => client, state(), 1, { ...plainLook, columns: 16 });
  expect(narrow.lines).toEqual(['you: Message', '     | 5999.', 'reins: Message', '     | 6000.']);
  expect(await numbers(300)).toEqual([600, 0, 'you: Message 5401.', 'reins: Message 6000.']);
});

test('a page never parts a call from its result', async () => {
  const calls = [{ id: 'c1', name: 'local_fs.read_file', arguments: '{}' }];
  const messages = [
    ...Array.from({ length: 150 }, (_, index) => message(index + 1)),
    message(151, { role: 'assistant', tool_calls: calls, text: 'Message 151.' }),
    message(152, { role: 'tool', tool_call_id: 'c1', text: 'read' }),
    ...Array.from({ length: 200 }, (_, index) => message(index + 153)),
  ];
  const screen = screenOn(messages);
  const session = screen.state().session;
  await screen.dispatch({
    type: 'opened',
    session: session === null ? null : { ...session, before: 153 },
    items: storedItems(messages.slice(-200)),
    resting: null,
  });
  for (let page = 0; page < 60; page += 1) await screen.press('pageup');
  expect(screen.state().items.find(({ id }) => id === 'c1')).toMatchObject({
    kind: 'call',
    state: 'ok',
    result: 'read',
  });
});

test('a page that takes long says so in its place, until it is there', () => {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const items = storedItems(Array.from({ length: 200 }, (_, index) => message(201 + index)));
  const start = readyState({
    items,
    session: { id: 's1', name: 'work', before: 201, loading: false, deleted: false },
  });
  const asked = pressAll(start, 'ctrl+home');
  expect(asked.effects.map((effect) => effect.do)).toEqual(['load-page']);
  const first = (state: State): string =>
    textOf(chatLines(state, blocksOf(state, ruler.cache, 'unicode'), 10)[0] ?? []);
  const slow = reduce(asked.state, { type: 'slow-page', toward: 'place' }, ruler).state;
  expect(first(slow)).toBe('  loading…');
  expect(first(reduce(slow, { type: 'no-page' }, ruler).state)).toBe('› Message 201.');
});
