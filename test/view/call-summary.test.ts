import { expect, it } from 'vitest';
import { callSummary } from '../../src/view/call-summary.ts';

it.each<[unknown, string]>([
  [{ content: 'text', path: 'a.txt' }, 'a.txt'],
  [{ path: 'a.txt', command: 'ls', args: ['-l', 'b c'] }, 'ls -l b c'],
  [{ command: '', url: 'https://a.example/' }, 'https://a.example/'],
  [{ whole: true, count: 3 }, '3'],
  [{ path: 'a\nb' }, 'a…'],
  [{ path: 'x'.repeat(121) }, `${'x'.repeat(119)}…`],
  ['not json', 'not json'],
  [null, ''],
])('says what a call is about: %j', (args, summary) => {
  expect(callSummary(args)).toBe(summary);
});
