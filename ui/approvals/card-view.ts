import type { Ask } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { formatRemaining } from '../../src/view/format.ts';
import { type Line, foreign, say } from '../../src/view/line.ts';
import { markHits } from '../hits.ts';
import { cutLine, fitLine, lineColumns } from '../../src/view/wrap.ts';
import type { KeyMap } from '../keys/key-map.ts';
import type { CardState } from './card-state.ts';
import { type CardRow, cardText, piecesIn } from './card-text.ts';
import type { Seen } from './seen.ts';
import { type CardPlace, type Drawn, innerColumns, shortColumns } from './card-place.ts';
import { footRows } from './card-foot.ts';
import { editRows, ruleRows } from './card-forms.ts';

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
 * scrolls when even that is too much (10 §7.2).
 */
export function cardView(
  card: CardState,
  facts: Drawn,
  keys: KeyMap,
  place: CardPlace,
  now: number,
  shownId: (id: string) => string,
): CardView {
  const frame = frames[place.glyphs];
  const inner = innerColumns(place);
  const below = footRows(card, facts, keys, inner, place);
  const room = Math.max(1, place.rows - below.length - 2);
  const body = bodyRows(card, facts, inner, room, place.glyphs);
  const lastTop = Math.max(0, body.length - room);
  const top = Math.min(card.top, lastTop);
  const rows = body.slice(top, top + room);
  const side = (line: Line): Line => [
    say(`${frame.side} `, 'ask'),
    ...fitLine(line, inner),
    say(` ${frame.side}`, 'ask'),
  ];
  const query = card.mode.at === 'find' ? card.mode.editing.text.trim() : '';
  const more = lastTop === 0 ? '' : ` lines ${top + 1}-${top + rows.length} of ${body.length} · PgUp PgDn`;
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
  const [ever, before] = columns < shortColumns ? ['never', ''] : ['waits for ever', 'expires in '];
  const time = ms === null ? ever : ms <= 0 ? 'expired' : `${before}${formatRemaining(ms)}`;
  const right: Line = [say(` ${time} `, ms !== null && ms < 60_000 ? 'danger' : 'ask'), say(frame.topEnd, 'ask')];
  return ruled(left, right, frame, columns);
}

function footLine(ask: Ask, { columns, glyphs }: CardPlace, more: string, shownId: (id: string) => string): Line {
  const frame = frames[glyphs];
  const verdict = ask.kind === 'permission' || ask.kind === 'budget' ? ' --approve|--deny' : '';
  const also = ` also: reins approvals respond ${shownId(ask.id)}${verdict} `;
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

function bodyRows(card: CardState, facts: Drawn, inner: number, room: number, glyphs: Glyphs): readonly CardRow[] {
  const { mode } = card;
  if (mode.at === 'rule') return plainRows(ruleRows(mode, inner, glyphs));
  if (mode.at === 'edit') return plainRows(editRows(mode, inner, glyphs));
  if (card.full) return cardText(facts.data, inner, Number.POSITIVE_INFINITY, true).rows;
  const whole = (most: number) => cardText(facts.data, inner, most, false).rows;
  for (let most = mostLines; most > 3; most -= 3) {
    const rows = whole(most);
    if (rows.length <= room) return rows;
  }
  return whole(3);
}

const plainRows = (lines: readonly Line[]): readonly CardRow[] =>
  lines.map((line) => ({ line, owner: null, from: 0, to: 0 }));
