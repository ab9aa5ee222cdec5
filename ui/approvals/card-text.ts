import type { Ask } from '../../src/schema/ask.ts';
import { type AskCard, askCard, type CardPart } from '../../src/view/ask-card.ts';
import { wrap } from '../../src/view/format.ts';
import { type Line, say, shown, type Token } from '../../src/view/line.ts';
import type { Glyphs, SafeText } from '../../src/view/escape.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { holds, type Seen } from './seen.ts';

/** One row of a card's inside. `owner` is the line of data that it shows a piece of; null for what the runtime says. */
export type CardRow = {
  readonly line: Line;
  readonly owner: number | null;
  /** UTF-16 units of that line. */
  readonly from: number;
  readonly to: number;
};

/** The inside of a card at one width. */
export type CardText = {
  readonly rows: readonly CardRow[];
  /** Lines of data that stand in no row. */
  readonly folded: number;
};

/** The lines of a card that nothing is approved without: what came from outside, in the order of the parts. */
export type CardData = {
  readonly card: AskCard;
  readonly glyphs: Glyphs;
  /** `at`: where a line begins in all of them together, each with one unit for its end. */
  readonly lines: readonly { readonly text: SafeText; readonly part: number; readonly at: number }[];
};

const kept: Readonly<Record<Glyphs, WeakMap<Ask, CardData>>> = { unicode: new WeakMap(), ascii: new WeakMap() };

/** The card of an ask without its deadline, which moves; made once for each row that was read and each set of signs. */
export function cardData(ask: Ask, glyphs: Glyphs, shownId: (id: string) => string): CardData {
  const found = kept[glyphs].get(ask);
  if (found !== undefined) return found;
  const card = askCard(ask, 0, shownId, glyphs);
  const lines: CardData['lines'][number][] = [];
  let at = 0;
  for (const [part, { foldable, lines: texts }] of card.parts.entries()) {
    if (!foldable) continue;
    for (const text of texts) {
      lines.push({ text, part, at });
      at += text.length + 1;
    }
  }
  const data = { card, lines, glyphs };
  kept[glyphs].set(ask, data);
  return data;
}

const labelWidth = (card: AskCard): number => Math.max(7, ...card.parts.map(({ label }) => Math.min(label.length, 12)));

/**
 * The rows between the frame of a card, without its choices. @param most lines that a part of data may take; all that
 * stands behind is folded, and its number said @param numbered with line numbers, for the full view
 */
export function cardText(data: CardData, columns: number, most: number, numbered: boolean): CardText {
  const sizes = laid.get(data) ?? new Map<string, CardText>();
  const name = `${columns} ${most} ${numbered}`;
  const found = sizes.get(name);
  if (found !== undefined) return found;
  // A card is drawn at few sizes; after resizes the old ones go.
  if (sizes.size > 12) sizes.clear();
  const text = newCardText(data, columns, most, numbered);
  sizes.set(name, text);
  laid.set(data, sizes);
  return text;
}

const laid = new WeakMap<CardData, Map<string, CardText>>();

/** Below this width labels stand on rows of their own. */
const narrow = 40;

function newCardText(data: CardData, columns: number, most: number, numbered: boolean): CardText {
  const { card, glyphs } = data;
  // A number stands between a label and its line.
  const longest = numbered ? Math.max(0, ...card.parts.map(({ lines, foldable }) => (foldable ? lines.length : 0))) : 0;
  const width = columns < narrow ? 0 : labelWidth(card) + (longest > 1 ? String(longest).length : 0);
  const rows: CardRow[] = [];
  let folded = 0;
  const put = (label: string, token: Token, text: SafeText, own: Token | undefined, owner: number | null) => {
    const room = Math.max(4, columns - width - 2);
    let at = 0;
    for (const [index, piece] of wrap(text, room, columnsOf).entries()) {
      const before = say((index === 0 ? label : '').padEnd(width + 2), token);
      rows.push({ line: [before, ...shown(piece as SafeText, glyphs, own)], owner, from: at, to: at + piece.length });
      at += piece.length;
    }
  };
  rows.push({ line: shown(card.headline, glyphs, 'text', ['bold']), owner: null, from: 0, to: 0 });
  const warn = () => {
    for (const [index, text] of card.warnings.entries())
      put(index === 0 && width > 0 ? 'warning' : '', 'warn', `! ${text}` as SafeText, 'warn', null);
  };
  let line = 0;
  for (const part of card.parts) {
    if (part.label === 'rule') warn();
    // A fold takes a row itself: one line is not worth it.
    const own = part.foldable && part.lines.length > most + 1 ? part.lines.slice(0, most) : part.lines;
    // The name of an argument comes from outside and may be of any length.
    const apart = part.label.length > width && part.lines.length > 0;
    if (apart) rows.push(...labelRows(part, columns, glyphs));
    const digits = numbered && part.foldable && part.lines.length > 1 ? String(part.lines.length).length : 0;
    for (const [index, text] of own.entries()) {
      const number = digits === 0 ? '' : `${String(index + 1).padStart(digits)} `;
      const label = index === 0 && !apart ? part.label : number === '' ? '' : ' '.repeat(0);
      putData(part, `${label.padEnd(Math.max(0, width + 2 - number.length))}${number}`, text, index);
    }
    if (part.foldable) line += part.lines.length;
    const hidden = part.lines.length - own.length;
    folded += hidden;
    if (hidden > 0) rows.push(foldRow(width, hidden, part.lines.length));
  }
  if (!card.parts.some(({ label }) => label === 'rule')) warn();
  return { rows, folded };

  function putData(part: CardPart, label: string, text: SafeText, index: number): void {
    put(
      label,
      part.foldable ? 'accent' : 'dim',
      text,
      part.label === 'diff' ? diffToken(text) : undefined,
      part.foldable ? line + index : null,
    );
  }
}

const foldRow = (width: number, hidden: number, total: number): CardRow => ({
  line: [say(`${''.padEnd(width + 2)}… ${hidden} of ${total} lines hidden: v`, 'warn')],
  owner: null,
  from: 0,
  to: 0,
});

const labelRows = ({ label }: CardPart, columns: number, glyphs: Glyphs): readonly CardRow[] =>
  wrap(label, columns, columnsOf).map((piece) => ({
    // A part of a safe label is safe.
    line: shown(piece as SafeText, glyphs, 'accent'),
    owner: null,
    from: 0,
    to: 0,
  }));

const diffToken = (text: string): Token | undefined =>
  text.startsWith('+') ? 'add' : text.startsWith('-') ? 'remove' : text.startsWith('@@') ? 'dim' : undefined;

/** The pieces of the data that some rows show. */
export function piecesIn(data: CardData, rows: readonly CardRow[]): Seen {
  return rows.flatMap(({ owner, from, to }): Seen => {
    const line = owner === null ? undefined : data.lines[owner];
    if (line === undefined) return [];
    return [[line.at + from, line.at + to + (to === line.text.length ? 1 : 0)]];
  });
}

/** How many lines of data have not been on the screen in full. */
export const unseenLines = (data: CardData, seen: Seen): number =>
  data.lines.filter(({ text, at }) => !holds(seen, at, at + text.length + 1)).length;
