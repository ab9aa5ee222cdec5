import { expect, it } from 'vitest';
import { callBound, exhaustedText, shareOf, turnBound } from '../../src/gate/bounds.ts';
import type { ComputeBounds } from '../../src/schema/policy.ts';
import { noCounters } from '../../src/store/runs.ts';

const unbounded: ComputeBounds = {
  maxTurns: 0,
  maxToolCalls: 0,
  maxTokens: 0,
  modelAllowlist: [],
  backendAllowlist: [],
  onExhausted: 'fail',
};
const loose = { maxTurns: 0, maxToolCalls: 0, maxTokens: 0 };

it('is unbounded where neither policy nor flag says a number', () => {
  expect(turnBound(unbounded, loose, { ...noCounters, turns: 1e9, tokens: 1e12 })).toBeNull();
  expect(callBound(unbounded, loose, { ...noCounters, tool_calls: 1e9 })).toBeNull();
});

it('lets a flag lower a bound and never raise it', () => {
  const three = { ...unbounded, maxToolCalls: 3 };
  expect(callBound(three, { ...loose, maxToolCalls: 1 }, { ...noCounters, tool_calls: 1 })).toEqual({
    bound: 'maxToolCalls',
    used: 1,
    limit: 1,
    action: 'fail',
  });
  expect(callBound(three, { ...loose, maxToolCalls: 100 }, { ...noCounters, tool_calls: 3 })?.limit).toBe(3);
});

it('counts tokens before a turn and names what is used up', () => {
  const bounds = { ...unbounded, maxTokens: 1000, onExhausted: 'finish' as const };
  expect(turnBound(bounds, loose, { ...noCounters, tokens: 999 })).toBeNull();
  const exhausted = turnBound(bounds, loose, { ...noCounters, tokens: 1000 });
  expect(exhausted).toEqual({ bound: 'maxTokens', used: 1000, limit: 1000, action: 'finish' });
});

it('grants the bound itself once more for each grant, and a lowered bound as it was lowered', () => {
  const three = { ...unbounded, maxToolCalls: 3, onExhausted: 'ask' as const };
  const granted = { ...noCounters, tool_calls: 3, grants: { maxToolCalls: 1 } };
  expect(callBound(three, loose, granted)).toBeNull();
  expect(callBound(three, loose, { ...granted, tool_calls: 6 })).toEqual({
    bound: 'maxToolCalls',
    used: 6,
    limit: 6,
    action: 'ask',
  });
  expect(callBound(three, { ...loose, maxToolCalls: 2 }, { ...granted, tool_calls: 4 })?.limit).toBe(4);
  expect(shareOf(three, { ...loose, maxToolCalls: 2 }, 'maxToolCalls')).toBe(2);
});

it('names what is used up', () => {
  expect(exhaustedText({ bound: 'maxTurns', used: 5, limit: 5, action: 'fail' })).toBe(
    'compute bound exhausted: maxTurns 5/5',
  );
});
