import type { RunEvent } from '../src/schema/event.ts';
import { reduceTranscript } from '../src/view/transcript.ts';
import { type Change, only, type State, type Turn } from './state.ts';

const mostQueued = 10;

/** Sends a message, or queues it while a turn runs (10 §6.8). */
export function submit(state: State, text: string, now: number): Change {
  if (state.session?.deleted === true)
    return only(saying(state, 'this session was deleted elsewhere: /new starts another one', now));
  if (state.turn !== null || state.phase === 'starting' || state.queue.length > 0) {
    if (state.queue.length >= mostQueued)
      return only(saying(state, `${mostQueued} messages are queued; this one stays here`, now));
    const queued = { ...cleared(state), queue: [...state.queue, text] };
    return state.held && state.turn === null ? next({ ...queued, held: false }, now) : only(queued);
  }
  return send(cleared(state), text, now);
}

const cleared = (state: State): State => ({ ...state, composer: { before: '', after: '' } });

export const saying = (state: State, text: string, now: number, bad = true): State => ({
  ...state,
  said: { text, bad, until: now + 4000 },
});

function send(state: State, text: string, now: number): Change {
  const turn: Turn = {
    run_id: null,
    started_at: now,
    waiting_since: null,
    waited_ms: 0,
    heard_at: now,
    interrupted_at: null,
  };
  return only(
    {
      ...state,
      turn,
      ended: null,
      anchor: null,
      paused: null,
      lastSent: text,
      items: [...state.items, { kind: 'user', id: `pending:${now}`, text, state: 'pending', seq: null }],
    },
    { do: 'send', text, session: state.session?.name ?? null },
  );
}

/** The next queued message, where nothing runs and nothing holds it. */
export function next(state: State, now: number): Change {
  const [text, ...queue] = state.queue;
  if (text === undefined || state.turn !== null || state.held || state.phase !== 'ready') return only(state);
  return send({ ...state, queue }, text, now);
}

/** A message that never got into the session goes back to where it was written. */
export function notSent(state: State, text: string, why: string, now: number): Change {
  const items = state.items.filter((item) => !(item.kind === 'user' && item.state === 'pending'));
  const composer = state.composer.before + state.composer.after === '' ? { before: text, after: '' } : state.composer;
  return only(
    saying(
      {
        ...state,
        turn: null,
        held: state.queue.length > 0,
        composer,
        items: [...items, { kind: 'notice', id: `not-sent:${now}`, level: 'error', text: why }],
      },
      'not sent',
      now,
    ),
  );
}

const lasts: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled', 'chain_suspended']);

/** Events of the run that is followed (10 §6.10). */
export function followed(state: State, events: readonly RunEvent[], now: number): Change {
  let changed: State = { ...state, items: reduceTranscript({ items: state.items }, events).items };
  if (changed.turn !== null) changed = { ...changed, turn: { ...changed.turn, heard_at: now } };
  for (const event of events) changed = fact(changed, event, now);
  const last = events.findLast((event) => lasts.has(event.kind));
  if (last === undefined) return only(changed);
  const completed = last.kind === 'chain_completed';
  const ended: State['ended'] =
    last.kind === 'chain_failed' ? { failed: last.error.class } : last.kind === 'chain_suspended' ? 'suspended' : null;
  const resting = { ...changed, turn: null, ended, held: !completed && changed.queue.length > 0 };
  return completed ? next(resting, now) : only(resting);
}

function fact(state: State, event: RunEvent, now: number): State {
  const { turn, facts } = state;
  switch (event.kind) {
    case 'ask':
      return turn === null ? state : { ...state, turn: { ...turn, waiting_since: turn.waiting_since ?? now } };
    case 'verdict': {
      if (turn === null || turn.waiting_since === null) return state;
      return { ...state, turn: { ...turn, waiting_since: null, waited_ms: turn.waited_ms + now - turn.waiting_since } };
    }
    case 'chain_started':
      return {
        ...state,
        facts: {
          ...facts,
          policy: { name: event.policy.name, sha256: event.policy.sha256, invalid: facts.policy?.invalid ?? false },
        },
      };
    case 'model_selected':
      return { ...state, facts: { ...facts, model: event.model, backend: event.backend } };
    case 'token_usage':
      return {
        ...state,
        facts: {
          ...facts,
          context: { used: event.prompt + event.completion, limit: event.limit, estimated: event.estimated },
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
