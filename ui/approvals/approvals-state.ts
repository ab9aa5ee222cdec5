import type { Ask } from '../../src/schema/ask.ts';
import type { RuleProposals } from '../../src/schema/policy-views.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import { hiddenCharacters } from '../../src/view/escape.ts';
import { isEdit } from '../composer/composer-state.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { type Editing, edit, emptyEditing, moveTo, typeText } from '../composer/editing.ts';
import { moveRow } from '../composer/visual-lines.ts';
import type { KeyContext } from '../keys/commands.ts';
import type { KeyMap } from '../keys/key-map.ts';
import {
  acceptField,
  type CardFacts,
  type CardIntent,
  type CardState,
  choose,
  closeInCard,
  editInCard,
  editJudged,
  guarded,
  markChoice,
  moveChoice,
  newCard,
  pressLetter,
  replaceField,
  ruleKey,
  scrollCard,
  takeChoice,
  tickCard,
  typeInCard,
  unsentText,
} from './card-state.ts';
import { type CardData, cardData, unseenLines } from './card-text.ts';
import { type CardPlace, type CardView, cardView, choiceCommands, fieldColumns } from './card-view.ts';
import { holds, type Seen, withPieces } from './seen.ts';

/** Asks as the terminal shows them: all open ones, the one that has the keys, and what became of the last. */
export type ApprovalsState = {
  /** Open asks of every run and process, by deadline. */
  readonly asks: readonly Ask[];
  readonly card: CardState | null;
  /** What of each ask's data was on the screen, by id and binding. */
  readonly seen: Readonly<Record<string, Seen>>;
  readonly results: readonly { readonly ask: Ask; readonly mine: boolean }[];
  readonly selected: string | null;
  readonly marked: ReadonlySet<string>;
  readonly filter: { readonly editing: Editing; readonly typing: boolean; readonly by: 'text' | 'tool' };
  readonly grouped: boolean;
  readonly history: readonly Ask[] | null;
  /** Asks whose denial waits for one more key. */
  readonly denying: { readonly ids: readonly string[]; readonly guardUntil: number } | null;
  readonly said: string | null;
  /** Short ids, by whole id. */
  readonly ids: Readonly<Record<string, string>>;
};

export type ApprovalsAction =
  | { readonly type: 'asks'; readonly asks: readonly Ask[]; readonly ids: Readonly<Record<string, string>> }
  /** Gives the keys to a card. */
  | { readonly type: 'focus'; readonly id: string }
  /** Gives the keys to the first open ask, of a run if it has one. */
  | { readonly type: 'focus-next'; readonly run_id: string | null }
  | { readonly type: 'command'; readonly id: string }
  /** A printable key that no command has. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'tick' }
  /** The screen is another than before: a resize, an overlay that closed, a return from suspension. */
  | { readonly type: 'redrawn' }
  /** The row of an ask that is over; `mine` where this terminal answered it. */
  | { readonly type: 'resolved'; readonly ask: Ask; readonly mine: boolean; readonly told: string | null }
  /** An answer was refused and the ask stands; `ask` is the row by now. */
  | { readonly type: 'refused'; readonly id: string; readonly why: string; readonly ask: Ask | null }
  | { readonly type: 'proposals'; readonly id: string; readonly proposals: RuleProposals }
  | {
      readonly type: 'edit-judged';
      readonly id: string;
      readonly verdict: { readonly action: 'allow' | 'approve' | 'deny'; readonly why: string };
      readonly args: Record<string, unknown>;
      readonly text: string;
    }
  | { readonly type: 'edited-outside'; readonly id: string; readonly text: string | null; readonly why: string | null }
  | { readonly type: 'history'; readonly asks: readonly Ask[] };

export type ApprovalsIntent =
  | CardIntent
  /** What became of an ask that is no longer open: `resolved` comes back. */
  | { readonly do: 'look'; readonly id: string }
  | { readonly do: 'load-history' }
  | { readonly do: 'deny-all'; readonly asks: readonly { readonly id: string; readonly binding: string }[] }
  /** Text of a field that lost its card, for Ctrl+Y. */
  | { readonly do: 'keep-text'; readonly text: string };

export type ApprovalsView = {
  readonly place: CardPlace;
  readonly keys: KeyMap;
  readonly guardMs: number;
  readonly now: number;
  /** Something else is drawn over the card: what it holds is not seen. */
  readonly covered: boolean;
  /** The card is only looked at: it has no keys. */
  readonly look?: true;
};

export type Approved = { readonly state: ApprovalsState; readonly intents: readonly ApprovalsIntent[] };

export const emptyApprovals: ApprovalsState = {
  asks: [],
  card: null,
  seen: {},
  results: [],
  selected: null,
  marked: new Set(),
  filter: { editing: emptyEditing, typing: false, by: 'text' },
  grouped: false,
  history: null,
  denying: null,
  said: null,
  ids: {},
};

export const shownIdOf =
  ({ ids }: Pick<ApprovalsState, 'ids'>) =>
  (id: string): string =>
    ids[id] ?? id;

const seenKey = (ask: Pick<Ask, 'id' | 'binding'>): string => `${ask.id} ${ask.binding}`;

/** The ask whose card has the keys. */
export const focusedAsk = ({ asks, card }: ApprovalsState): Ask | null =>
  card === null ? null : (asks.find(({ id }) => id === card.id) ?? null);

const only = (state: ApprovalsState, ...intents: readonly ApprovalsIntent[]): Approved => ({ state, intents });

type Drawn = { readonly view: CardView; readonly facts: CardFacts; readonly data: CardData };

/** The card with the focus as it is drawn now; null when none has it. */
export function drawnCard(state: ApprovalsState, view: ApprovalsView): Drawn | null {
  const ask = focusedAsk(state);
  if (ask === null || state.card === null) return null;
  const shownId = shownIdOf(state);
  const data = cardData(ask, shownId);
  const unseen = view.look === true ? 0 : unseenLines(data, state.seen[seenKey(ask)] ?? []);
  const hidden = !/^[\x20-\x7e]*$/.test(JSON.stringify(ask.args)) && hiddenCharacters(allText(ask.args)).length > 0;
  const base = { ask, choices: data.card.choices, unseen, hidden, guardMs: view.guardMs };
  const drawn = cardView(state.card, { ...base, data }, view.keys, view.place, view.now, shownId);
  return { view: drawn, facts: { ...base, page: drawn.page, lastTop: drawn.lastTop }, data };
}

const allText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([key, each]) => `${key}\n${allText(each)}`)
          .join('\n')
      : '';

/** Contexts of a card's keys, innermost first (10 §12.5); null when no card has the keys. */
export function cardContexts(state: ApprovalsState): readonly KeyContext[] | null {
  const ask = focusedAsk(state);
  if (ask === null || state.card === null) return null;
  const { at } = state.card.mode;
  if (at === 'rule') return ['overlay.rule', 'overlay.any', 'global'];
  const kind: KeyContext =
    ask.kind === 'question' ? 'card.question' : ask.kind === 'unknown_outcome' ? 'card.unknown' : 'card.permission';
  return at === 'field' || at === 'edit' ? ['field', kind, 'card', 'global'] : [kind, 'card', 'global'];
}

/** Contexts of the list. */
export const listContexts = ({ denying, filter }: ApprovalsState): readonly KeyContext[] =>
  denying !== null
    ? ['overlay.question', 'overlay.any', 'global']
    : filter.typing
      ? ['field', 'approvals', 'global']
      : ['approvals', 'global'];

/** One step. Pure: answers, proposals and looks come back as intents. What is on the screen afterwards counts as seen. */
export function reduceApprovals(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  const done = reduce(state, action, view);
  return { ...done, state: withSeen(done.state, view) };
}

function withSeen(state: ApprovalsState, view: ApprovalsView): ApprovalsState {
  const ask = focusedAsk(state);
  const drawn = view.covered ? null : drawnCard(state, view);
  if (ask === null || drawn === null || drawn.view.visible.length === 0) return state;
  const before = state.seen[seenKey(ask)] ?? [];
  if (drawn.view.visible.every(([from, to]) => holds(before, from, to))) return state;
  return { ...state, seen: { ...state.seen, [seenKey(ask)]: withPieces(before, drawn.view.visible) } };
}

function reduce(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  switch (action.type) {
    case 'asks':
      return asksCame(state, action.asks, action.ids, view);
    case 'focus':
      return focus(state, action.id, view);
    case 'focus-next': {
      const next = state.asks.find(({ run_id }) => run_id === action.run_id) ?? state.asks[0];
      return next === undefined ? only({ ...state, said: 'nothing waits for an answer' }) : focus(state, next.id, view);
    }
    case 'resolved':
      return resolved(state, action, view);
    case 'history':
      return only({ ...state, history: action.asks });
    default:
      return state.card === null ? onList(state, action, view) : onCard(state, state.card, action, view);
  }
}

function focus(state: ApprovalsState, id: string, view: ApprovalsView): Approved {
  const ask = state.asks.find((one) => one.id === id);
  if (ask === undefined) return only(state);
  return only({ ...state, selected: id, said: null, card: newCard(ask, view.now, view.guardMs) });
}

function asksCame(
  state: ApprovalsState,
  asks: readonly Ask[],
  ids: Readonly<Record<string, string>>,
  view: ApprovalsView,
): Approved {
  const open = sorted(asks.filter((ask) => ask.state === 'pending'));
  const next: ApprovalsState = {
    ...state,
    asks: open.map((ask) => sameRow(state.asks, ask)),
    ids: { ...state.ids, ...ids },
    marked: new Set([...state.marked].filter((id) => open.some((ask) => ask.id === id))),
    selected: open.some(({ id }) => id === state.selected) ? state.selected : (open[0]?.id ?? null),
  };
  const { card } = state;
  if (card === null) return only(next);
  const ask = open.find(({ id }) => id === card.id);
  // It was answered elsewhere, unless this terminal's own answer is under way.
  if (ask === undefined)
    return only(
      { ...next, asks: [...next.asks, ...state.asks.filter(({ id }) => id === card.id)] },
      { do: 'look', id: card.id },
    );
  if (ask.binding === card.binding) return only(next);
  const said =
    ask.preview.policy_changed === true ? 'the policy changed since this was asked' : 'changed since you looked';
  return only({ ...next, card: { ...newCard(ask, view.now, view.guardMs), said } });
}

/** The row that is known already stays the same value, so that nothing is laid out anew for it. */
const sameRow = (known: readonly Ask[], ask: Ask): Ask =>
  known.find((one) => one.id === ask.id && one.updated_at === ask.updated_at && one.binding === ask.binding) ?? ask;

/** By deadline, those without one last, then the oldest. */
export const sorted = (asks: readonly Ask[]): readonly Ask[] =>
  [...asks].sort((one, other) => {
    const by = (one.expires_at ?? '\uffff') < (other.expires_at ?? '\uffff') ? -1 : 1;
    return one.expires_at === other.expires_at ? (one.created_at < other.created_at ? -1 : 1) : by;
  });

/** The answer stands, whoever gave it: the card gives its keys to the next one of its run, or back. */
function resolved(
  state: ApprovalsState,
  { ask, mine, told }: Extract<ApprovalsAction, { type: 'resolved' }>,
  view: ApprovalsView,
): Approved {
  const asks = state.asks.filter(({ id }) => id !== ask.id);
  const results = [...state.results.filter((one) => one.ask.id !== ask.id), { ask, mine }];
  const next: ApprovalsState = {
    ...state,
    asks,
    results: results.slice(-5),
    said: told ?? state.said,
    selected: state.selected === ask.id ? (asks[0]?.id ?? null) : state.selected,
  };
  if (state.card?.id !== ask.id) return only(next);
  const text = unsentText(state.card);
  const kept: readonly ApprovalsIntent[] = text === '' || mine ? [] : [{ do: 'keep-text', text }];
  const follows = asks.find(({ run_id }) => run_id !== null && run_id === ask.run_id);
  const card = follows === undefined ? null : newCard(follows, view.now, view.guardMs);
  return only({ ...next, card, selected: follows?.id ?? next.selected }, ...kept);
}

function onCard(state: ApprovalsState, card: CardState, action: ApprovalsAction, view: ApprovalsView): Approved {
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
      return card.mode.at === 'field' || card.mode.at === 'edit'
        ? carded(typeInCard(card, action.text))
        : carded(pressLetter(card, null, now));
    case 'paste':
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
  if (id === 'card.leave' || id === 'field.close' || id === 'overlay.close') {
    const inner = closeInCard(card, now, guardMs);
    return only({ ...state, card: inner });
  }
  if (card.mode.at === 'sending') return only(state);
  if (id.startsWith('field.')) return fieldCommand(state, card, id.slice('field.'.length), view);
  switch (id) {
    case 'overlay.up':
    case 'overlay.down':
      return carded(ruleKey(card, id === 'overlay.up' ? 'up' : 'down', now));
    case 'rule.matches':
      return carded(ruleKey(card, 'matches', now));
    case 'rule.write':
      return carded(ruleKey(card, 'write', now));
    case 'card.up':
    case 'card.down':
      return carded(moveChoice(card, facts, id === 'card.up' ? -1 : 1, now));
    case 'card.take':
      return carded(takeChoice(card, facts, now));
    case 'card.page-up':
    case 'card.page-down':
    case 'view.page':
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

function fieldCommand(state: ApprovalsState, card: CardState, name: string, view: ApprovalsView): Approved {
  const carded = (done: { readonly card: CardState; readonly intents: readonly CardIntent[] }): Approved =>
    only({ ...state, card: done.card }, ...done.intents);
  if (name === 'accept') return carded(acceptField(card, view.now, view.guardMs));
  if (name === 'newline') return carded(typeInCard(card, '\n'));
  if (name === 'editor')
    return card.mode.at === 'edit' ? only(state, { do: 'editor', id: card.id, text: unsentText(card) }) : only(state);
  if (name === 'up' || name === 'down') {
    const { mode } = card;
    if (mode.at !== 'field' && mode.at !== 'edit') return only(state);
    const moved = moveRow(mode.editing, name === 'up' ? -1 : 1, fieldColumns(view.place), columnsOf, null);
    if (moved === null) return only(state);
    return only({ ...state, card: { ...card, mode: { ...mode, editing: moveTo(mode.editing, moved.caret) } } });
  }
  return isEdit(name) ? carded(editInCard(card, name)) : only(state);
}

/** The rows of the list that are shown, in order. */
export function listed(state: ApprovalsState): readonly Ask[] {
  const wanted = state.filter.editing.text.toLowerCase();
  if (wanted === '') return state.asks;
  const text = (ask: Ask): string =>
    state.filter.by === 'tool'
      ? `${ask.tools}.${ask.tool}`
      : `${ask.tools}.${ask.tool} ${ask.summary} ${ask.session_name ?? ''} ${ask.id}`;
  return state.asks.filter((ask) => text(ask).toLowerCase().includes(wanted));
}

function onList(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  if (action.type === 'text' || action.type === 'paste') {
    if (!state.filter.typing) return only(state);
    const editing = typeText(state.filter.editing, action.text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' '));
    return only({ ...state, filter: { ...state.filter, editing } });
  }
  return action.type === 'command' ? listCommand({ ...state, said: null }, action.id, view) : only(state);
}

function listCommand(state: ApprovalsState, id: string, view: ApprovalsView): Approved {
  if (state.denying !== null) return denyCommand(state, state.denying, id, view);
  if (id.startsWith('field.')) return filterCommand(state, id.slice('field.'.length));
  const rows = listed(state);
  const at = rows.findIndex((ask) => ask.id === state.selected);
  const to = (index: number): Approved =>
    only({ ...state, selected: rows[Math.max(0, Math.min(rows.length - 1, index))]?.id ?? null });
  switch (id) {
    case 'approvals.up':
      return to(at - 1);
    case 'approvals.down':
      return to(at + 1);
    case 'approvals.page-up':
      return to(at - 10);
    case 'approvals.page-down':
      return to(at + 10);
    case 'approvals.top':
      return to(0);
    case 'approvals.bottom':
      return to(rows.length - 1);
    case 'approvals.open':
      return state.selected === null ? only(state) : focus(state, state.selected, view);
    case 'approvals.select': {
      if (state.selected === null) return only(state);
      const marked = new Set(state.marked);
      if (!marked.delete(state.selected)) marked.add(state.selected);
      return only({ ...state, marked });
    }
    case 'approvals.select-all':
      return only({ ...state, marked: new Set(rows.map((ask) => ask.id)) });
    case 'approvals.clear':
      return only({ ...state, marked: new Set() });
    case 'approvals.deny':
      return state.marked.size === 0
        ? only({ ...state, said: 'select with Space first: only what is selected can be denied here' })
        : only({ ...state, denying: { ids: [...state.marked], guardUntil: view.now + view.guardMs } });
    case 'approvals.group':
      return only({ ...state, grouped: !state.grouped });
    case 'approvals.history':
      return state.history === null ? only(state, { do: 'load-history' }) : only({ ...state, history: null });
    case 'approvals.filter':
    case 'approvals.filter-tool':
      return only({
        ...state,
        filter: { ...state.filter, typing: true, by: id === 'approvals.filter' ? 'text' : 'tool' },
      });
    default:
      return only(state);
  }
}

function denyCommand(
  state: ApprovalsState,
  denying: NonNullable<ApprovalsState['denying']>,
  id: string,
  view: ApprovalsView,
): Approved {
  if (id === 'question.no' || id === 'overlay.close') return only({ ...state, denying: null });
  if (id !== 'question.yes' || view.now < denying.guardUntil) return only(state);
  const asks = state.asks
    .filter((ask) => denying.ids.includes(ask.id))
    .map(({ id: one, binding }) => ({ id: one, binding }));
  return only({ ...state, denying: null, marked: new Set() }, { do: 'deny-all', asks });
}

function filterCommand(state: ApprovalsState, name: string): Approved {
  const { filter } = state;
  if (name === 'accept') return only({ ...state, filter: { ...filter, typing: false } });
  if (name === 'close') return only({ ...state, filter: { ...filter, typing: false, editing: emptyEditing } });
  return isEdit(name) ? only({ ...state, filter: { ...filter, editing: edit(filter.editing, name) } }) : only(state);
}
