import type { Ask } from '../../src/schema/ask.ts';
import type { RuleProposals } from '../../src/schema/policy-views.ts';
import { type Editing, emptyEditing } from '../composer/editing.ts';
import type { KeyContext } from '../keys/commands.ts';
import type { KeyMap } from '../keys/key-map.ts';
import { type CardIntent, type CardState, newCard } from './card-state.ts';
import type { CardPlace } from './card-place.ts';
import type { Seen } from './seen.ts';

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
  /** The newest that were answered, here or anywhere. */
  readonly answered: readonly Ask[];
  /** With `h`: the last hundred of them in place of the list, and the row at the top. */
  readonly history: readonly Ask[] | null;
  readonly historyTop: number;
  /** Asks whose denial waits for one more key. */
  readonly denying: { readonly ids: readonly string[]; readonly guardUntil: number } | null;
  readonly said: string | null;
  /** The run whose call was edited here: the ask of the new call gets the keys that the old one had. */
  readonly follows: string | null;
  /** When a card lost its keys to an answer from elsewhere. */
  readonly lostAt: number | null;
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
  /** What was answered last; `whole` where the list of it is wanted. */
  | { readonly type: 'history'; readonly asks: readonly Ask[]; readonly whole: boolean };

export type ApprovalsIntent =
  | CardIntent
  /** What became of an ask that is no longer open: `resolved` comes back. */
  | { readonly do: 'look'; readonly id: string }
  | { readonly do: 'load-history'; readonly whole: boolean }
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
  /** The card belongs to the list of all asks. */
  readonly listed?: boolean;
};

export type Approved = { readonly state: ApprovalsState; readonly intents: readonly ApprovalsIntent[] };

/** Answered asks below the list of open ones. */
export const mostAnswered = 3;
export const mostHistory = 100;

export const emptyApprovals: ApprovalsState = {
  asks: [],
  card: null,
  seen: {},
  results: [],
  selected: null,
  marked: new Set(),
  filter: { editing: emptyEditing, typing: false, by: 'text' },
  grouped: false,
  answered: [],
  history: null,
  historyTop: 0,
  denying: null,
  said: null,
  follows: null,
  lostAt: null,
  ids: {},
};

export const shownIdOf =
  ({ ids }: Pick<ApprovalsState, 'ids'>) =>
  (id: string): string =>
    ids[id] ?? id;

/** The open ask whose id ends so; where there is not exactly one, the sentence that says it. */
export function namedAsk(state: Pick<ApprovalsState, 'asks' | 'ids'>, wanted: string): Ask | string {
  const shown = shownIdOf(state);
  const [ask, ...more] = state.asks.filter(
    ({ id }) => id.endsWith(wanted.replace(/^ask_/, '')) || shown(id) === wanted,
  );
  if (more.length > 0) return `more than one open ask ends in ${wanted}`;
  return ask ?? `no open ask ends in ${wanted}`;
}

/** An id where nothing is known of other ids: its kind and its end. */
export const shortId = (id: string): string => id.replace(/^([a-z]+_).*(.{6})$/, '$1$2');

/** The ask whose card has the keys. */
export const focusedAsk = ({ asks, card }: Pick<ApprovalsState, 'asks' | 'card'>): Ask | null =>
  card === null ? null : (asks.find(({ id }) => id === card.id) ?? null);

export const only = (state: ApprovalsState, ...intents: readonly ApprovalsIntent[]): Approved => ({ state, intents });

/** Contexts of a card's keys, innermost first (10 §12.5); null when no card has the keys. */
export function cardContexts(state: ApprovalsState): readonly KeyContext[] | null {
  const ask = focusedAsk(state);
  if (ask === null || state.card === null) return null;
  const { at } = state.card.mode;
  if (at === 'rule') return ['overlay.rule', 'overlay.any', 'global'];
  const kind: KeyContext =
    ask.kind === 'question' ? 'card.question' : ask.kind === 'unknown_outcome' ? 'card.unknown' : 'card.permission';
  if (at === 'field' || at === 'edit' || at === 'find') return ['field', kind, 'card', 'global'];
  return state.card.full ? ['card.full', kind, 'card', 'global'] : [kind, 'card', 'global'];
}

/** Contexts of the list. */
export const listContexts = ({ denying, filter }: ApprovalsState): readonly KeyContext[] =>
  denying !== null
    ? ['overlay.question', 'overlay.any', 'global']
    : filter.typing
      ? ['field', 'approvals', 'global']
      : ['approvals', 'global'];

export function focus(state: ApprovalsState, id: string, view: ApprovalsView): Approved {
  const ask = state.asks.find((one) => one.id === id);
  if (ask === undefined) return only(state);
  return only({ ...state, selected: id, said: null, card: newCard(ask, view.now, view.guardMs) });
}
