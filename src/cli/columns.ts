import { cut, measure } from '../view/format.ts';

export type Column = {
  readonly title: string;
  readonly align?: 'right';
  /** The column that is cut when the terminal is too narrow (06 §2.4.3). */
  readonly flexible?: true;
};

/**
 * A table without rules: header in capitals, two-space gutters, `-` for an empty cell (06 §2.4.3).
 * @param columns of the terminal; null = nothing is cut
 */
export async function renderTable(
  heads: readonly Column[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): Promise<string> {
  const cells = [heads.map((head) => head.title), ...rows.map((row) => row.map((cell) => (cell === '' ? '-' : cell)))];
  const width = await measure(cells.flat());
  const widths = heads.map((_, index) => Math.max(...cells.map((row) => width(row[index] ?? ''))));
  const total = widths.reduce((sum, each) => sum + each + 2, -2);
  if (columns !== null && total > columns) {
    const index = widestFlexible(heads, widths);
    widths[index] = Math.max(4, (widths[index] ?? 0) - (total - columns));
    cutOthers(heads, widths, columns);
  }
  return cells
    .map((row) =>
      heads
        .map((head, index) => {
          const room = widths[index] ?? 0;
          const text = cut(row[index] ?? '', room, width);
          const blanks = ' '.repeat(Math.max(0, room - width(text)));
          return head.align === 'right' ? blanks + text : text + blanks;
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** The least that is left of a column beside the flexible one: the last characters of a row are worth more than these. */
const least = 8;

/** Where the flexible column does not give enough, the widest of the others; never the first, by which a row is named. */
function cutOthers(heads: readonly Column[], widths: number[], columns: number): void {
  for (;;) {
    const excess = widths.reduce((sum, each) => sum + each + 2, -2) - columns;
    const texts = heads.flatMap(({ align }, index) => (index === 0 || align === 'right' ? [] : [index]));
    // Of two, the later one: a status stands early, and is a word that a person looks for.
    const [widest] = texts.reverse().sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
    if (excess <= 0 || widest === undefined || (widths[widest] ?? 0) <= least) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function widestFlexible(heads: readonly Column[], widths: readonly number[]): number {
  let best = -1;
  for (const [index, head] of heads.entries()) {
    if (head.flexible === true && (best < 0 || (widths[index] ?? 0) > (widths[best] ?? 0))) best = index;
  }
  return best < 0 ? widths.indexOf(Math.max(...widths)) : best;
}
