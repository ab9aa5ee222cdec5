import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { fieldLine } from '../field-line.ts';
import type { Field, ListOverlay } from './overlay.ts';

/** What an overlay has to show: a title with something at its right, what stays at the top, what scrolls, and its keys. */
export type OverlayView = {
  readonly title: string;
  readonly right: Line;
  readonly head: readonly Line[];
  readonly body: readonly Line[];
  /** The chosen row of `body`, or the first one in view where nothing is chosen. */
  readonly at: number;
  readonly chosen: boolean;
  /** What stays at the bottom, behind a rule. */
  readonly below: readonly Line[];
  /** Keys that do something now, the most useful first; the last one always has room. */
  readonly foot: readonly string[];
};

/** A view without a list, a head and anything else that is not said. */
export const plainView = { right: [], head: [], below: [], chosen: false } as const;

/** The rows of a list with a mark before the chosen one; `none` in their place where there are none. */
export const listed = (body: readonly Line[], at: number, none: string, glyphs: Glyphs) =>
  body.length === 0
    ? { ...plainView, body: [foreign(none, glyphs, 'dim')], at: 0 }
    : {
        ...plainView,
        body: body.map((line, index): Line => [index === at ? say('> ', 'accent') : say('  '), ...line]),
        at,
        chosen: true,
      };

/** What an empty list says. @param rows null while they are being read */
export const noneOf = (rows: readonly unknown[] | null, query: string, none: string): string =>
  rows === null ? 'loading…' : rows.length > 0 && query !== '' ? `nothing matches "${query}"` : none;

/** The field of a list, or what it filters by. The palette has its own sign for it. */
export const fieldLines = (field: Field | null, query: string, glyphs: Glyphs): readonly Line[] => {
  if (field === null) return query === '' ? [] : [[say('filter: ', 'dim'), ...foreign(query, glyphs)]];
  const label = field.label === '>' ? '> ' : `${field.label}: `;
  return [[say(label, 'dim'), ...fieldLine(field.editing, glyphs)]];
};

/** The keys of a list: with a field they are letters of its text. */
export function listFoot(overlay: ListOverlay, enter: string, letters: readonly string[]): readonly string[] {
  const { field } = overlay;
  if (field !== null && field.purpose !== 'filter')
    return [`Enter ${field.purpose === 'new' ? 'create' : field.purpose}`, 'Esc back'];
  if (letters.length === 0) return ['↑↓ choose', enter, 'Esc close'];
  if (field === null) return [enter, ...letters, '/ filter', 'Esc close'];
  const [first = '', ...more] = letters;
  return [enter, `Esc, then ${first}`, ...more, ''];
}
