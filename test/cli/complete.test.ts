import { expect, test } from 'vitest';
import { complete } from '../../src/cli/complete.ts';

const closed = async () => null;
const candidates = (...words: readonly string[]) => complete(words, closed);

test('completes commands, subcommands and their flags', async () => {
  expect(await candidates('ses')).toEqual(['session']);
  expect(await candidates('session', 's')).toEqual(['show', 'switch']);
  expect(await candidates('session', 'show', '--t')).toEqual([
    '--tail',
    '--tenant',
    '--think',
    '--timeout',
    '--tools',
    '--trace',
    '--trust',
  ]);
  expect(await candidates('--json', 'conf')).toEqual(['config']);
});

test('completes the words of a flag and of an argument', async () => {
  expect(await candidates('run', '--on-ask', '')).toEqual(['deny', 'suspend', 'wait']);
  expect(await candidates('--output-format=s')).toEqual(['--output-format=stream-json']);
  expect(await candidates('completion', '')).toEqual(['bash', 'fish', 'zsh']);
  expect(await candidates('help', 'exit')).toEqual(['exit-codes']);
  expect(await candidates('config', 'get', 'tui-m')).toEqual(['tui-mode', 'tui-mouse']);
});

test('gives nothing where nothing can be opened, and never fails', async () => {
  expect(await candidates('session', 'switch', '')).toEqual([]);
  expect(await complete(['session', 'switch', ''], () => Promise.reject(new Error('no database')))).toEqual([]);
  expect(await candidates('nosuch', 'thing', '--x')).toEqual([]);
});
