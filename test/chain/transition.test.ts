import { describe, expect, test } from 'vitest';
import { compose, composedName } from '../../src/chain/compose.ts';
import { type Choice, chooseBranch } from '../../src/chain/transition.ts';
import type { Branch, Task } from '../../src/schema/chain.ts';
import type { Message } from '../../src/schema/message.ts';

const taskWith = (...branches: readonly Branch[]): Task => ({ id: 'a', handler: 'noop', transition: { branches } });

const choose = (
  evalText: string,
  branches: readonly Branch[],
  counts: Readonly<Record<string, number>> = {},
): string => {
  const choice: Choice = chooseBranch(taskWith(...branches), evalText, counts);
  return choice.kind === 'go' ? choice.goto : choice.kind;
};

test('a default that stands first does not pre-empt a branch that matches', () => {
  const branches: Branch[] = [
    { operator: 'default', goto: 'other' },
    { operator: 'equals', when: 'x', goto: 'here' },
    { operator: 'default', goto: 'never' },
  ];
  expect(choose('x', branches)).toBe('here');
  expect(choose('y', branches)).toBe('other');
});

test('no branches are a leaf, no match is an error that shows the eval', () => {
  expect(chooseBranch({ id: 'a', handler: 'noop' }, 'x', {})).toEqual({ kind: 'leaf' });
  expect(chooseBranch(taskWith(), 'x', {})).toEqual({ kind: 'leaf' });
  expect(chooseBranch(taskWith({ operator: 'equals', when: 'x' }), `y${'z'.repeat(300)}`, {})).toEqual({
    kind: 'no_branch',
    message: `no branch of task a matches the eval "y${'z'.repeat(199)}", and there is no default branch`,
  });
});

test('an absent, empty or ending goto ends the run', () => {
  expect(choose('x', [{ operator: 'equals', when: 'x' }])).toBe('end');
  expect(choose('x', [{ operator: 'equals', when: 'x', goto: '' }])).toBe('end');
  expect(choose('x', [{ operator: 'equals', when: 'x', goto: 'end' }])).toBe('end');
});

describe('operators', () => {
  const cases: readonly (readonly [Branch, readonly string[], readonly string[]])[] = [
    [{ operator: 'equals', when: 'yes' }, ['yes'], ['Yes', 'yes ', '']],
    [{ operator: 'contains', when: 'b' }, ['abc', 'b'], ['ac']],
    [{ operator: 'starts_with', when: 'ab' }, ['abc'], ['cab']],
    [{ operator: 'ends_with', when: 'bc' }, ['abc'], ['bca']],
    [{ operator: 'gt', when: '2.5' }, ['3', 'about 3 or so'], ['2.5', '-3', 'many']],
    [{ operator: 'lt', when: '-1' }, ['-2', 'it is -1.5'], ['-1', '0', '']],
    [{ operator: 'in_range', when: '-10--2' }, ['-2', '-10', '-5.5'], ['-1', '-11', 'x']],
  ];
  test.each(cases)('%j', (branch, matching, others) => {
    for (const text of matching) expect([text, choose(text, [{ ...branch, goto: 'hit' }])]).toEqual([text, 'hit']);
    for (const text of others) expect([text, choose(text, [{ ...branch, goto: 'hit' }])]).toEqual([text, 'no_branch']);
  });

  test('count edges', () => {
    const branch: Branch = { operator: 'edge_traversed_at_least', edge: 'a -> b', when: '3', goto: 'hit' };
    expect(choose('x', [branch], { 'a->b': 2 })).toBe('no_branch');
    expect(choose('x', [branch], { 'a->b': 3 })).toBe('hit');
    expect(choose('x', [branch], { 'b->a': 3 })).toBe('no_branch');
  });
});

describe('composing', () => {
  const user: Message = { id: '1', role: 'user', content: 'a', timestamp: 't' };
  const answer: Message = { id: '2', role: 'assistant', content: 'b', timestamp: 't' };
  const history = (messages: readonly Message[], tokens: number, model: string) => ({
    type: 'chat_history' as const,
    value: { messages, input_tokens: tokens, model },
  });
  const assistant = (content: string): Message => ({ id: 'new', role: 'assistant', content, timestamp: 't' });
  const branch = (strategy?: 'override' | 'merge_chat_histories' | 'append_string_to_chat_history'): Branch => ({
    operator: 'default',
    compose: { with_var: 'v', ...(strategy === undefined ? {} : { strategy }) },
  });

  test('merges histories, the other one first, and adds their tokens', () => {
    const one = history([user], 3, 'm');
    const two = history([answer], 4, 'm');
    const merged = { type: 'chat_history', value: { messages: [user, answer], input_tokens: 7, model: 'm' } };
    expect(compose(branch(), two, one, assistant)).toEqual(merged);
    expect(compose(branch('merge_chat_histories'), history([answer], 4, 'n'), one, assistant)).toEqual({
      type: 'chat_history',
      value: { messages: [user, answer], input_tokens: 7 },
    });
  });

  test('merges a history with an earlier state of it without saying anything twice', () => {
    const earlier = history([user], 1, 'm');
    const merged = compose(branch(), history([user, answer], 2, 'm'), earlier, assistant);
    expect(merged.value).toMatchObject({ messages: [user, answer] });
  });

  test('appends a text as an answer, whichever side it is on', () => {
    const expected = {
      type: 'chat_history',
      value: { messages: [user, assistant('t')], input_tokens: 3, model: 'm' },
    };
    const text = { type: 'string' as const, value: 't' };
    expect(compose(branch(), text, history([user], 3, 'm'), assistant)).toEqual(expected);
    expect(compose(branch('append_string_to_chat_history'), history([user], 3, 'm'), text, assistant)).toEqual(
      expected,
    );
  });

  test('overrides members of objects, the current output winning', () => {
    const current = { type: 'json' as const, value: { a: 1, b: 2 } };
    const other = { type: 'json' as const, value: { b: 9, c: 3 } };
    expect(compose(branch(), current, other, assistant)).toEqual({ type: 'json', value: { b: 2, c: 3, a: 1 } });
    expect(compose(branch('override'), { type: 'int', value: 1 }, other, assistant)).toEqual(other);
    expect(compose(branch('override'), current, { type: 'int', value: 1 }, assistant)).toEqual(current);
    expect(compose(branch(), { type: 'int', value: 1 }, { type: 'json', value: [2] }, assistant)).toEqual({
      type: 'int',
      value: 1,
    });
  });

  test('fails where variable or types are missing', () => {
    const text = { type: 'string' as const, value: 't' };
    for (const run of [
      () => compose(branch(), text, undefined, assistant),
      () => compose(branch('merge_chat_histories'), text, history([user], 1, 'm'), assistant),
      () => compose(branch('append_string_to_chat_history'), text, text, assistant),
    ]) {
      expect(run).toThrow(expect.objectContaining({ code: 'compose_failed' }));
    }
  });

  test('does nothing where a branch composes nothing', () => {
    const text = { type: 'string' as const, value: 't' };
    expect(compose({ operator: 'default' }, text, undefined, assistant)).toBe(text);
  });

  test('names its result after task and branch', () => {
    expect(composedName('a', { operator: 'equals', when: 'Tool-Call now' })).toBe('a_tool_call_now_composed');
    expect(composedName('a', { operator: 'default' })).toBe('a_default_composed');
  });
});
