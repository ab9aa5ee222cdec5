import { escapeText, type Glyphs, hiddenCharacters, type SafeText } from '../../src/view/escape.ts';
import { wrap } from '../../src/view/format.ts';
import { foreign, type Line, say, shown } from '../../src/view/line.ts';
import { columnsOf, cutLine, wrapLine } from '../../src/view/wrap.ts';
import { emptyEditing, typeText } from '../composer/editing.ts';
import { markHits } from '../hits.ts';
import { editField, type Find, type TextOverlay } from './overlay.ts';

/** A row of the text, and the line that it belongs to. */
type Row = { readonly line: Line; readonly of: number };

export type TextPlace = { readonly columns: number; readonly glyphs: Glyphs };

const laid = new WeakMap<readonly string[], Map<string, readonly Row[]>>();

/** Its rows at a width: laid out once, since a text may be long and is drawn at every key. */
function textRows(overlay: TextOverlay, { columns, glyphs }: TextPlace): readonly Row[] {
  const numbered = overlay.kind === 'view';
  const wrapped = overlay.unwrapped !== true;
  const part = overlay.kind === 'view' ? overlay.part : undefined;
  const from = part?.firstLine ?? 0;
  const count = part?.allLines ?? overlay.lines.length;
  const name = `${columns} ${glyphs} ${numbered} ${wrapped}`;
  const sizes = laid.get(overlay.lines) ?? new Map<string, readonly Row[]>();
  const found = sizes.get(name);
  if (found !== undefined) return found;
  const rows = overlay.lines.flatMap((text, of): readonly Row[] =>
    (numbered
      ? numberedRows(text, of + from, count, { columns, glyphs }, wrapped)
      : wrapped
        ? wrapLine(foreign(text, glyphs), columns, [], [say('    ')])
        : [cutLine(foreign(text, glyphs), columns)]
    ).map((line) => ({ line, of })),
  );
  sizes.set(name, rows);
  laid.set(overlay.lines, sizes);
  return rows;
}

/** A line with its number, and its end made visible: nothing may hide behind the edge or at the end. */
function numberedRows(
  text: string,
  of: number,
  count: number,
  { columns, glyphs }: TextPlace,
  wrapped: boolean,
): readonly Line[] {
  const digits = String(count).length;
  const end = of === count - 1 ? '' : '\n';
  const safe = escapeText(`${text}${end}`, { mode: 'lines', glyphs }).replace(/\n$/, '') as SafeText;
  const before = (index: number): Line => [
    say(`${index === 0 ? String(of + 1).padStart(digits) : ''.padEnd(digits)}  `, 'dim'),
  ];
  const room = Math.max(4, columns - digits - 2);
  if (!wrapped) return [[...before(0), ...cutLine(shown(safe, glyphs), room)]];
  // A part of a safe text is safe.
  return wrap(safe, room, columnsOf).map(
    (piece, index): Line => [...before(index), ...shown(piece as SafeText, glyphs)],
  );
}

/** Its rows as they are drawn: hits of a search are marked. */
export function textLines(overlay: TextOverlay, { columns, glyphs }: TextPlace): readonly Line[] {
  const query = overlay.find?.editing.text.trim() ?? '';
  const rows = textRows(overlay, { columns, glyphs }).map(({ line }) => line);
  return query === '' ? rows : rows.map((line) => markHits(line, query));
}

/** The lines in which the query stands. Case counts where the query has a capital. */
function hitsOf(lines: readonly string[], query: string): readonly number[] {
  if (query === '') return [];
  const exact = /\p{Lu}/u.test(query);
  const wanted = exact ? query : query.toLowerCase();
  return lines.flatMap((line, index) => ((exact ? line : line.toLowerCase()).includes(wanted) ? [index] : []));
}

/** The lines that its search has found: looked for once a frame, since a text may be long. */
export const findHits = ({ find, lines }: TextOverlay): readonly number[] =>
  hitsOf(lines, find?.editing.text.trim() ?? '');

const flags = new WeakMap<readonly string[], readonly number[]>();

/** Lines with something hidden in them; looked for once, since a text may be long and is drawn at every key. */
function flagsOf({ lines }: TextOverlay): readonly number[] {
  const known = flags.get(lines);
  if (known !== undefined) return known;
  const found = lines.flatMap((line, index) => (hiddenCharacters(line).length > 0 ? [index] : []));
  flags.set(lines, found);
  return found;
}

export const hasFlags = (overlay: TextOverlay): boolean => flagsOf(overlay).length > 0;

/** `2 of 7`, or that there is none. */
export function findPlace({ find }: TextOverlay, hits: readonly number[]): Line {
  if (find === undefined || find.editing.text.trim() === '') return [];
  return [say(find.at === null ? 'no hit' : `${hits.indexOf(find.at) + 1} of ${hits.length}`, 'accent')];
}

/** A command in such a text; null where it is none of its own. @param page rows in view */
export function textCommand(overlay: TextOverlay, id: string, place: TextPlace, page: number): TextOverlay | null {
  const { find } = overlay;
  if (find?.typing === true && id.startsWith('field.')) return findCommand(overlay, find, id, place);
  switch (id) {
    case 'overlay.filter':
      return { ...overlay, find: { editing: emptyEditing, typing: true, at: null } };
    case 'view.page':
      return { ...overlay, at: overlay.at + page };
    case 'view.wrap':
      return { ...overlay, unwrapped: overlay.unwrapped !== true, at: 0 };
    case 'view.next-hit':
    case 'view.previous-hit':
      return find === undefined ? overlay : toHit(overlay, find, id === 'view.next-hit' ? 1 : -1, place);
    case 'view.next-flag':
      return toFlag(overlay, place);
    default:
      return null;
  }
}

function findCommand(overlay: TextOverlay, find: Find, id: string, place: TextPlace): TextOverlay {
  if (id === 'field.close') {
    const { find: _gone, ...rest } = overlay;
    return rest;
  }
  if (id === 'field.accept') return { ...overlay, find: { ...find, typing: false } };
  if (id === 'field.up' || id === 'field.down') return toHit(overlay, find, id === 'field.up' ? -1 : 1, place);
  const field = editField({ label: '', purpose: '', editing: find.editing }, id);
  return lookFor(overlay, { ...find, editing: field.editing }, place);
}

/** What is typed while the field of the search has the keys. */
export const findText = (overlay: TextOverlay, find: Find, text: string, place: TextPlace): TextOverlay =>
  lookFor(overlay, { ...find, editing: typeText(find.editing, text) }, place);

/** The first hit at or behind what is in view. */
function lookFor(overlay: TextOverlay, find: Find, place: TextPlace): TextOverlay {
  const rows = textRows(overlay, place);
  const from = rows[Math.min(overlay.at, rows.length - 1)]?.of ?? 0;
  const hits = findHits({ ...overlay, find });
  const at = hits.find((line) => line >= from) ?? hits[0] ?? null;
  return inView({ ...overlay, find: { ...find, at } }, at, place);
}

function toHit(overlay: TextOverlay, find: Find, by: 1 | -1, place: TextPlace): TextOverlay {
  const hits = findHits({ ...overlay, find });
  const now = find.at === null ? -1 : hits.indexOf(find.at);
  const at = hits[(now + by + hits.length) % Math.max(1, hits.length)] ?? null;
  return inView({ ...overlay, find: { ...find, at } }, at, place);
}

/** The next line that has something hidden in it; round to the first one behind the last. */
function toFlag(overlay: TextOverlay, place: TextPlace): TextOverlay {
  const rows = textRows(overlay, place);
  const now = rows[Math.min(overlay.at, rows.length - 1)]?.of ?? 0;
  const flagged = flagsOf(overlay);
  return inView(overlay, flagged.find((line) => line > now) ?? flagged[0] ?? null, place);
}

function inView<O extends TextOverlay>(overlay: O, line: number | null, place: TextPlace): O {
  if (line === null) return overlay;
  const row = textRows(overlay, place).findIndex(({ of }) => of === line);
  return row < 0 ? overlay : { ...overlay, at: Math.max(0, row - 2) };
}
