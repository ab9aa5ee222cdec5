import type { Ask } from '../../src/schema/ask.ts';
import { allText } from '../../src/view/card-warnings.ts';
import { hiddenCharacters } from '../../src/view/escape.ts';
import { unseenWords } from './card-choices.ts';
import type { CardFacts, CardState } from './card-state.ts';
import { type CardData, cardData, unseenLines } from './card-text.ts';
import { type CardView, cardView } from './card-view.ts';
import { holds, withPieces } from './seen.ts';
import { type ApprovalsState, type ApprovalsView, focusedAsk, shownIdOf } from './approvals-state.ts';

const seenKey = (ask: Pick<Ask, 'id' | 'binding'>): string => `${ask.id} ${ask.binding}`;
type Drawn = { readonly view: CardView; readonly facts: CardFacts; readonly data: CardData };

/** The card with the focus as it is drawn now; null when none has it. */
export function drawnCard(state: ApprovalsState, view: ApprovalsView): Drawn | null {
  const ask = focusedAsk(state);
  if (ask === null || state.card === null) return null;
  const shownId = shownIdOf(state);
  const data = cardData(ask, view.place.glyphs, shownId);
  const unseen = view.look === true ? 0 : unseenLines(data, state.seen[seenKey(ask)] ?? []);
  const hidden = !/^[\x20-\x7e]*$/.test(JSON.stringify(ask.args)) && hiddenCharacters(allText(ask.args)).length > 0;
  const base = { ask, choices: data.card.choices, unseen, hidden, guardMs: view.guardMs };
  const drawn = cardView(state.card, { ...base, data }, view.keys, view.place, view.now, shownId, view.look === true);
  return { view: drawn, facts: { ...base, page: drawn.page, lastTop: drawn.lastTop }, data };
}

export function withSeen(state: ApprovalsState, view: ApprovalsView): ApprovalsState {
  const ask = focusedAsk(state);
  const drawn = view.covered ? null : drawnCard(state, view);
  if (ask === null || drawn === null || drawn.view.visible.length === 0) return state;
  const before = state.seen[seenKey(ask)] ?? [];
  if (drawn.view.visible.every(([from, to]) => holds(before, from, to))) return state;
  const seen = withPieces(before, drawn.view.visible);
  return {
    ...state,
    seen: { ...state.seen, [seenKey(ask)]: seen },
    card: state.card === null ? null : counted(state.card, drawn.facts.unseen, unseenLines(drawn.data, seen)),
  };
}

/** What was said of lines that were not seen holds no longer than that. */
const counted = (card: CardState, before: number, unseen: number): CardState =>
  card.said === unseenWords(before, card.full)
    ? { ...card, said: unseen === 0 ? null : unseenWords(unseen, card.full) }
    : card;
