import { expect, it } from 'vitest';
import { summaryLine } from '../../src/tools/files/subject.ts';
import { whatOf } from '../../src/view/what-of.ts';

it('reads back every character that the summary of a call is stored with as an escape', () => {
  const escaped = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((each) =>
    summaryLine(each).startsWith('\\u'),
  );
  expect(escaped.length).toBe(86);
  expect(escaped.filter((each) => whatOf({ summary: summaryLine(`a${each}b`) }) !== `a${each}b`)).toEqual([]);
});

it.each([
  ['what the end has cut through is left out', `${'x'.repeat(116)}\\u2…`, `${'x'.repeat(116)}…`],
  ['an escape that is whole before the cut stays', 'x\\u202e…', 'x\u202e…'],
  ['other text with a backslash stays', 'C:\\users\\u12 \\n \\u0041 \\uzzzz', 'C:\\users\\u12 \\n \\u0041 \\uzzzz'],
])('%s', (_name, summary, given) => {
  expect(whatOf({ summary })).toBe(given);
});

it.each(['\\u202e', '\\u005c', '\\u005cu202e', '\\\\u202e', '\\u0041', 'C:\\users\\u12', '\\u202e\u202e'])(
  'keeps an escape that was typed, %j, apart from the character that it names',
  (typed) => {
    expect(whatOf({ summary: summaryLine(typed) })).toBe(typed);
  },
);

it('takes the line of the shell from the arguments where it has them', () => {
  const summary = "printf '\\u202e'";
  const ask = { tools: 'local_shell', summary };
  expect(whatOf({ ...ask, args: { command: summary } })).toBe("printf '\\u202e'");
});
