import { describe, expect, it } from 'vitest';
import { say, textOf } from '../../../src/view/line.ts';
import { type Anchor, type Blocks, moved, revealed, rowsInView } from '../../../ui/transcript/viewport.ts';

/** Blocks of these heights, each row named by its block and place; `asked` holds what was laid out. */
function blocksOf(heights: readonly number[]): Blocks & { readonly asked: Set<number> } {
  const asked = new Set<number>();
  return {
    asked,
    count: heights.length,
    idOf: (index) => `i${index}`,
    foldOf: () => null,
    indexOf: (id) => (Number(id.slice(1)) < heights.length ? Number(id.slice(1)) : -1),
    linesOf: (index) => {
      asked.add(index);
      return Array.from({ length: heights[index] ?? 0 }, (_, line) => [say(`${index}.${line}`)]);
    },
  };
}
const seen = (blocks: Blocks, anchor: Anchor | null, rows: number) =>
  rowsInView(blocks, anchor, rows).map(({ line }) => textOf(line));

describe('the view of a transcript', () => {
  const blocks = blocksOf([2, 3, 1, 4]);

  it('shows the end while it follows, and all of a short one', () => {
    expect(seen(blocks, null, 4)).toEqual(['3.0', '3.1', '3.2', '3.3']);
    expect(seen(blocks, null, 6)).toEqual(['1.2', '2.0', '3.0', '3.1', '3.2', '3.3']);
    expect(seen(blocksOf([2]), null, 6)).toEqual(['0.0', '0.1']);
    expect(seen(blocksOf([]), null, 6)).toEqual([]);
  });

  it('moves by rows and follows again at the end', () => {
    const up = moved(blocks, null, -3, 4);
    expect(up).toEqual({ id: 'i1', line: 1 });
    expect(seen(blocks, up, 4)).toEqual(['1.1', '1.2', '2.0', '3.0']);
    expect(moved(blocks, up, 2, 4)).toEqual({ id: 'i2', line: 0 });
    expect(moved(blocks, up, 3, 4)).toBeNull();
    expect(moved(blocks, null, -100, 4)).toEqual({ id: 'i0', line: 0 });
  });

  it('stays where it is when something grows below', () => {
    const anchor = { id: 'i1', line: 1 };
    expect(seen(blocksOf([2, 3, 1, 4, 50]), anchor, 3)).toEqual(seen(blocks, anchor, 3));
  });

  it('lays out no more than what is in view', () => {
    const many = blocksOf(Array.from({ length: 10_000 }, () => 3));
    rowsInView(many, null, 36);
    moved(many, null, -34, 36);
    expect(many.asked.size).toBeLessThan(40);
  });

  it('reveals an item with as little as it takes', () => {
    expect(revealed(blocks, null, 'i3', 4)).toBeNull();
    const anchor = revealed(blocks, null, 'i0', 4);
    expect(seen(blocks, anchor, 4)[0]).toBe('0.0');
    // One above comes to the top, with what belongs to it below.
    expect(seen(blocks, revealed(blocks, null, 'i1', 4), 4)).toEqual(['1.0', '1.1', '1.2', '2.0']);
  });
});
