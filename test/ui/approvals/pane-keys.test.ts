import { expect, test } from 'vitest';
import { reduce } from '../../../ui/reducer.ts';
import { turnFrom } from '../../../ui/sending.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import { pressAll, readyState } from '../reducing.ts';
import { anAsk } from './an-ask.ts';

const wanted = (whole: boolean) => ({ do: 'ask', intent: { do: 'load-history', whole } });
const come = (state: Parameters<typeof reduce>[0]) =>
  reduce(
    state,
    { type: 'asks', asks: [anAsk()], ids: {}, now: 0 },
    { cache: createLineCache(), glyphs: 'unicode' as const },
  );

test('what was answered is read when the pane opens, and again with every change while it is open', () => {
  const opened = pressAll(readyState(), 'f4');
  expect(opened.effects).toEqual([wanted(false)]);
  expect(come(opened.state).effects).toEqual([wanted(false)]);
  expect(come(readyState()).effects).toEqual([]);
});

test('Ctrl+N pressed just after a card took the keys by itself stays with that card', () => {
  const turn = { ...turnFrom(0), run_id: anAsk().run_id };
  const asks = [anAsk(), anAsk({ id: 'ask_other', run_id: 'run_other' })];
  const shown = reduce(
    readyState({ turn }),
    { type: 'asks', asks, ids: {}, now: 5000 },
    { cache: createLineCache(), glyphs: 'unicode' },
  ).state;
  expect(shown.approvals.card?.id).toBe(anAsk().id);
  const once = pressAll({ ...shown, now: 5000 }, 'ctrl+n').state;
  expect(once.approvals.card?.id).toBe(anAsk().id);
  expect(pressAll(once, 'ctrl+n').state.approvals.card?.id).toBe('ask_other');
  expect(pressAll({ ...shown, now: 9000 }, 'ctrl+n').state.approvals.card?.id).toBe('ask_other');
});

test('Ctrl+C closes what Esc closes in the list before it speaks of quitting', () => {
  const list = pressAll(come(readyState()).state, 'f4').state;
  const quits = { quitting: { key: 'Ctrl+C' } };
  const filtering = pressAll(list, '/', 'x', 'ctrl+c').state;
  expect(filtering.approvals.filter).toMatchObject({ typing: false, editing: { text: '' } });
  expect(filtering).not.toMatchObject(quits);
  const asking = pressAll(list, 'space', 'n');
  expect(asking.state.approvals.denying).not.toBe(null);
  const back = pressAll(asking.state, 'ctrl+c').state;
  expect(back.approvals.denying).toBe(null);
  expect(back).not.toMatchObject(quits);
  expect(pressAll(back, 'ctrl+c').state).toMatchObject(quits);
});
