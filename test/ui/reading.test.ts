import { expect, test } from 'vitest';
import type { CallItem, Item } from '../../src/view/items.ts';
import { textOf } from '../../src/view/line.ts';
import { emptyCall } from '../../src/view/transcript.ts';
import { blocksOf, chatLines } from '../../ui/chat-lines.ts';
import { layoutOf } from '../../ui/layout.ts';
import { planPaneLines } from '../../ui/plan/plan-lines.ts';
import { planned } from '../../ui/plan/plan-press.ts';
import { emptyPlan } from '../../ui/plan/plan-state.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { anAsk } from './approvals/an-ask.ts';
import { planOf, stepOf } from './plan/a-plan.ts';
import { pressAll, readyState } from './reducing.ts';

const call = (index: number): CallItem => ({
  ...emptyCall(`c${index}`, 'run_1'),
  batch: 'c0',
  tools: 'local_fs',
  tool: 'read_file',
  args: { path: `f${index}.txt` },
  state: 'ok',
});
const said = (id: string): Item => ({ kind: 'assistant', id, text: id, state: 'complete', seq: null });
const items: readonly Item[] = [said('before'), ...Array.from({ length: 8 }, (_, index) => call(index)), said('after')];

const chat = (state: State): readonly string[] =>
  chatLines(state, blocksOf(state, createLineCache(), 'unicode'), 14).map((line) => textOf(line).trimEnd());
const plan = (state: State): readonly string[] =>
  planPaneLines(state, createLineCache(), 'unicode', []).map((line) => textOf(line).trimEnd());

test('a batch of many calls is one item, which Enter shows call by call and C folds again', () => {
  const folded = ['  before', '', '• 8 calls: 8 done  +', '', '  after'];
  expect(chat(readyState({ items })).slice(0, 5)).toEqual(folded);
  const chosen = pressAll(readyState({ items }), 'ctrl+o', 'up').state;
  expect(chat(chosen)[2]).toBe('•▌8 calls: 8 done  +');
  expect(chat(pressAll(chosen, 'up').state)[0]).toBe(' ▌before');
  const open = pressAll(chosen, 'enter').state;
  expect(chat(open).filter((row) => row.includes('read_file'))).toHaveLength(8);
  expect(chat(open)[2]).toContain('•▌local_fs.read_file  f0.txt');
  expect(chat(pressAll(open, 'C').state)[2]).toBe('•▌8 calls: 8 done  +');
});

test('Enter on a call that waits goes to its card, and the guard holds there', () => {
  const ask = anAsk({ id: 'ask_1', run_id: 'run_1' });
  const waiting: Item = { ...call(0), ask_id: 'ask_1', state: 'pending' };
  const state = readyState({ items: [waiting], asks: [ask] });
  const asked = { ...state, approvals: { ...state.approvals, asks: [ask] } };
  const entered = pressAll(asked, 'ctrl+o', 'enter').state;
  expect(entered.reading).toBe(null);
  expect(entered.approvals.card?.id).toBe('ask_1');
});

test('Ctrl+C takes back an image that was attached before it quits', () => {
  const state = readyState();
  const attached = { ...state, composer: { ...state.composer, images: ['a.png'] } };
  const { state: next, effects } = pressAll(attached, 'ctrl+c');
  expect(next.composer.images).toEqual([]);
  expect([next.quitting, next.composer.history.entries, effects.filter((each) => each.do === 'quit')]).toEqual([
    null,
    [],
    [],
  ]);
});

test('the transcript of a step is read as that of a session is', () => {
  const running = planOf(stepOf(1, { status: 'failed', run_id: 'run_1' }));
  const own = { ...emptyPlan, loaded: true, plan: running, chosen: 'step1', run: 'run_1', items };
  const state = readyState({ pane: 'plan', plan: own });
  const reading = pressAll(state, 'ctrl+o', '{', 'up').state;
  expect(reading.pane).toBe('plan');
  const folded = plan(reading).find((row) => row.includes('8 calls'));
  expect(folded).toBe('•▌8 calls: 8 done  +');
  const open = pressAll(reading, 'enter').state;
  expect(plan(open).some((row) => row.includes('f0.txt'))).toBe(true);
  const searching = pressAll(open, '/', 'a', 'f', 't', 'e', 'r', 'enter').state;
  expect(searching.search?.hits).toEqual([{ id: 'after', after: null }]);
  expect(searching.reading?.selected).toBe('after');
  expect(pressAll(searching, 'q').state).toMatchObject({ pane: 'plan', reading: null, search: null });
  // A step that is done shows what came of it, and no transcript.
  const done = planOf(stepOf(1, { status: 'completed', run_id: 'run_1' }));
  expect(planned(searching, { type: 'loaded', plan: done }, 0).state).toMatchObject({ reading: null, search: null });
});

test('a search shows the row that holds it, opens what hides it, and closes that again', () => {
  const many = (word: string): string => Array.from({ length: 300 }, (_, index) => `${word} ${index + 1}`).join('\n');
  const items: readonly Item[] = [
    { kind: 'user', id: 'u1', text: `${many('log')}\nneedle one`, state: 'sent', seq: 1 },
    {
      kind: 'assistant',
      id: 'a1',
      text: many('text').replace('text 200', 'text needle two'),
      state: 'complete',
      seq: 2,
    },
    { kind: 'user', id: 'u2', text: 'thanks', state: 'sent', seq: 3 },
  ];
  const cache = createLineCache();
  const inView = (state: State): string =>
    chatLines(state, blocksOf(state, cache, 'unicode'), layoutOf(state).body)
      .map(textOf)
      .join('\n');
  const begun = pressAll(readyState({ items }), 'ctrl+o', '/', ...'needle').state;
  expect(inView(begun)).toContain('text needle two');
  const next = pressAll(begun, 'enter', 'N').state;
  expect(inView(next)).toContain('needle one');
  expect(next.toggled.has('u1')).toBe(true);
  const back = pressAll(next, 'n').state;
  expect(inView(back)).toContain('text needle two');
  expect(back.toggled.size).toBe(0);
  // Esc in the field goes back to where the search began.
  const left = pressAll(next, '/', ...'needle one', 'escape').state;
  expect([left.search, left.toggled.size]).toEqual([null, 0]);
});
