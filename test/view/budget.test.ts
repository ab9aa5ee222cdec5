import { expect, it } from 'vitest';
import { budgetWords } from '../../src/view/budget.ts';

it('says how much of a bound is used and what one more grant means, of one and of many', () => {
  const words = (args: object) => budgetWords(args);
  expect(words({ bound: 'maxTurns', used: 1, limit: 1, more: 1 })).toEqual({
    bound: 'maxTurns',
    used: '1 of 1 model call',
    grant: '1 more model call for this run; then it asks again',
  });
  expect(words({ bound: 'maxTokens', used: 12, limit: 10, more: 10 })).toEqual({
    bound: 'maxTokens',
    used: '12 of 10 tokens',
    grant: '10 more tokens for this run; then it asks again',
  });
});
