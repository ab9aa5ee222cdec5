import { expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import { farewell, lastWords } from '../../ui/farewell.ts';
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

it('leaves the last turn on the terminal, of a long answer both ends, and all of it where all was asked for', async () => {
  const text = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join('\n');
  const state = readyState({
    items: [
      { kind: 'user', id: 'u', text: 'go', state: 'sent', seq: 1 },
      { kind: 'assistant', id: 'a', text, state: 'complete', seq: 2 },
    ],
  });
  const words = async (dump: string): Promise<readonly string[]> => {
    const lines: string[] = [];
    // What is in memory needs no client.
    for await (const line of lastWords(state, dump, async () => ({}) as RuntimeClient)) lines.push(line);
    return lines;
  };
  const last = await words('last');
  expect([last.length, last[0], last[100], last[101], last.at(-1)]).toEqual([
    122,
    'you: go',
    '     | line 100',
    'note: 380 more lines: reins session show work',
    '     | line 500',
  ]);
  expect(await words('all')).toHaveLength(501);
  expect(await words('none')).toEqual([]);
});

it('needs no question where there is no room for one: the runs rest', () => {
  const small = readyState({ size: { columns: 40, rows: 12 } });
  expect(pressAll(small, 'q').effects).toEqual([{ do: 'leave', cancel: false }]);
  expect(pressAll(small, 'ctrl+c').effects).toEqual([{ do: 'leave', cancel: false }]);
});
