import { describe, expect, test } from 'vitest';
import { choicesLines } from '../../src/view/ask-choices.ts';

describe('the choices under a question', () => {
  const choices = ['once', 'session', 'edits', 'deny', 'deny_feedback', 'later'] as const;

  test('stand in one line where it is wide enough', () => {
    expect(choicesLines(choices, 100)).toEqual([
      '[y] once  [s] this session  [w] edits here, this session  [n] deny  [f] deny with words  [l] later',
    ]);
  });

  test('are parted between two of them, never within one', () => {
    expect(choicesLines(choices, 60)).toEqual([
      '[y] once  [s] this session  [w] edits here, this session',
      '[n] deny  [f] deny with words  [l] later',
    ]);
    expect(choicesLines(choices, 10)).toEqual([
      '[y] once',
      '[s] this session',
      '[w] edits here, this session',
      '[n] deny',
      '[f] deny with words',
      '[l] later',
    ]);
  });
});
