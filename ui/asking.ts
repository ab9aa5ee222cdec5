import type { Ask } from '../src/schema/ask.ts';
import type { Line } from '../src/view/line.ts';
import { verdictWord } from '../src/view/transcript.ts';
import type { ApprovalsAction, ApprovalsView } from './approvals/approvals-state.ts';
import { drawnCard } from './approvals/drawn-card.ts';
import { reduceApprovals } from './approvals/reduce-approvals.ts';
import { verdictWords } from './approvals/result-line.ts';
import { isComposerEmpty, keepText } from './composer/composer-state.ts';
import type { Effect } from './effect.ts';
import { isTiny, isTooSmall, layoutOf } from './layout.ts';
import type { Ruler } from './move.ts';
import { saying } from './sending.ts';
import { paneParts } from './plan/plan-lines.ts';
import { type Change, only, runInView, type State } from './state.ts';
import type { Glyphs } from '../src/view/escape.ts';
import { cardColumns } from './approvals/list-view.ts';

/** A frame takes a moment to be written. */
const frameMs = 50;
/** A card takes the keys by itself only from somebody who has not typed for so long. */
const quietMs = 2000;

/** Where a card is drawn: over the end of the body, beside the list, or over a screen that is too small for the rest. */
export function approvalsView(state: State, glyphs: Glyphs): ApprovalsView {
  const { columns, rows, body, queue, composer } = layoutOf(state);
  const place = isTooSmall(state)
    ? { columns, rows }
    : state.pane === 'approvals'
      ? { columns: cardColumns(columns), rows: body }
      : state.pane === 'plan'
        ? { columns: paneParts(state).right.columns, rows: body }
        : // A card that needs more room than the body has lies over the composer, which has no keys now (10 §7.2).
          { columns, rows: body + queue + composer + 1 };
  return {
    place: { ...place, glyphs, server: state.facts.server },
    keys: state.keys,
    guardMs: state.guardMs + frameMs,
    now: state.now,
    covered: state.overlays.length > 0 || isTiny(state),
    listed: state.pane === 'approvals' && !isTooSmall(state),
  };
}

/** Rows of the card that has the keys, for the chat pane and for a small screen. */
export const cardLines = (state: State, glyphs: Glyphs): readonly Line[] =>
  drawnCard(state.approvals, approvalsView(state, glyphs))?.view.lines ?? [];

/**
 * Whether a card took the keys by itself so shortly ago that a key on its way to that card was meant for it: the next ask
 * would be another one than was on the screen.
 */
export const hasJustTaken = ({ approvals, takenAt }: State, now: number): boolean =>
  approvals.card !== null && now - takenAt < takenMs;
const takenMs = 1500;

/** One step of the asks, with what it leads to. */
export function ask(given: State, ruler: Ruler, action: ApprovalsAction, now: number): Change {
  const state = { ...given, now };
  const { state: approvals, intents } = reduceApprovals(state.approvals, action, approvalsView(state, ruler.glyphs));
  // A layer that was closed keeps the next Esc from reaching what lies under it.
  const left = state.approvals.card !== null && approvals.card?.mode.at !== state.approvals.card.mode.at;
  let next: State = { ...state, approvals, closedAt: left ? now : state.closedAt };
  if (approvals.card === null && action.type !== 'resolved') next = leftAlone(next, state.approvals);
  if (action.type === 'resolved') next = { ...next, items: withVerdict(next.items, action.ask) };
  // What is being read about it stays, and says in its title that there is nothing left to answer.
  if (action.type === 'resolved' && state.approvals.card?.id === action.ask.id)
    next = {
      ...next,
      overlays: next.overlays.map((overlay) =>
        overlay.kind === 'why' && overlay.ask === action.ask.id
          ? { ...overlay, title: `${overlay.title} · ${verdictWords(action.ask, action.mine)}` }
          : overlay,
      ),
    };
  const kept = intents.some((intent) => intent.do === 'keep-text') ? ['Ctrl+Y has what you typed'] : [];
  if (action.type === 'resolved') next = saying(next, [resultWords(action), ...kept].join(' · '), now, false);
  else if (kept.length > 0) {
    const why = action.type === 'edited-outside' ? ['the ask was answered or has changed'] : [];
    next = saying(next, [...why, ...kept].join(' · '), now, false);
  } else if (approvals.said !== null && approvals.said !== state.approvals.said && state.pane === 'chat')
    next = saying(next, approvals.said, now, false);
  for (const intent of intents)
    if (intent.do === 'keep-text') next = { ...next, composer: keepText(next.composer, intent.text) };
  return {
    state: next,
    effects: intents.flatMap((intent) => (intent.do === 'keep-text' ? [] : [{ do: 'ask', intent } as const])),
  };
}

/** Who leaves the card of an ask is not given those behind it: they are of the same run, which waits for that one. */
function leftAlone(state: State, { card, asks }: State['approvals']): State {
  const run = asks.find(({ id }) => id === card?.id)?.run_id ?? null;
  if (run === null) return state;
  const behind = asks.filter(({ run_id }) => run_id === run).map(({ id }) => id);
  return { ...state, offered: new Set([...state.offered, ...behind]) };
}

/**
 * Items that know of the answer. Where a run rested, its verdict is an event behind which it goes on, and of which nobody
 * who follows it from there is told.
 */
function withVerdict(items: State['items'], { id, state, verdict }: Ask): State['items'] {
  if (verdict === null) return items;
  const given = { ask_id: id, verdict: verdictWord({ ...verdict, verdict: state }), by: verdict.by, at: verdict.at };
  const at = items.findIndex((item) =>
    item.kind === 'call' ? item.ask_id === id : item.kind === 'ask' && item.id === id,
  );
  const item = items[at];
  if (item === undefined || (item.kind !== 'call' && item.kind !== 'ask') || item.verdict !== null) return items;
  return items.with(at, { ...item, verdict: given });
}

/** What was answered last is read where it is shown: also what was answered elsewhere, and before this program began. */
export const answeredIn = ({ pane, approvals }: State): readonly Effect[] =>
  pane === 'approvals' ? [{ do: 'ask', intent: { do: 'load-history', whole: approvals.history !== null } }] : [];

const resultWords = ({ ask: row, mine, told }: Extract<ApprovalsAction, { type: 'resolved' }>): string =>
  `${verdictWords(row, mine)}${told === null ? '' : ` · ${told}`}`;

/** Gives the keys to a new ask of the run in view, unless somebody is doing something else (10 §7.3.1). */
export function offered(state: State, ruler: Ruler, now: number): Change {
  const runId = runInView(state);
  const fresh = state.approvals.asks.find(({ id, run_id }) => run_id === runId && !state.offered.has(id));
  if (fresh === undefined || runId === null || state.approvals.card !== null) return only(state);
  const free =
    (state.pane === 'plan' ? state.plan.field === null && state.plan.anchor === null : state.pane === 'chat') &&
    state.overlays.length === 0 &&
    state.reading === null &&
    state.search === null &&
    state.anchor === null &&
    isComposerEmpty(state.composer) &&
    state.composer.search === null;
  if (!free || now - state.keyAt < quietMs) return only(state);
  return ask(
    { ...state, offered: new Set([...state.offered, fresh.id]), takenAt: now },
    ruler,
    { type: 'focus', id: fresh.id },
    now,
  );
}
