import { escapeText, type Glyphs } from '../src/view/escape.ts';
import { foreign, type Line } from '../src/view/line.ts';
import { clustersOf } from '../src/view/wrap.ts';
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
