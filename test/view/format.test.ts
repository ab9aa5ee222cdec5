import { expect, test } from 'vitest';
import {
  cut,
  formatAge,
  formatBytes,
  formatCount,
  formatRemaining,
  formatSeconds,
  formatShort,
  formatStepDuration,
  measure,
  plural,
  wrap,
  wrapWords,
} from '../../src/view/format.ts';

test('ages have one unit', () => {
  expect([0, 999, 5000, 180_000, 7_200_000, 172_800_000].map(formatAge)).toEqual([
    'just now',
    'just now',
    '5s ago',
    '3m ago',
    '2h ago',
    '2d ago',
  ]);
  expect(formatShort(604_800_000)).toBe('7d');
});

test('a wait is said in the largest unit that it fills', () => {
  expect([604_800, 86_400, 3600, 5400, 90, 1].map(formatSeconds)).toEqual([
    '7 d',
    '1 d',
    '1 h',
    '90 min',
    '90 s',
    '1 s',
  ]);
});

test('a deadline gets finer as it comes nearer', () => {
  expect([604_800_000 - 3_600_000, 3_900_000, 299_000, 59_000, 0].map(formatRemaining)).toEqual([
    '6d 23h',
    '1h 05m',
    '04:59',
    '00:59',
    'expired',
  ]);
});

test('step durations are microseconds, milliseconds or seconds', () => {
  expect([0.012, 40.4, 999, 1200, 61_234].map(formatStepDuration)).toEqual([
    '12µs',
    '40ms',
    '999ms',
    '1.20s',
    '61.23s',
  ]);
});

test('sizes and counts read well', () => {
  expect([812, 1500, 4_700_000_000].map(formatBytes)).toEqual(['812 B', '1.5 kB', '4.7 GB']);
  expect([0, 812, 1500, 4_700_000].map(formatCount)).toEqual(['0', '812', '1,500', '4,700,000']);
  expect([plural(1, 'message'), plural(2, 'message')]).toEqual(['1 message', '2 messages']);
});

test('widths count wide characters twice and never cut one in half', async () => {
  const width = await measure(['漢字']);
  expect([width('漢字'), width('👩‍💻'), width('é')]).toEqual([4, 2, 1]);
  expect(cut('漢字仮名', 6, width)).toBe('漢字…');
  expect(cut('plain', 5, width)).toBe('plain');
  expect(wrap('漢字仮名', 5, width)).toEqual(['漢字', '仮名']);
  expect(wrap('plain', 5, width)).toEqual(['plain']);
});

test('what is one column each is measured without the package, and the package says the same of it', async () => {
  const texts = ['ASK ask_3kq9x7 · é ü ß', 'cut…', '“x” – →', '⟨U+202E⟩␛⏎⇥'];
  const [own, wide] = [await measure(texts), await measure([...texts, '漢'])];
  expect(texts.map(own)).toEqual([22, 4, 7, 11]);
  expect(texts.map(wide)).toEqual([22, 4, 7, 11]);
  // A blank without width is none of them.
  const soft = await measure(['a\u00ADb']);
  expect(soft('a\u00ADb')).toBe(2);
});

test('rows break behind blanks, and hold every character in order', () => {
  const width = (text: string) => text.length;
  expect(wrapWords('git status && npm test && make', 12, width)).toEqual(['git status ', '&& npm test ', '&& make']);
  expect(wrapWords('a'.repeat(10), 4, width)).toEqual(['aaaa', 'aaaa', 'aa']);
  // A word that would leave more than half of the row empty is cut.
  expect(wrapWords('a bbbbbbbbbbbb', 8, width)).toEqual(['a bbbbbb', 'bbbbbb']);
});
