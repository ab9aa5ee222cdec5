import { textOf } from '../../src/view/line.ts';
import { edit, type EditCommand, emptyEditing, typeText } from '../composer/editing.ts';
import type { CardFacts, CardState } from './card-state.ts';
import { type CardData, cardText } from './card-text.ts';

/** A card that is viewed whole, at one width: what is looked for in it. */
export type Whole = { readonly data: CardData; readonly facts: CardFacts; readonly columns: number };

const rowsOf = ({ data, columns }: Whole): readonly string[] =>
  cardText(data, columns, Number.POSITIVE_INFINITY, true).rows.map(({ line }) => textOf(line));

/** Opens the field of the search; letters are text then, and answer nothing. */
export const findInCard = (card: CardState): CardState =>
  card.full && card.mode.at === 'choices'
    ? { ...card, said: null, burst: null, mode: { at: 'find', editing: emptyEditing, hit: null } }
    : card;

/** What is typed into it; the first hit at or behind the top comes into view. Text that was jumped over is not seen. */
export function typeFind(card: CardState, whole: Whole, text: string): CardState {
  if (card.mode.at !== 'find') return card;
  const editing = typeText(card.mode.editing, text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' '));
  return lookFor({ ...card, mode: { ...card.mode, editing } }, whole, 0);
}

export function editFind(card: CardState, whole: Whole, command: EditCommand): CardState {
  if (card.mode.at !== 'find') return card;
  return lookFor({ ...card, mode: { ...card.mode, editing: edit(card.mode.editing, command) } }, whole, 0);
}

/** @param by 0 = the hit nearest behind the top, 1 and -1 = the next and the former one */
export function lookFor(card: CardState, whole: Whole, by: 1 | 0 | -1): CardState {
  if (card.mode.at !== 'find') return card;
  const query = card.mode.editing.text.trim();
  const exact = /\p{Lu}/u.test(query);
  const fold = (text: string) => (exact ? text : text.toLowerCase());
  const hits = query === '' ? [] : rowsOf(whole).flatMap((row, at) => (fold(row).includes(fold(query)) ? [at] : []));
  const now = card.mode.hit === null ? -1 : hits.indexOf(card.mode.hit);
  const hit =
    by === 0
      ? (hits.find((at) => at >= card.top) ?? hits[0] ?? null)
      : (hits[(now + by + hits.length) % Math.max(1, hits.length)] ?? null);
  return atRow(
    { ...card, said: hit === null && query !== '' ? 'no hit' : null, mode: { ...card.mode, hit } },
    whole,
    hit,
  );
}

/** The next row that stands out, or that has something in it which cannot be seen; round to the first one behind the last. */
export function nextFlag(card: CardState, whole: Whole): CardState {
  if (!card.full) return card;
  const drawn = cardText(whole.data, whole.columns, Number.POSITIVE_INFINITY, true).rows;
  const rows = drawn.flatMap(({ line, flagged }, at) =>
    flagged || /⟨|[\u2400-\u2426]/.test(textOf(line)) ? [at] : [],
  );
  if (rows.length === 0) return { ...card, said: 'no line stands out, and nothing is hidden in it' };
  return atRow({ ...card, said: null }, whole, rows.find((at) => at > card.top + margin) ?? rows[0] ?? null);
}

/** Rows that stay in view above what was found. */
const margin = 2;

const atRow = (card: CardState, { facts }: Whole, row: number | null): CardState =>
  row === null ? card : { ...card, top: Math.max(0, Math.min(facts.lastTop, row - margin)) };
