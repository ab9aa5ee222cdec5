import stringWidth from 'string-width';
import { clusters, sumOfClusters } from '../text/clusters.ts';
import type { SafeText } from './escape.ts';
import type { Line, Span } from './line.ts';

const plain = /^[\x20-\x7e]*$/;

/** Columns of a text: wide clusters are 2, combining ones 0, ambiguous ones 1 (10 §4.2). The one measure of the screen. */
export const columnsOf = (text: string): number => (plain.test(text) ? text.length : sumOfClusters(text, widthOf));

const widthOf = (text: string): number => (plain.test(text) ? text.length : stringWidth(text));

export const lineColumns = (line: Line): number => line.reduce((sum, span) => sum + columnsOf(span.text), 0);

/** Grapheme clusters of a text. */
export const clustersOf = (text: string): readonly string[] =>
  plain.test(text) ? text.split('') : [...clusters(text)];

/** The line cut to `columns`, ending in `…` where something was cut. A wide cluster is never cut in half. */
export function cutLine(line: Line, columns: number, end = '…'): Line {
  if (columns <= 0) return [];
  if (lineColumns(line) <= columns) return line;
  const room = columns - columnsOf(end);
  const out: Span[] = [];
  let used = 0;
  for (const span of line) {
    const width = columnsOf(span.text);
    if (used + width <= room) {
      out.push(span);
      used += width;
      continue;
    }
    let kept = '';
    for (const cluster of clustersOf(span.text)) {
      if (used + columnsOf(cluster) > room) break;
      kept += cluster;
      used += columnsOf(cluster);
    }
    out.push({ ...span, text: (kept + end) as SafeText, ...(end === '' ? {} : { cut: true }) });
    break;
  }
  return out;
}

/** The line cut to `columns` with `…` in its middle: names of one kind differ at their ends. */
export function cutMiddle(line: Line, columns: number): Line {
  if (columns <= 0 || lineColumns(line) <= columns) return columns <= 0 ? [] : line;
  const head = cutLine(line, Math.ceil((columns + 1) / 2));
  const room = columns - lineColumns(head);
  const tail: Span[] = [];
  let used = 0;
  for (const span of line.toReversed()) {
    let kept = '';
    for (const cluster of clustersOf(span.text).toReversed()) {
      if (used + columnsOf(cluster) > room) return [...head, { ...span, text: kept as SafeText }, ...tail];
      kept = cluster + kept;
      used += columnsOf(cluster);
    }
    tail.unshift(span);
  }
  return [...head, ...tail];
}

/** The line filled with blanks to `columns`, or cut. */
export function fitLine(line: Line, columns: number): Line {
  const width = lineColumns(line);
  if (width > columns) return fitLine(cutLine(line, columns), columns);
  return width === columns ? line : [...line, { text: ' '.repeat(columns - width) as SafeText }];
}

/** `left` at the left and `right` at the right edge; the left one gives way first, and `right` is whole or absent. */
export function spread(left: Line, right: Line, columns: number): Line {
  const needed = lineColumns(right);
  if (needed === 0 || needed + 2 > columns) return cutLine(left, columns);
  const shown = cutLine(left, columns - needed - 1);
  const gap = columns - needed - lineColumns(shown);
  return [...shown, { text: ' '.repeat(gap) as SafeText }, ...right];
}

type Piece = { readonly text: string; readonly width: number; readonly span: Span; readonly blank: boolean };

/** Scripts that are written without blanks. */
const unspaced = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/;

/** Words and blanks; a word that is wider than the room is cut between clusters. */
function piecesOf(line: Line, room: number): readonly Piece[] {
  const out: Piece[] = [];
  for (const span of line) {
    for (const text of span.text.split(/( +)/)) {
      if (text === '') continue;
      const width = columnsOf(text);
      const blank = text.startsWith(' ');
      if (width <= room && (blank || !unspaced.test(text))) {
        out.push({ text, width, span, blank });
        continue;
      }
      for (const cluster of clustersOf(text)) out.push({ text: cluster, width: columnsOf(cluster), span, blank });
    }
  }
  return out;
}

/**
 * The line in rows of at most `columns`, broken at blanks where it can be. `first` stands before the first row and
 * `rest` before the others; both are counted in.
 */
export function wrapLine(line: Line, columns: number, first: Line = [], rest: Line = first): readonly Line[] {
  const firstWidth = lineColumns(first);
  if (lineColumns(line) + firstWidth <= columns) return [[...first, ...line]];
  const room = Math.max(1, columns - Math.max(firstWidth, lineColumns(rest)));
  const rows: Span[][] = [];
  let row: Span[] = [...first];
  let used = 0;
  let text = '';
  let current: Span | undefined;
  const flush = () => {
    if (current !== undefined && text !== '') row.push({ ...current, text: text as SafeText });
    text = '';
    current = undefined;
  };
  const end = () => {
    flush();
    rows.push(row);
    row = [...rest];
    used = 0;
  };
  const pieces = wordsOf(piecesOf(line, room), room);
  for (const word of pieces) {
    if (used + word.width > room && used > 0) {
      end();
      if (word.blank) continue;
    }
    for (const piece of word.pieces) {
      if (current !== piece.span) {
        flush();
        current = piece.span;
      }
      text += piece.text;
      used += piece.width;
    }
  }
  end();
  return rows;
}

type Word = { readonly pieces: readonly Piece[]; readonly width: number; readonly blank: boolean };

/** Pieces of one word may carry several colours: they stay together where they fit. */
function wordsOf(pieces: readonly Piece[], room: number): readonly Word[] {
  const out: { pieces: Piece[]; width: number; blank: boolean }[] = [];
  let previous: Piece | undefined;
  for (const piece of pieces) {
    const word = out.at(-1);
    const joins =
      word !== undefined &&
      previous !== undefined &&
      !piece.blank &&
      !previous.blank &&
      piece.span !== previous.span &&
      word.width + piece.width <= room;
    if (joins) {
      word.pieces.push(piece);
      word.width += piece.width;
    } else out.push({ pieces: [piece], width: piece.width, blank: piece.blank });
    previous = piece;
  }
  return out;
}

/** Tabs become blanks up to the next multiple of 4. */
export function expandTabs(text: string): string {
  if (!text.includes('\t')) return text;
  let out = '';
  let column = 0;
  for (const piece of text.split(/(\t|\n)/)) {
    if (piece === '\t') {
      const blanks = 4 - (column % 4);
      out += ' '.repeat(blanks);
      column += blanks;
    } else {
      out += piece;
      column = piece === '\n' ? 0 : column + columnsOf(piece);
    }
  }
  return out;
}
