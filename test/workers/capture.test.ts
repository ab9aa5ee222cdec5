import { expect, it } from 'vitest';
import { createCapture } from '../../workers/capture.ts';

const key = 'sk-live-4f9Kq2Lw8Zr1Xy7Tn3Vb6Md0';

it('cuts a long line between two words, so that no half of a key is left that nobody would know', () => {
  for (let shift = 0; shift <= key.length + 12; shift += 1) {
    // One key lies over each of the two places where the line is cut.
    const text = `${'a,'.repeat(790)}${'x'.repeat(shift)},"${key}",${'b,'.repeat(6000)}"${key}",${'y'.repeat(shift)},${'c,'.repeat(3200)}`;
    const capture = createCapture('stdout', 10_000, null);
    for (let at = 0; at < text.length; at += 777) capture.push(Buffer.from(text.slice(at, at + 777)));
    const { text: shown } = capture.inline(8192);
    const rest = shown.replaceAll(key, '');
    expect([shift, rest.includes(key.slice(0, 6)), rest.includes(key.slice(-6))]).toEqual([shift, false, false]);
    expect(shown.length).toBeGreaterThan(7500);
    const left = Number(/\[… (\d+) bytes/.exec(shown)?.[1]);
    const [first, last] = shown.split(/\n?\[… .*\]\n/);
    expect(left).toBe(text.length - (first ?? '').length - (last ?? '').length);
  }
});
