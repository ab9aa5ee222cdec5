import { expect, it } from 'vitest';
import { farewell } from '../../ui/farewell.ts';
import { anAsk } from './approvals/an-ask.ts';
import { pressAll, readyState } from './reducing.ts';

const asks = ['a', 'b', 'c', 'd'].map((letter) => anAsk({ id: `ask_01k000000000000000000${letter}` }));

it('says the session, what rests and what is open, in at most five lines', () => {
  const state = readyState({ asks, approvals: { ...readyState().approvals, ids: { [asks[0]?.id ?? '']: 'ask_a' } } });
  expect(farewell(state, { messages: 12, resting: ['run_3kq9x7'] })).toEqual([
    'reins: session work, 12 messages',
    'reins: run_3kq9x7 can go on: reins state resume run_3kq9x7',
    'reins: open: reins approvals respond ask_a --approve|--deny',
    'reins: open: reins approvals respond ask_01k000000000000000000b --approve|--deny',
    'reins: 2 more open asks: reins approvals list',
  ]);
});

it('names the list where several runs rest, and the way that an ask of another kind is answered', () => {
  const unknown = anAsk({ id: 'ask_u', kind: 'unknown_outcome' });
  expect(farewell(readyState({ asks: [unknown] }), { messages: null, resting: ['run_1', 'run_2'] })).toEqual([
    'reins: session work',
    'reins: 2 runs can go on: reins state list',
    'reins: open: reins approvals respond ask_u --treat-as run-again|done|skip',
  ]);
});

it('needs no question where there is no room for one: the runs rest', () => {
  const small = readyState({ size: { columns: 40, rows: 12 } });
  expect(pressAll(small, 'q').effects).toEqual([{ do: 'leave', cancel: false }]);
  expect(pressAll(small, 'ctrl+c').effects).toEqual([{ do: 'leave', cancel: false }]);
});
