import type { Ask } from '../../src/schema/ask.ts';
import { hasField, unsentText } from './card-fields.ts';
import { newCard } from './card-state.ts';
import {
  type ApprovalsAction,
  type ApprovalsIntent,
  type ApprovalsState,
  type ApprovalsView,
  type Approved,
  focus,
  mostAnswered,
  mostHistory,
  only,
} from './approvals-state.ts';
import { withSeen } from './drawn-card.ts';
import { onCard } from './on-card.ts';
import { onList, withChosen } from './on-list.ts';

/** One step. Pure: answers, proposals and looks come back as intents. What is on the screen afterwards counts as seen. */
export function reduceApprovals(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  const done = reduce(state, action, view);
  const shown = done.state.card === null ? withChosen(done.state, state) : done.state;
  return { ...done, state: withSeen(shown, view) };
}

function reduce(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  switch (action.type) {
    case 'asks':
      return asksCame(state, action.asks, action.ids, view);
    case 'focus':
      return focus(state, action.id, view);
    case 'focus-next': {
      const next = nextAsk(state, action.run_id);
      if (next === undefined) return only({ ...state, said: 'nothing waits for an answer' });
      // The only one keeps what it is doing.
      if (next.id === state.card?.id) return only(state);
      const text = state.card === null ? '' : unsentText(state.card);
      const focused = focus(state, next.id, view);
      return text === '' ? focused : { ...focused, intents: [...focused.intents, { do: 'keep-text', text }] };
    }
    case 'resolved':
      return resolved(state, action, view);
    case 'edited-outside':
      // The editor was open for longer than the ask, or than the field of its card.
      return action.text === null || (state.card?.id === action.id && hasField(state.card))
        ? onOpen(state, action, view)
        : only(state, { do: 'keep-text', text: action.text });
    case 'history':
      return only({
        ...state,
        answered: action.asks.slice(0, mostAnswered),
        history: action.whole ? action.asks : state.history,
      });
    default:
      return onOpen(state, action, view);
  }
}

const onOpen = (state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved =>
  state.card === null ? onList(state, action, view) : onCard(state, state.card, action, view);

/** The first of the run in view, or the first; behind a card that has the keys the one after it. */
function nextAsk({ asks, card }: ApprovalsState, runId: string | null): Ask | undefined {
  const at = card === null ? -1 : asks.findIndex(({ id }) => id === card.id);
  if (at >= 0) return asks[(at + 1) % asks.length];
  return asks.find(({ run_id }) => run_id === runId) ?? asks[0];
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
  };
  const { card } = state;
  if (card === null) {
    const edited = open.find(({ run_id, preview }) => run_id === state.follows && preview.anew?.edited === true);
    return edited === undefined || state.follows === null
      ? only(next)
      : focus({ ...next, follows: null }, edited.id, view);
  }
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
  const text = unsentText(card);
  const kept: readonly ApprovalsIntent[] = text === '' ? [] : [{ do: 'keep-text', text }];
  return only({ ...next, card: { ...newCard(ask, view.now, view.guardMs), said } }, ...kept);
}

/** The row that is known already stays the same value, so that nothing is laid out anew for it. */
const sameRow = (known: readonly Ask[], ask: Ask): Ask =>
  known.find((one) => one.id === ask.id && one.updated_at === ask.updated_at && one.binding === ask.binding) ?? ask;

/** By deadline, those without one last, then the oldest. */
const sorted = (asks: readonly Ask[]): readonly Ask[] =>
  [...asks].sort((one, other) => {
    const by = (one.expires_at ?? '\uffff') < (other.expires_at ?? '\uffff') ? -1 : 1;
    return one.expires_at === other.expires_at ? (one.created_at < other.created_at ? -1 : 1) : by;
  });

const newest = (asks: readonly Ask[], ask: Ask, most: number): readonly Ask[] =>
  [ask, ...asks.filter(({ id }) => id !== ask.id)].slice(0, most);

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
    follows: mine && ask.verdict?.edited !== undefined ? ask.run_id : null,
    answered: newest(state.answered, ask, mostAnswered),
    history: state.history === null ? null : newest(state.history, ask, mostHistory),
  };
  if (state.card?.id !== ask.id) return only(next);
  const text = unsentText(state.card);
  const kept: readonly ApprovalsIntent[] = text === '' || mine ? [] : [{ do: 'keep-text', text }];
  const follows = asks.find(({ run_id }) => run_id !== null && run_id === ask.run_id);
  const card = follows === undefined ? null : newCard(follows, view.now, view.guardMs);
  const lostAt = mine ? null : view.now;
  return only({ ...next, card, lostAt, selected: follows?.id ?? next.selected }, ...kept);
}
