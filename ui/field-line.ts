import { escapeText, type Glyphs, type SafeText } from '../src/view/escape.ts';
import { foreign, type Line, say, type Span } from '../src/view/line.ts';
import { clustersOf, columnsOf, lineColumns } from '../src/view/wrap.ts';
import type { Editing } from './composer/editing.ts';

/** The text of a single-line field, with the caret on a whole character. */
export function fieldLine({ text, caret }: Editing, glyphs: Glyphs): Line {
  const [under = ''] = clustersOf(text.slice(caret));
  return [
    ...foreign(text.slice(0, caret), glyphs),
    { text: escapeText(under === '' ? ' ' : under, { mode: 'line', glyphs }), caret: true },
    ...foreign(text.slice(caret + under.length), glyphs),
  ];
}

/**
 * A line that is a label and a field behind it, with the caret in view: of a text that is too long for its row the beginning
 * gives way, since what is typed stands at its end. @param columns of the row, the last of them for what cuts the rest
 */
export function caretInView(line: Line, columns: number): Line {
  const at = line.findIndex(({ caret }) => caret === true);
  const [label, ...before] = line.slice(0, Math.max(0, at));
  const under = line[at];
  if (label === undefined || under === undefined || lineColumns([label, ...before, under]) < columns) return line;
  let room = columns - 1 - lineColumns([label, cutOff, under]);
  const kept: Span[] = [];
  for (const span of before.toReversed()) {
    const clusters = clustersOf(span.text);
    let from = clusters.length;
    while (from > 0 && columnsOf(clusters[from - 1] ?? '') <= room) {
      from -= 1;
      room -= columnsOf(clusters[from] ?? '');
    }
    // A part of a safe text is safe.
    if (from < clusters.length) kept.unshift({ ...span, text: clusters.slice(from).join('') as SafeText });
    if (from > 0) break;
  }
  return [label, cutOff, ...kept, ...line.slice(at)];
}

const cutOff = say('…', 'dim');
