import { describe, expect, it } from 'vitest';
import { say, textOf } from '../../src/view/line.ts';
import { cutLine, lineColumns } from '../../src/view/wrap.ts';
import { caretInView, fieldLine } from '../../ui/field-line.ts';

const row = (text: string, caret: number, columns: number) =>
  cutLine(caretInView([say('name: ', 'dim'), ...fieldLine({ text, caret } as never, 'unicode')], columns), columns);
const shown = (text: string, caret: number, columns: number): string => textOf(row(text, caret, columns));

describe('a field that is longer than its row', () => {
  it('shows what is typed at its end, behind its label', () => {
    expect(shown('abc', 3, 12)).toBe('name: abc ');
    expect(shown('abcd', 4, 12)).toBe('name: abcd ');
    expect(shown('abcdefgh', 8, 12)).toBe('name: …fgh ');
  });

  it('shows the place of the caret wherever it is, with what is cut off on both sides marked', () => {
    expect(shown('abcdefghij', 0, 12)).toBe('name: abcde…');
    expect(shown('abcdefghij', 6, 12)).toBe('name: …defg…');
  });

  it.each(['abcdefghijklmnop', '漢字かな交じり文漢字', '👩‍👩‍👧a👩‍👩‍👧b👩‍👩‍👧c👩‍👩‍👧', 'a\u202eb\u202ec\u202ed\u202e'])(
    'keeps the caret in view and the row in its columns for each place in %j',
    (text) => {
      for (let columns = 12; columns < 40; columns += 1)
        for (let caret = 0; caret <= text.length; caret += 1) {
          const line = row(text, caret, columns);
          expect(line.some((span) => span.caret === true)).toBe(true);
          expect(lineColumns(line)).toBeLessThanOrEqual(columns);
        }
    },
  );
});
