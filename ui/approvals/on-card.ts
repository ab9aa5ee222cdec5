import type { CardChoice } from '../../src/view/ask-card.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { moveTo, isEdit } from '../composer/editing.ts';
import { moveRow } from '../composer/visual-lines.ts';
import {
  acceptField,
  closeInCard,
  editInCard,
  editJudged,
  replaceField,
  typeInCard,
  unsentText,
} from './card-fields.ts';
import {
  type CardFacts,
  type CardIntent,
  type CardState,
  guarded,
  scrollCard,
  scrollLines,
  newCard,
  saying,
} from './card-state.ts';
import { choose, markChoice, moveChoice, pressLetter, ruleKey, takeChoice, tickCard } from './card-choices.ts';
import { editFind, findInCard, lookFor, nextFlag, typeFind, type Whole } from './card-find.ts';
import { cardData } from './card-text.ts';
import { choiceCommands, fieldColumns, innerColumns } from './card-place.ts';
import {
  type ApprovalsAction,
  type ApprovalsState,
  type ApprovalsView,
  type Approved,
  only,
  shownIdOf,
} from './approvals-state.ts';
import { drawnCard } from './drawn-card.ts';

export function onCard(state: ApprovalsState, card: CardState, action: ApprovalsAction, view: ApprovalsView): Approved {
  const facts = drawnCard(state, view)?.facts;
  if (facts === undefined) return only({ ...state, card: null });
  const { now, guardMs } = view;
  const carded = (done: { readonly card: CardState; readonly intents: readonly CardIntent[] }): Approved =>
    only({ ...state, card: done.card }, ...done.intents);
  const keep = (next: CardState): Approved => only({ ...state, card: next });
  switch (action.type) {
    case 'tick':
      // Left for later by its letter, which waited like any other.
      if (card.burst?.choice === 'later' && now >= card.burst.at) return only({ ...state, card: null });
      return carded(tickCard(card, facts, now));
    case 'redrawn':
      return keep(guarded(card, now, guardMs));
    case 'text':
      if (card.mode.at === 'find') return keep(typeFind(card, wholeOf(state, view, facts), action.text));
      return card.mode.at === 'field' || card.mode.at === 'edit'
        ? carded(typeInCard(card, action.text))
        : carded(pressLetter(card, null, now));
    case 'paste':
      if (card.mode.at === 'find') return keep(typeFind(card, wholeOf(state, view, facts), action.text));
      // It is gone, so whoever meant it for the composer has to know.
      if (card.mode.at === 'choices') return carded(saying(card, 'a paste answers nothing: Esc first'));
      return carded(typeInCard(card, action.text));
    case 'refused': {
      if (action.id !== card.id) return only(state);
      const asks =
        action.ask === null ? state.asks : state.asks.map((one) => (one.id === action.id ? (action.ask ?? one) : one));
      const again = action.ask === null ? card : { ...newCard(action.ask, now, guardMs), full: false };
      return only({
        ...state,
        asks,
        card: { ...guarded(again, now, guardMs), mode: { at: 'choices' }, said: action.why },
      });
    }
    case 'proposals': {
      if (action.id !== card.id || card.mode.at !== 'rule') return only(state);
      return keep(guarded({ ...card, mode: { ...card.mode, proposals: action.proposals, chosen: 0 } }, now, guardMs));
    }
    case 'edit-judged':
      return action.id === card.id
        ? carded(editJudged(card, action.verdict, action.args, action.text, now, guardMs))
        : only(state);
    case 'edited-outside': {
      if (action.id !== card.id) return only(state);
      return keep({ ...(action.text === null ? card : replaceField(card, action.text)), said: action.why });
    }
    case 'command':
      return cardCommand(state, card, facts, action.id, view);
    default:
      return only(state);
  }
}

const choiceOfCommand = (id: string): CardChoice | undefined =>
  // True because the record's keys are the choices.
  (Object.keys(choiceCommands) as CardChoice[]).find((choice) => choiceCommands[choice] === id);

function cardCommand(
  state: ApprovalsState,
  card: CardState,
  facts: CardFacts,
  id: string,
  view: ApprovalsView,
): Approved {
  const { now, guardMs } = view;
  const carded = (done: { readonly card: CardState; readonly intents: readonly CardIntent[] }): Approved =>
    only({ ...state, card: done.card }, ...done.intents);
  // Only beside or over a list is there something to go back to.
  if (id === 'card.back' && (view.listed !== true || card.mode.at !== 'choices')) return only(state);
  if (id === 'card.leave' || id === 'card.back' || id === 'field.close' || id === 'overlay.close') {
    const inner = closeInCard(card, now, guardMs);
    return only({ ...state, card: inner });
  }
  if (card.mode.at === 'sending') return only(state);
  if (id.startsWith('field.')) return fieldCommand(state, card, facts, id.slice('field.'.length), view);
  switch (id) {
    case 'overlay.up':
    case 'overlay.down':
      return carded(ruleKey(card, id === 'overlay.up' ? 'up' : 'down', now));
    case 'overlay.page-up':
    case 'overlay.page-down':
      return only({ ...state, card: scrollCard(card, facts, id === 'overlay.page-up' ? -1 : 1) });
    case 'rule.matches':
      return carded(ruleKey(card, 'matches', now));
    case 'rule.write':
      return carded(ruleKey(card, 'write', now));
    case 'card.up':
    case 'card.down':
      return carded(moveChoice(card, facts, id === 'card.up' ? -1 : 1, now));
    case 'card.take':
      return carded(takeChoice(card, facts, now));
    case 'card.find':
      return only({ ...state, card: findInCard(card) });
    case 'card.next-flag':
      return only({ ...state, card: nextFlag(card, wholeOf(state, view, facts)) });
    case 'card.line-up':
    case 'card.line-down':
      return only({ ...state, card: scrollLines(card, facts, id === 'card.line-up' ? -1 : 1) });
    // What was jumped over is not seen by that.
    case 'card.top':
    case 'card.bottom':
      return only({ ...state, card: { ...card, top: id === 'card.top' ? 0 : facts.lastTop } });
    case 'card.page-up':
    case 'card.page-down':
    case 'card.page':
      return only({ ...state, card: scrollCard(card, facts, id === 'card.page-up' ? -1 : 1) });
  }
  const mark = /^card\.choice-(\d)$/.exec(id)?.[1];
  if (mark !== undefined) return carded(markChoice(card, facts, Number(mark) - 1, now));
  const choice = choiceOfCommand(id);
  if (choice === undefined) return only(state);
  // Looking at all of it answers nothing: it need not wait for another letter.
  if (choice === 'full' && now >= card.guardUntil && card.burst === null)
    return carded(choose(card, facts, choice, now));
  return carded(pressLetter(card, choice, now));
}

const wholeOf = (state: ApprovalsState, view: ApprovalsView, facts: CardFacts): Whole => ({
  data: cardData(facts.ask, view.place.glyphs, shownIdOf(state)),
  facts,
  columns: innerColumns(view.place),
});

function fieldCommand(
  state: ApprovalsState,
  card: CardState,
  facts: CardFacts,
  name: string,
  view: ApprovalsView,
): Approved {
  const carded = (done: { readonly card: CardState; readonly intents: readonly CardIntent[] }): Approved =>
    only({ ...state, card: done.card }, ...done.intents);
  if (card.mode.at === 'find') {
    const whole = wholeOf(state, view, facts);
    if (isEdit(name)) return only({ ...state, card: editFind(card, whole, name) });
    // The next hit by Enter too: `n` is an answer here.
    const by = name === 'up' ? -1 : name === 'down' || name === 'accept' ? 1 : null;
    return by === null ? only(state) : only({ ...state, card: lookFor(card, whole, by) });
  }
  if (name === 'accept') return carded(acceptField(card, view.now, view.guardMs));
  if (name === 'newline') return carded(typeInCard(card, '\n'));
  if (name === 'editor')
    return card.mode.at === 'edit' ? only(state, { do: 'editor', id: card.id, text: unsentText(card) }) : only(state);
  if (name === 'up' || name === 'down') {
    const { mode } = card;
    if (mode.at !== 'field' && mode.at !== 'edit') return only(state);
    const moved = moveRow(
      mode.editing,
      name === 'up' ? -1 : 1,
      fieldColumns(view.place),
      columnsOf,
      null,
      view.place.glyphs,
    );
    if (moved === null) return only(state);
    return only({ ...state, card: { ...card, mode: { ...mode, editing: moveTo(mode.editing, moved.caret) } } });
  }
  return isEdit(name) ? carded(editInCard(card, name)) : only(state);
}
