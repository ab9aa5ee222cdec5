import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { fieldLine } from '../field-line.ts';
import { type KeyMap, keyOf } from '../keys/key-map.ts';
import type { Field } from './field.ts';
import type { ListOverlay } from './overlay.ts';

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
  /** Words of the foot that do nothing where all of the body is in view. */
  readonly scrolls?: readonly string[];
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

/** Commands of the key map, each with what it does here. */
export type FootKeys = readonly (readonly [id: string, words: string])[];

/** `c copy`: the keys in effect; a command without one has no place at the foot. */
export const footKeys = (keys: KeyMap, commands: FootKeys): readonly string[] =>
  commands.flatMap(([id, words]) => {
    const key = keyOf(keys, id);
    return key === null ? [] : [`${key} ${words}`];
  });

/** Both keys that move, as one; in words where a key was given another place. */
export function moveKeys(keys: KeyMap, words: string): readonly string[] {
  const up = keyOf(keys, 'overlay.up');
  const down = keyOf(keys, 'overlay.down');
  if (up === null || down === null) return [];
  return [`${up === 'Up' && down === 'Down' ? '↑↓' : `${up} ${down}`} ${words}`];
}

/** The keys of a list: with a field they are letters of its text. @param enter what Enter does in it */
export function listFoot(overlay: ListOverlay, keys: KeyMap, enter: string, letters: FootKeys): readonly string[] {
  const { field } = overlay;
  if (field !== null && field.purpose !== 'filter')
    return footKeys(keys, [
      ['field.accept', field.purpose === 'new' ? 'create' : field.purpose],
      ['field.close', 'back'],
    ]);
  const take = footKeys(keys, [['overlay.accept', enter]]);
  const close = footKeys(keys, [['overlay.close', 'close']]);
  if (letters.length === 0) return [...moveKeys(keys, 'choose'), ...take, ...close];
  const own = footKeys(keys, letters);
  if (field === null) return [...take, ...own, ...footKeys(keys, [['overlay.filter', 'filter']]), ...close];
  const [first = '', ...more] = own;
  const back = keyOf(keys, 'field.close');
  return [...take, ...(back === null ? [] : [`${back}, then ${first}`]), ...more, ''];
}
