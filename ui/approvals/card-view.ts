import { type Ask, verdictsFor } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { formatRemaining } from '../../src/view/format.ts';
import { type Line, foreign, say } from '../../src/view/line.ts';
import { markHits } from '../hits.ts';
import { columnsOf, cutLine, fitLine, lineColumns } from '../../src/view/wrap.ts';
import type { KeyMap } from '../keys/key-map.ts';
import type { CardState } from './card-state.ts';
import { type CardData, type CardText, cardText, piecesIn } from './card-text.ts';
import type { Seen } from './seen.ts';
import { type CardPlace, type Drawn, innerColumns, shortColumns } from './card-place.ts';
import { footRows } from './card-foot.ts';
import { editedRows, editRows, ruleRows } from './card-forms.ts';

/** A card at one size: its rows, and what of its data they show. */
export type CardView = {
  readonly lines: readonly Line[];
  /** Pieces of the data that are on the screen. */
  readonly visible: Seen;
  /** Rows of the inside that are in view at a time, and the last one that may stand at the top. */
  readonly page: number;
  readonly lastTop: number;
};

const frames = {
  unicode: { top: '┏', side: '┃', bottom: '┗', topEnd: '┓', bottomEnd: '┛', rule: '━' },
  ascii: { top: '#', side: '#', bottom: '#', topEnd: '#', bottomEnd: '#', rule: '-' },
} as const;

/** Most lines of one part of the data that a card shows before it folds. */
const mostLines = 24;

/**
 * The card with the focus. Title, choices and foot are always in view; what does not fit between them is folded, and
 * scrolls when even that is too much (10 §7.2). @param look it has no keys and shows none
 */
export function cardView(
  card: CardState,
  facts: Drawn,
  keys: KeyMap,
  place: CardPlace,
  now: number,
  shownId: (id: string) => string,
  look = false,
): CardView {
  const frame = frames[place.glyphs];
  const inner = innerColumns(place);
  const roomOver = (foot: readonly Line[]): number => Math.max(1, place.rows - foot.length - 2);
  const bare = look ? [] : footRows(card, { ...facts, unseen: 0 }, keys, inner, place);
  const most = bodyRows(card, facts, inner, roomOver(bare), place.glyphs);
  // What is all in view is not spoken of as unseen: the row for that would take the place of its last line.
  const isWhole = look || (most.folded === 0 && most.rows.length <= roomOver(bare));
  const foot = isWhole ? bare : footRows(card, facts, keys, inner, place);
  const room = roomOver(foot);
  const body = isWhole ? most.rows : bodyRows(card, facts, inner, room, place.glyphs).rows;
  // What is decided stands apart from what is told, where there is room for it.
  const below = foot.length > 0 && body.length < room ? [[], ...foot] : foot;
  const lastTop = Math.max(0, body.length - room);
  const top = Math.min(card.top, lastTop);
  const rows = body.slice(top, top + room);
  const side = (line: Line): Line => [
    say(`${frame.side} `, 'ask'),
    ...fitLine(line, inner),
    say(` ${frame.side}`, 'ask'),
  ];
  const query = card.mode.at === 'find' ? card.mode.editing.text.trim() : '';
  const more = look
    ? ' Enter: to the card'
    : lastTop === 0
      ? ''
      : ` lines ${top + 1}-${top + rows.length} of ${body.length} · PgUp PgDn`;
  return {
    lines: [
      titleLine(facts.ask, place, now, shownId),
      ...rows.map(({ line }) => side(query === '' ? line : markHits(line, query))),
      ...below.map(side),
      footLine(facts.ask, place, more, shownId),
    ],
    visible:
      card.mode.at === 'choices' || card.mode.at === 'sending' || card.mode.at === 'find'
        ? piecesIn(facts.data, rows)
        : [],
    page: room,
    lastTop,
  };
}

type Frame = (typeof frames)['unicode' | 'ascii'];

function titleLine(ask: Ask, { columns, glyphs }: CardPlace, now: number, shownId: (id: string) => string): Line {
  const frame = frames[glyphs];
  const left: Line = [
    say(`${frame.top} ASK `, 'ask'),
    ...foreign(`${shownId(ask.id)} · ${ask.tools}.${ask.tool} `, glyphs, 'ask'),
  ];
  const ms = ask.expires_at === null ? null : Date.parse(ask.expires_at) - now;
  // Where there is hardly room, the time alone stands at the edge.
  const wordy = columns >= shortColumns && lineColumns(left) + 'expires in 6d 23h'.length + 3 <= columns;
  const [ever, before] = wordy ? ['waits for ever', 'expires in '] : ['never', columns < shortColumns ? '' : 'in '];
  const time = ms === null ? ever : ms <= 0 ? 'expired' : `${before}${formatRemaining(ms)}`;
  const right: Line = [say(` ${time} `, ms !== null && ms < 60_000 ? 'danger' : 'ask'), say(frame.topEnd, 'ask')];
  return ruled(left, right, frame, columns);
}

/** Who else can answer, in as many words as there is room for. */
function footLine(ask: Ask, place: CardPlace, more: string, shownId: (id: string) => string): Line {
  const { columns, glyphs, server = null } = place;
  const frame = frames[glyphs];
  const verdict = ` ${verdictsFor(ask.kind)}`;
  const command = `reins approvals respond ${shownId(ask.id)}`;
  const ways =
    server === null
      ? [` also: ${command}${verdict} `, ` also: ${command} `, ' also: approvals respond ']
      : [
          ` also answerable in the browser (beam :${server}) and by: ${command}${verdict} `,
          ` also: browser (beam :${server}), ${command}${verdict} `,
          ` also: browser, ${command} `,
          ' also: browser, approvals respond ',
        ];
  const also = ways.find((words) => columnsOf(words) <= columns - 2) ?? ways.at(-1) ?? '';
  const words = more === '' ? also : `${more} `;
  return ruled(
    [say(frame.bottom, 'ask'), ...foreign(words, glyphs, 'dim')],
    [say(frame.bottomEnd, 'ask')],
    frame,
    columns,
  );
}

/** A border with words at both ends; those at the left give way. */
function ruled(left: Line, right: Line, frame: Frame, columns: number): Line {
  const kept = cutLine(left, Math.max(1, columns - lineColumns(right)));
  const gap = Math.max(0, columns - lineColumns(kept) - lineColumns(right));
  return [...kept, say(frame.rule.repeat(gap), 'ask'), ...right];
}

function bodyRows(card: CardState, facts: Drawn, inner: number, room: number, glyphs: Glyphs): CardText {
  const { mode } = card;
  if (mode.at === 'rule') return plain(ruleRows(mode, inner, glyphs));
  if (mode.at === 'edit') return plain(editRows(mode, inner, glyphs));
  if (mode.at === 'run-edited') return plain(editedRows(mode, inner, glyphs));
  if (card.full) return cardText(facts.data, inner, Number.POSITIVE_INFINITY, true);
  return foldedRows(facts.data, inner, room);
}

/** The inside of a card with as much of each part as there is room for. */
export function foldedRows(data: CardData, inner: number, room: number): CardText {
  const folded = (most: number) => cardText(data, inner, most, false);
  let text = folded(0);
  if (text.rows.length > room) return text;
  // As much of each part as fits: every layout costs, so the number is searched for by halves.
  for (let least = 0, most = mostLines; least < most; ) {
    const middle = Math.ceil((least + most) / 2);
    const more = folded(middle);
    if (more.rows.length <= room) {
      least = middle;
      text = more;
    } else most = middle - 1;
  }
  return text;
}

const plain = (lines: readonly Line[]): CardText => ({
  rows: lines.map((line) => ({ line, owner: null, from: 0, to: 0 })),
  folded: 0,
});
