import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { emptyEditing, moveTo, pasteText, typeText } from '../../../ui/composer/editing.ts';
import { layOut, moveRow } from '../../../ui/composer/visual-lines.ts';

const laid = (text: string, columns: number, caret = text.length) => {
  const { lines, row, column } = layOut({ text, caret, pastes: [] }, columns, stringWidth, 'unicode');
  return { rows: lines.map(({ cells }) => cells.map(({ shown }) => shown).join('')), row, column };
};

describe('the rows of a composer', () => {
  it('breaks at the columns, never inside a wide character', () => {
    expect(laid('abcde', 4)).toEqual({ rows: ['abcd', 'e'], row: 1, column: 1 });
    expect(laid('a한글b', 4)).toEqual({ rows: ['a한', '글b'], row: 1, column: 3 });
    expect(laid('👩‍👩‍👧👩‍👩‍👧', 3)).toEqual({ rows: ['👩‍👩‍👧', '👩‍👩‍👧'], row: 1, column: 2 });
  });

  it('cuts a very long line of ordinary characters without looking at each', () => {
    const never = (): number => {
      throw new Error('was measured');
    };
    const draft = { text: 'b'.repeat(2 ** 20), caret: 2 ** 20, pastes: [] };
    const { lines, row, column } = layOut(draft, 78, never, 'unicode');
    expect([lines.length, row, column, lines[row]?.cells.length]).toEqual([13_444, 13_443, 22, 22]);
  });

  it('gives the caret a row behind one that is full', () => {
    expect(laid('abcd', 4)).toEqual({ rows: ['abcd', ''], row: 1, column: 0 });
    expect(laid('abcd', 4, 3)).toEqual({ rows: ['abcd', ''], row: 0, column: 3 });
  });

  it('shows what hides or moves, and tabs as blanks', () => {
    expect(laid('a\u202eb\u001b[2J\tc', 40).rows).toEqual(['a⟨U+202E⟩b␛[2J  c']);
  });

  it('shows a long paste by its name', () => {
    const state = typeText(pasteText(typeText(emptyEditing, 'a '), 'l\n'.repeat(20)), 'b');
    const { lines, column } = layOut(state, 80, stringWidth, 'unicode');
    expect(lines.map(({ cells }) => cells.map(({ shown }) => shown).join(''))).toEqual(['a [Pasted 1: 20 lines]b']);
    expect(column).toBe(23);
  });

  it('moves by rows and keeps the column', () => {
    const state = typeText(emptyEditing, 'abcdef\nx\nuvwxyz');
    const up = moveRow(state, -1, 80, stringWidth, null, 'unicode');
    expect(up).toEqual({ caret: 8, goal: 6 });
    expect(moveRow(moveTo(state, up?.caret ?? 0), -1, 80, stringWidth, up?.goal ?? null, 'unicode')).toEqual({
      caret: 6,
      goal: 6,
    });
    expect(moveRow(moveTo(state, 3), -1, 80, stringWidth, null, 'unicode')).toBeNull();
    expect(moveRow(state, 1, 80, stringWidth, null, 'unicode')).toBeNull();
    expect(moveRow(moveTo(typeText(emptyEditing, 'abcdef'), 6), -1, 4, stringWidth, null, 'unicode')).toEqual({
      caret: 2,
      goal: 2,
    });
  });
});
