import type { RunEvent } from '../src/schema/event.ts';
import { compactChainId } from '../src/schema/session.ts';
import type { Item } from '../src/view/items.ts';
import { reduceTranscript } from '../src/view/transcript.ts';
import { counted, wasExtended } from './bounds.ts';
import type { Written } from './composer/composer-state.ts';
import { compose } from './composing.ts';
import type { Effect } from './effect.ts';
import type { Ruler } from './move.ts';
import { turnFrom } from './sending.ts';
import { shellWanted, wantsShell } from './shell-switch.ts';
import { type Change, only, type State, type Turn, withFacts } from './state.ts';

/** The next queued message, where nothing runs and nothing holds it. */
export function next(state: State, ruler: Ruler, now: number): Change {
  if (state.turn !== null || state.composer.held || state.phase !== 'ready') return only(state);
  return compose(state, ruler, { type: 'turn-ended', completed: true }, now);
}

/** A message that never got into the session goes back to where it was written. */
export function notSent(
  state: State,
  ruler: Ruler,
  written: Written,
  problems: readonly string[],
  now: number,
): Change {
  const held = compose(
    { ...state, turn: null, items: withoutPending(state.items) },
    ruler,
    { type: 'turn-ended', completed: false },
    now,
  );
  const back = compose(held.state, ruler, { type: 'return', text: written.text, with: written, problems }, now);
  return { state: back.state, effects: [...held.effects, ...back.effects] };
}

/** Without the message that is on its way. */
const withoutPending = (items: readonly Item[]): readonly Item[] =>
  items.filter((item) => !(item.kind === 'user' && item.state === 'pending'));

/** Another turn of the session goes on: the message is the first in the queue, and sent when that one is over (10 §6.8). */
export function sessionBusy(state: State, ruler: Ruler, written: Written, now: number): Change {
  const turn: Turn = { ...turnFrom(now), elsewhere: { by: null } };
  return compose({ ...state, turn, items: withoutPending(state.items) }, ruler, { type: 'requeue', written }, now);
}

/** A run is in view, of which the bounds are not known yet. */
export const begun = (state: State): Change => {
  const runId = state.turn?.run_id ?? null;
  const unknown = { ...state, facts: { ...state.facts, bounds: null } };
  return runId === null ? only(unknown) : only(unknown, { do: 'load-bounds', run_id: runId });
};

const lasts: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled', 'chain_suspended']);

/** Events of the run that is followed (10 §6.10). */
export function followed(state: State, ruler: Ruler, events: readonly RunEvent[], now: number): Change {
  let changed: State = { ...state, items: itemsAfter(state, events) };
  if (changed.turn !== null) changed = { ...changed, turn: { ...changed.turn, heard_at: now } };
  for (const event of events) changed = fact(changed, event, now);
  changed = shellMissed(changed, events);
  const looks = events.some((event) => event.kind === 'notice' && event.code === 'tool_quarantined');
  const bounds = changed.facts.bounds === null ? null : events.reduce(counted, changed.facts.bounds);
  changed = { ...changed, facts: { ...changed.facts, bounds } };
  const effects: readonly Effect[] = [
    ...(looks ? [{ do: 'look-definitions' } as const] : []),
    ...(bounds !== null && bounds !== state.facts.bounds && wasExtended(bounds)
      ? [{ do: 'load-bounds', run_id: bounds.run_id } as const]
      : []),
  ];
  // Of a run that is read from its beginning: what it rested for lies behind it.
  const last = events.findLast(({ kind }) => lasts.has(kind) || kind === 'chain_resumed');
  if (last === undefined || last.kind === 'chain_resumed') return only(changed, ...effects);
  // What waits for a turn of another process waits for its end alone.
  const completed =
    last.kind === 'chain_completed' || (state.turn?.elsewhere != null && last.kind !== 'chain_suspended');
  const ended: State['ended'] =
    last.kind === 'chain_failed'
      ? { failed: last.error.class }
      : last.kind === 'chain_suspended'
        ? { rests: last.run_id, stands: last.reason === 'interrupted' ? 'interrupted' : 'suspended' }
        : null;
  const over = {
    name: state.session?.name ?? '',
    failed: last.kind === 'chain_failed',
    ms: now - (state.turn?.started_at ?? now),
  };
  // The operator's own calls are no turns: how the last one stands is not changed by them.
  const isOwn = state.attaching || state.lines.has(last.run_id);
  const resting: State = { ...changed, turn: null, ended: isOwn ? state.ended : ended };
  // The runs that read mentions are no turns: what is queued waits for the message that they belong to.
  if (resting.attaching) return only(resting, ...effects);
  const isOver = last.kind !== 'chain_suspended';
  const settled = compose(isOver ? { ...resting, over } : resting, ruler, { type: 'turn-ended', completed }, now);
  return only(settled.state, ...effects, ...settled.effects);
}

/** Says once that a model has asked for a shell which it does not have (amendment 22). */
function shellMissed(state: State, events: readonly RunEvent[]): State {
  const wanted = state.facts.shell || state.shellMissed ? undefined : events.find(wantsShell);
  if (wanted === undefined) return state;
  const notice = { kind: 'notice', id: `notice:${wanted.run_id}:shell`, level: 'info', text: shellWanted } as const;
  return { ...state, shellMissed: true, items: [...state.items, notice] };
}

/**
 * What the operator's own calls are: nothing in their events says who made them. That of a `!` line is marked, and one
 * that failed has said so itself, in words for a person; the end of its run has words for a model.
 */
function itemsAfter({ items, lines, attaching }: State, events: readonly RunEvent[]): State['items'] {
  const after = reduceTranscript({ items }, events).items;
  const own = new Set(events.map(({ run_id }) => run_id).filter((id) => attaching || lines.has(id)));
  if (own.size === 0 || after === items) return after;
  return after
    .filter((item) => !(item.kind === 'end' && own.has(item.run_id) && endsByItsCall(item)))
    .map((item) =>
      item.kind === 'call' && item.run_id !== null && lines.has(item.run_id) && item.line !== true
        ? { ...item, line: true }
        : item,
    );
}

const endsByItsCall = (end: Extract<Item, { kind: 'end' }>): boolean =>
  end.status === 'failed' && (end.class === 'denied' || end.class === 'tool_error');

function fact(state: State, event: RunEvent, now: number): State {
  const { facts } = state;
  const turn = state.turn === null ? null : begunAt(state.turn, event);
  switch (event.kind) {
    case 'ask':
      return turn === null ? state : { ...state, turn: { ...turn, waiting_since: turn.waiting_since ?? now } };
    case 'verdict': {
      if (turn === null || turn.waiting_since === null) return state;
      return { ...state, turn: { ...turn, waiting_since: null, waited_ms: turn.waited_ms + now - turn.waiting_since } };
    }
    case 'chain_resumed':
      return { ...state, turn };
    case 'chain_started':
      return {
        ...state,
        turn,
        facts: {
          ...facts,
          policy: { name: event.policy.name, sha256: event.policy.sha256, invalid: facts.policy?.invalid ?? false },
        },
      };
    case 'model_selected': {
      const chosen = withFacts(facts, { model: event.model, backend: event.backend });
      const { context } = chosen;
      return { ...state, facts: { ...chosen, context: context === null ? null : { ...context, limit: event.limit } } };
    }
    case 'token_usage':
      return {
        ...state,
        facts: {
          ...facts,
          // What a summary was made of is no context of the session, which is shorter by then: the next turn counts it.
          context:
            event.chain_id === compactChainId
              ? null
              : { used: event.prompt + event.completion, limit: event.limit, estimated: event.estimated },
          tokens: {
            in: facts.tokens.in + event.prompt,
            out: facts.tokens.out + event.completion,
            estimated: facts.tokens.estimated || event.estimated,
          },
        },
      };
    default:
      return state;
  }
}

/** A turn of another process has gone on for longer than it has been in view. */
function begunAt(turn: Turn, { kind, timestamp }: RunEvent): Turn {
  if (turn.elsewhere === null || (kind !== 'chain_started' && kind !== 'chain_resumed')) return turn;
  const at = Date.parse(timestamp);
  return at < turn.started_at || kind === 'chain_resumed' ? { ...turn, started_at: Math.min(at, turn.heard_at) } : turn;
}
