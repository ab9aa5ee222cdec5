import { clustersOf } from '../../src/view/wrap.ts';
import { escapeText, type Glyphs, type SafeText } from '../../src/view/escape.ts';
import { type Draft, pasteLabel, pasteOf } from './draft.ts';

/** One row of the composer: a piece of the text, as wide as the columns allow. */
export type VisualLine = {
  /** UTF-16 units of the draft's text. */
  readonly from: number;
  readonly to: number;
  readonly cells: readonly Cell[];
};

export type Cell = { readonly at: number; readonly shown: SafeText; readonly width: number; readonly paste: boolean };

export type Laid = { readonly lines: readonly VisualLine[]; readonly row: number; readonly column: number };

type Width = (text: string) => number;

const tab = 4;

/**
 * The text in rows of at most `columns`, and where the caret stands. Control characters are shown escaped (10 §6.2); a
 * cluster is never cut in half. Takes time proportional to the text; rows that were laid out before are kept.
 */
export function layOut(draft: Draft, columns: number, width: Width, glyphs: Glyphs): Laid {
  const lines: VisualLine[] = [];
  let start = 0;
  for (const line of draft.text.split('\n')) {
    for (const row of rowsOf(line, draft, columns, width, glyphs)) {
      lines.push(start === 0 ? row : shifted(row, start));
    }
    start += line.length + 1;
  }
  const row = rowAt(lines, draft.caret);
  const cells = lines[row]?.cells ?? [];
  const column = cells.filter(({ at }) => at < draft.caret).reduce((sum, cell) => sum + cell.width, 0);
  return { lines, row, column };
}

/** The last row that begins at or before the caret: behind a full row the caret stands on the next one. */
function rowAt(lines: readonly VisualLine[], caret: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lines[middle]?.from ?? 0) <= caret) low = middle;
    else high = middle - 1;
  }
  return low;
}

const shifted = (row: VisualLine, by: number): VisualLine => ({
  from: row.from + by,
  to: row.to + by,
  get cells() {
    return row.cells.map((cell) => ({ ...cell, at: cell.at + by }));
  },
});

/** Rows of lines that were laid out before, by columns: a key changes one line of the text. */
const kept = new Map<string, readonly VisualLine[]>();
/** Characters in them, all together. */
const mostKept = 200_000;
let keptSize = 0;

function rowsOf(line: string, draft: Draft, columns: number, width: Width, glyphs: Glyphs): readonly VisualLine[] {
  // Marks mean something in their own draft only.
  const marked = draft.pastes.some(({ mark }) => line.includes(mark));
  const name = `${columns} ${glyphs} ${line}`;
  const found = marked ? undefined : kept.get(name);
  if (found !== undefined) return found;
  const rows = newRows(line, draft, columns, width, glyphs);
  if (marked) return rows;
  if (keptSize + line.length > mostKept) {
    kept.clear();
    keptSize = 0;
  }
  kept.set(name, rows);
  keptSize += line.length + 1;
  return rows;
}

function newRows(line: string, draft: Draft, columns: number, width: Width, glyphs: Glyphs): readonly VisualLine[] {
  if (plain.test(line)) return plainRows(line, columns);
  const rows: VisualLine[] = [];
  let cells: Cell[] = [];
  let from = 0;
  let used = 0;
  let at = 0;
  for (const cluster of clustersOf(line)) {
    const cell = cellOf(cluster, at, used, draft, columns, width, glyphs);
    if (used + cell.width > columns && cells.length > 0) {
      rows.push({ from, to: at, cells });
      cells = [];
      from = at;
      used = 0;
    }
    cells.push(cell);
    used += cell.width;
    at += cluster.length;
  }
  // The caret needs a column of its own behind a row that is full.
  rows.push({ from, to: at, cells });
  if (used >= columns) rows.push({ from: at, to: at, cells: [] });
  return rows;
}

const plain = /^[\x20-\x7e]*$/;

/** A line of ordinary characters is cut by counting: one of a megabyte takes no longer than a key may. */
function plainRows(line: string, columns: number): readonly VisualLine[] {
  const rows: VisualLine[] = [];
  // The caret needs a column of its own behind a row that is full.
  for (let from = 0; from <= line.length; from += columns) {
    const start = from;
    const to = Math.min(line.length, from + columns);
    rows.push({
      from,
      to,
      get cells() {
        return Array.from(line.slice(start, to), (character, index) => ({
          at: start + index,
          // What is printable shows itself.
          shown: character as SafeText,
          width: 1,
          paste: false,
        }));
      },
    });
  }
  return rows;
}

function cellOf(
  cluster: string,
  at: number,
  used: number,
  draft: Draft,
  columns: number,
  width: Width,
  glyphs: Glyphs,
): Cell {
  const paste = pasteOf(draft, cluster);
  if (paste !== undefined) {
    const label = pasteLabel(paste);
    return { at, shown: label.slice(0, columns) as SafeText, width: Math.min(label.length, columns), paste: true };
  }
  if (cluster === '\t') {
    const size = tab - (used % tab);
    return { at, shown: ' '.repeat(size) as SafeText, width: size, paste: false };
  }
  const shown = escapeText(cluster, { mode: 'prose', glyphs });
  return { at, shown, width: width(shown), paste: false };
}

/**
 * Where the caret goes when it moves a row up or down; null where there is no such row, and history begins.
 * @param goal the column that the first of several such moves began in
 */
export function moveRow(draft: Draft, by: 1 | -1, columns: number, width: Width, goal: number | null, glyphs: Glyphs) {
  const { lines, row, column } = layOut(draft, columns, width, glyphs);
  const line = lines[row + by];
  if (line === undefined) return null;
  const wanted = goal ?? column;
  let used = 0;
  let caret = line.from;
  for (const cell of line.cells) {
    if (used + cell.width > wanted) break;
    used += cell.width;
    caret = cell.at + (draft.text.slice(cell.at, line.to).length > 0 ? clusterLength(line, cell) : 0);
  }
  // The end of a row that goes on belongs to the next one.
  const goesOn = caret === line.to && lines[row + by + 1]?.from === line.to && line.cells.length > 0;
  const last = line.cells.at(-1);
  return { caret: goesOn && last !== undefined ? last.at : caret, goal: wanted };
}

function clusterLength(line: VisualLine, cell: Cell): number {
  const next = line.cells.find(({ at }) => at > cell.at);
  return (next?.at ?? line.to) - cell.at;
}
