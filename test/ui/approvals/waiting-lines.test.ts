import { expect, test } from 'vitest';
import { textOf } from '../../../src/view/line.ts';
import { emptyApprovals } from '../../../ui/approvals/approvals-state.ts';
import { newCard } from '../../../ui/approvals/card-state.ts';
import { waitingLines } from '../../../ui/approvals/waiting-lines.ts';
import type { State } from '../../../ui/state.ts';
import { readyState } from '../reducing.ts';
import { anAsk } from './an-ask.ts';
import { turnFrom } from '../../../ui/sending.ts';

const run = 'run_1';
const turn = { ...turnFrom(0), run_id: run, waiting_since: 0 };
const asks = ['one', 'two', 'three', 'four'].map((name) =>
  anAsk({ id: `ask_${name}`, run_id: run, args: { command: `touch ${name}` } }),
);
const screen = (count: number, over: Partial<State> = {}): State =>
  readyState({ turn, approvals: { ...emptyApprovals, asks: [...asks.slice(0, count), anAsk()] }, ...over });
const rows = (state: State) => waitingLines(state, 60).map(textOf);

test('an ask that was left for later stays in sight, with the key that goes back to it', () => {
  expect(rows(screen(1))).toEqual(['┏ ask_one · local_shell.local_shell  touch o… waits · Ctrl+N']);
});

test('the asks behind a card have a row each, and many of them a count', () => {
  const [first = anAsk()] = asks;
  const { approvals } = screen(4);
  const carded = { approvals: { ...approvals, card: newCard(first, 0, 400) } };
  expect(rows(screen(4, carded))).toEqual([
    '┏ ask_two · local_shell.local_shell  touch two         waits',
    '┏ ask_three · local_shell.local_shell  touch three     waits',
    '┏ ask_four · local_shell.local_shell  touch four       waits',
  ]);
  expect(rows(screen(4)).at(-1)).toBe('┏ 2 more wait');
});

test('a view that is paused is not moved, and asks of other runs stand elsewhere', () => {
  expect(rows(screen(1, { anchor: { id: 'a', line: 0 } }))).toEqual([]);
  expect(rows(screen(0))).toEqual([]);
});

test('what an ask says cannot pose as its row', () => {
  const hostile = { ...emptyApprovals, asks: [anAsk({ run_id: run, args: { command: 'a\u001b[2J\n┏ b' } })] };
  const [row = ''] = waitingLines(readyState({ turn, approvals: hostile, glyphs: 'ascii' }), 120).map(textOf);
  expect(row).toContain('# ask_01k0000000000000000008d2k4m');
  expect(row).not.toMatch(/[\u001b\n]/);
});
