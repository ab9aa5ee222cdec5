import type { Ask } from '../../src/schema/ask.ts';
import { signs } from '../../src/view/rows.ts';
import { type AskCard, askCard } from '../../src/view/ask-card.ts';
import { type CardPart, mostSegments } from '../../src/view/card-parts.ts';
import { wrap, wrapWords } from '../../src/view/format.ts';
import { type Line, say, shown, type Token } from '../../src/view/line.ts';
import type { Glyphs, SafeText } from '../../src/view/escape.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { holds, type Seen } from './seen.ts';

/** One row of a card's inside. `owner` is the line of the card that it shows a piece of; null for what only helps. */
export type CardRow = {
  readonly line: Line;
  readonly owner: number | null;
  /** UTF-16 units of that line. */
  readonly from: number;
  readonly to: number;
  /** A warning names this line. */
  readonly flagged?: true;
};

/** The inside of a card at one width. */
export type CardText = {
  readonly rows: readonly CardRow[];
  /** Lines that stand in no row. */
  readonly folded: number;
};

/** A card, and the lines of it that nothing is approved without (10 §7.4): what may fold, and what may scroll away. */
export type CardData = {
  readonly card: AskCard;
  /** Of each part, the owner of its first line; null for one that need not be seen. */
  readonly owners: readonly (number | null)[];
  /** Lines of the command that a warning names, counted from 1. */
  readonly flagged: ReadonlySet<number>;
  /** The owner of the first warning. */
  readonly warnings: number;
  readonly glyphs: Glyphs;
  /** `at`: where a line begins in all of them together, each with one unit for its end. */
  readonly lines: readonly { readonly text: SafeText; readonly at: number }[];
};

const kept: Readonly<Record<Glyphs, WeakMap<Ask, CardData>>> = { unicode: new WeakMap(), ascii: new WeakMap() };

/** The card of an ask without its deadline, which moves; made once for each row that was read and each set of signs. */
export function cardData(ask: Ask, glyphs: Glyphs, shownId: (id: string) => string): CardData {
  const found = kept[glyphs].get(ask);
  if (found !== undefined) return found;
  const full = askCard(ask, 0, shownId, glyphs);
  // The choices of a question stand beside their keys.
  const card = { ...full, parts: full.parts.filter(({ label }) => label !== 'choices') };
  const lines: CardData['lines'][number][] = [];
  let at = 0;
  const add = (texts: readonly SafeText[]): number => {
    const owner = lines.length;
    for (const text of texts) {
      lines.push({ text, at });
      at += text.length + 1;
    }
    return owner;
  };
  const owners = card.parts.map((part) => (part.extra === undefined ? add(part.lines) : null));
  const flagged = new Set((ask.preview.flags ?? []).flatMap((flag) => flag.lines));
  const data = { card, owners, flagged, warnings: add(card.warnings), lines, glyphs };
  kept[glyphs].set(ask, data);
  return data;
}

const labelWidth = (parts: readonly CardPart[]): number =>
  Math.max(7, ...parts.map(({ label }) => Math.min(label.length, 12)));

/**
 * The rows between the frame of a card, without its choices. @param most lines that a part of data may take; all that
 * stands behind is folded, and its number said @param whole for the full view: with line numbers, and with what another part tells already
 */
export function cardText(data: CardData, columns: number, most: number, whole: boolean): CardText {
  const sizes = laid.get(data) ?? new Map<string, CardText>();
  const name = `${columns} ${most} ${whole}`;
  const found = sizes.get(name);
  if (found !== undefined) return found;
  // A card is drawn at few sizes; after resizes the old ones go.
  if (sizes.size > 12) sizes.clear();
  const text = newCardText(data, columns, most, whole);
  sizes.set(name, text);
  laid.set(data, sizes);
  return text;
}

const laid = new WeakMap<CardData, Map<string, CardText>>();

/** How far the rest of a broken line of a diff stands behind its beginning. */
const hanging = 2;

/** What is left of a part when there is no room: its beginning. */
const leastLines = 3;

/** Below this width labels stand on rows of their own. */
const narrow = 40;

function newCardText(data: CardData, columns: number, most: number, whole: boolean): CardText {
  const { card, glyphs } = data;
  const parts = card.parts.map((part, index) => ({ part, owner: data.owners[index] ?? null }));
  const drawn = parts.filter(({ part }) => whole || part.extra !== 'told');
  const width = columns < narrow ? 0 : labelWidth(drawn.map(({ part }) => part));
  const rows: CardRow[] = [];
  let folded = 0;
  const put = (piece: Piece): void => void rows.push(...pieceRows(piece, columns, glyphs));
  for (const piece of wrapWords(card.headline, columns, columnsOf))
    rows.push({ line: shown(piece as SafeText, glyphs, 'text', ['bold']), owner: null, from: 0, to: 0 });
  const warn = () => {
    for (const [index, text] of card.warnings.entries())
      put({
        before: [say((index === 0 && width > 0 ? 'warning' : '').padEnd(width + 2), 'warn'), say('! ', 'warn')],
        text,
        token: 'warn',
        owner: data.warnings + index,
      });
  };
  for (const { part, owner } of drawn) {
    if (part.label === 'rule') warn();
    // What only helps gives way first.
    const room = part.extra === 'help' ? Math.min(most, mostSegments) : Math.max(most, leastLines);
    // A fold takes a row itself: one line is not worth it.
    const own = part.foldable && part.lines.length > room + 1 ? part.lines.slice(0, room) : part.lines;
    // The name of an argument comes from outside and may be of any length.
    const apart = part.label.length > width && part.lines.length > 0;
    if (apart) rows.push(...labelRows(part, columns, glyphs));
    const numbers =
      part.numbers ??
      (whole && part.foldable && part.counted !== true && part.lines.length > 1
        ? part.lines.map((_, index) => String(index + 1))
        : []);
    const digits = Math.max(0, ...numbers.map((number) => number.length));
    // A card without room for its other parts scrolls in any case: there a line stays whole.
    let left = whole || !part.foldable || columns < narrow ? Number.POSITIVE_INFINITY : room;
    let complete = 0;
    for (const [index, text] of own.entries()) {
      const label = say((index === 0 && !apart ? part.label : '').padEnd(width + 2), labelToken(part));
      const flagged = part.label === 'command' && data.flagged.has(index + 1);
      const mark = say(flagged ? '!' : ' ', 'warn');
      const number = digits === 0 ? [] : [say((numbers[index] ?? '').padStart(digits), 'dim'), mark];
      const piece: Piece = {
        before: [label, ...number],
        text,
        token: part.danger === true ? 'danger' : part.numbers === undefined ? undefined : diffToken(text),
        owner: owner === null ? null : owner + index,
        ...(part.numbers === undefined ? {} : { diff: true }),
        ...(flagged ? { flagged } : {}),
      };
      const broken = pieceRows(piece, columns, glyphs);
      // One long line would push rule and warnings out of view as well as many lines do.
      const isLast = index === part.lines.length - 1;
      const fits = broken.length <= left + (isLast ? 1 : 0);
      rows.push(...(fits ? broken : broken.slice(0, left)));
      if (!fits) break;
      left -= broken.length;
      complete += 1;
    }
    const hidden = part.lines.length - complete;
    // Its label stands with what is left of it.
    const label = own.length === 0 && !apart ? part.label : '';
    if (part.extra === undefined) folded += hidden;
    if (hidden > 0) rows.push(foldRow(label.padEnd(width + 2), hidden, part.lines.length, glyphs));
  }
  if (!card.parts.some(({ label }) => label === 'rule')) warn();
  return { rows, folded };
}

/** A line of a card, with what stands before it. */
type Piece = {
  readonly before: Line;
  readonly text: SafeText;
  readonly token: Token | undefined;
  readonly owner: number | null;
  readonly diff?: true;
  readonly flagged?: true;
};

/** Broken for the columns that there are, every character of it in order. */
function pieceRows(
  { before, text, token, owner, diff, flagged }: Piece,
  columns: number,
  glyphs: Glyphs,
): readonly CardRow[] {
  const taken = before.reduce((sum, span) => sum + columnsOf(span.text), 0);
  const wide = Math.max(4, columns - taken);
  // What goes on in a diff may begin with a sign: it does not stand in the column of the signs.
  const under = diff !== true || columnsOf(text) <= wide ? 0 : hanging;
  let at = 0;
  return wrapWords(text, Math.max(4, wide - under), columnsOf).map((piece, index) => {
    const first = index === 0 ? before : [say(' '.repeat(taken + under))];
    const from = at;
    at += piece.length;
    return {
      line: [...first, ...shown(piece as SafeText, glyphs, token)],
      owner,
      from,
      to: at,
      ...(flagged === undefined ? {} : { flagged }),
    };
  });
}

const labelToken = (part: CardPart): Token =>
  part.danger === true ? 'danger' : part.foldable && part.extra !== 'help' ? 'accent' : 'dim';

const foldRow = (label: string, hidden: number, total: number, glyphs: Glyphs): CardRow => ({
  line: [say(label, 'dim'), say(`${signs[glyphs].more} ${hidden} of ${total} lines hidden: v`, 'warn')],
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
