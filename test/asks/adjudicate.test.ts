import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { adjudicate, type Offer } from '../../src/asks/adjudicate.ts';
import type { Ask, Verdict } from '../../src/schema/ask.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const ask = { id: 'ask_1', kind: 'permission', policy: { name: 'p' }, record: {}, binding: 'b' } as Ask;

/** An agent whose answers come when the test says so. */
function agent(over: Partial<Offer> = {}) {
  const answers: ((text: string | null) => void)[] = [];
  const started: { turns: number; tokens: number }[] = [];
  const verdicts: Verdict[] = [];
  const shown: string[] = [];
  let stops = 0;
  let charged = 0;
  const offer: Offer = {
    ask,
    goal: null,
    cap: 2,
    tokens: 20_000,
    start: async ({ turns, tokens }) => {
      started.push({ turns, tokens });
      return {
        chain_id: 'judge',
        finished: () =>
          new Promise((resolve) => {
            answers.push((text) => resolve({ text, turns: 1, tokens: 7_000 }));
          }),
        stop: () => {
          stops += 1;
        },
      };
    },
    spent: (tokens) => {
      charged += tokens;
    },
    unchanged: async () => true,
    ...over,
  };
  const end = adjudicate(
    {
      asks: {
        adjudicate: (_ask, verdict) => {
          verdicts.push(verdict);
          return true;
        },
        showAdjudicator: (_ask, { state }) => {
          shown.push(state);
        },
      },
      now: () => 0,
    },
    offer,
  );
  const settle = () => vi.advanceTimersByTimeAsync(0);
  return {
    end,
    answer: async (text: string | null) => {
      await settle();
      answers.shift()?.(text);
      await settle();
    },
    settle,
    seen: () => ({ started, verdicts: verdicts.map(({ outcome, by }) => [outcome, by]), shown, stops, charged }),
  };
}

const approve = '{"ask_id":"ask_1","outcome":"approve"}';

it('has 60 s: its run is stopped then, and what it says later changes nothing', async () => {
  const judge = agent();
  await judge.settle();
  await vi.advanceTimersByTimeAsync(59_999);
  expect(judge.seen().stops).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(judge.seen().stops).toBe(1);
  await judge.answer(approve);
  expect(judge.seen()).toMatchObject({ verdicts: [], shown: ['looking', 'waited'], charged: 7_000 });
});

it('has three model calls and the tokens that are left, its correction among them', async () => {
  const judge = agent();
  await judge.answer('no JSON');
  await judge.answer('no JSON again');
  await judge.answer(approve);
  expect(judge.seen()).toMatchObject({
    started: [
      { turns: 3, tokens: 20_000 },
      { turns: 2, tokens: 13_000 },
    ],
    verdicts: [],
    charged: 14_000,
  });
});

it('says nothing where the asking run has no tokens left, and starts nothing', async () => {
  const judge = agent({ tokens: 0 });
  await judge.settle();
  expect(judge.seen()).toMatchObject({ started: [], shown: [] });
});

it('is ended by whoever answers first', async () => {
  const judge = agent();
  await judge.settle();
  judge.end();
  await judge.answer(approve);
  expect(judge.seen()).toMatchObject({ verdicts: [], stops: 1 });
});

it('gives its verdict under its name', async () => {
  const judge = agent();
  await judge.answer(approve);
  expect(judge.seen()).toMatchObject({ verdicts: [['approve', 'agent:judge']], charged: 7_000 });
});

it('has nothing to say when its chain cannot start', async () => {
  const judge = agent({ start: () => Promise.reject(new Error('untrusted')) });
  await judge.settle();
  expect(judge.seen()).toMatchObject({ verdicts: [], shown: [] });
});
