import type { Action } from './actions.ts';
import { ask, offered } from './asking.ts';
import { attached, compose } from './composing.ts';
import { searchAgain, searchField } from './search.ts';
import { type Ruler, scroll } from './move.ts';
import { planned, planText } from './plan/plan-press.ts';
import { press } from './press.ts';
import { hasField } from './overlays/overlay.ts';
import { atMost, overlayText } from './overlays/press.ts';
import { type Change, only, type OpenSession, type State } from './state.ts';
import { saying } from './sending.ts';
import { followed, next, notSent } from './turns.ts';

/** The one place where the state changes. Pure: what is to be done in the world comes back as data. */
export function reduce(state: State, action: Action, ruler: Ruler): Change {
  switch (action.type) {
    case 'key':
      return press(state, ruler, action.key, action.now);
    case 'paste':
      return pasted(state, ruler, action.text, action.now);
    case 'wheel':
      return state.pane === 'chat' && state.overlays.length === 0 ? scroll(state, ruler, action.delta) : only(state);
    case 'resize':
      return ask({ ...state, size: action.size }, ruler, { type: 'redrawn' }, action.now);
    case 'tick':
      return ticked(state, ruler, action.now);
    case 'ready':
      return next({ ...state, phase: 'ready', now: action.now }, ruler, action.now);
    case 'facts':
      return only({ ...state, facts: { ...state.facts, ...action.facts } });
    case 'opened':
      return only({
        ...(isSwitch(state, action.session) ? compose(state, ruler, { type: 'switch' }, state.now).state : state),
        session: action.session,
        // What the context of the other session held says nothing about this one.
        facts: isSwitch(state, action.session) ? { ...state.facts, context: null } : state.facts,
        // What was said before the first session was there is about the program, and stays.
        items: state.phase === 'starting' ? [...action.items, ...state.items] : action.items,
        anchor: null,
        paused: null,
        reading: null,
        search: null,
        toggled: new Set(),
        ended: null,
      });
    case 'older':
      return only(searchAgain(withOlderItems(state, action)));
    case 'accepted': {
      const { turn } = state;
      const given = { ...state, session: action.session ?? state.session };
      if (turn === null) return only(given);
      const accepted: State = { ...given, turn: { ...turn, run_id: action.run_id } };
      return turn.interrupted_at === null
        ? only(accepted)
        : only(accepted, { do: 'interrupt', run_id: action.run_id, at_once: false });
    }
    case 'not-sent':
      return notSent(state, ruler, action.text, action.why, action.now);
    case 'following':
      return only({
        ...state,
        ended: null,
        turn: {
          run_id: action.run_id,
          started_at: action.now,
          // What it asked before is not told again.
          waiting_since: state.asks.some(({ run_id }) => run_id === action.run_id) ? action.now : null,
          waited_ms: 0,
          heard_at: action.now,
          interrupted_at: null,
        },
      });
    case 'events':
      return followed({ ...state, now: action.now }, ruler, action.events, action.now);
    case 'asks': {
      const known = ask({ ...state, asks: action.asks }, ruler, action, action.now);
      const given = offered(known.state, ruler, action.now);
      return { state: given.state, effects: [...known.effects, ...given.effects] };
    }
    case 'compose':
      return compose(state, ruler, action.action, action.now);
    case 'attached':
      return attached(state, ruler, action.message, action.read, action.now);
    case 'approve':
      return ask(state, ruler, action.action, action.now);
    case 'plan':
      return planned({ ...state, now: action.now }, action.action, action.now);
    case 'banner':
      return only({ ...state, banners: [...state.banners.filter(({ id }) => id !== action.banner.id), action.banner] });
    case 'no-banner':
      return only({
        ...state,
        banners: state.banners.filter(({ id }) => id !== action.id && !id.startsWith(`${action.id}:`)),
      });
    case 'notice':
      return only({
        ...state,
        items: [
          ...state.items,
          { kind: 'notice', id: `notice:${state.items.length}:${state.now}`, level: action.level, text: action.text },
        ],
      });
    case 'say':
      return only(saying(state, action.text, action.now, action.bad));
    case 'overlay':
      return only({
        ...state,
        overlays: [...state.overlays.filter(({ kind }) => kind !== action.overlay.kind), atMost(state, action.overlay)],
      });
    case 'session-gone':
      return only(state.session === null ? state : { ...state, session: { ...state.session, deleted: true } });
    case 'collapse':
      return only({ ...state, collapse: action.lines, guardMs: action.guardMs });
    case 'keys':
      return only({ ...state, keys: action.map, chord: null });
    case 'forgotten':
      return only({ ...state, editsIn: null });
    case 'submit':
      return submitLine({ ...state, now: action.now }, ruler, action.text, action.now);
    case 'no-overlays':
      return only({ ...state, overlays: [] });
    case 'renamed':
      return only(state.session === null ? state : { ...state, session: { ...state.session, name: action.name } });
    case 'leaving':
      return only({ ...state, phase: 'leaving' });
  }
}

/** A paste goes where text is written, and answers nothing. */
function pasted(state: State, ruler: Ruler, text: string, now: number): Change {
  const fresh = { ...state, now, keyAt: now };
  const top = state.overlays.at(-1);
  // A field has one line.
  const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/\p{Cc}/gu, '');
  if (top !== undefined) return hasField(top) ? overlayText(fresh, line) : only(fresh);
  if (state.search?.typing === true && state.approvals.card === null) return searchField(fresh, ruler, null, line);
  if (state.reading !== null) return only(fresh);
  if (state.pane === 'plan' && state.approvals.card === null) return planText(fresh, text, true);
  return state.pane === 'chat' && state.approvals.card === null
    ? compose(fresh, ruler, { type: 'paste', text }, now)
    : ask(fresh, ruler, { type: 'paste', text }, now);
}

/** Each session has its own draft (10 §6.9); what a deleted one leaves in the composer has no other place. */
const isSwitch = ({ session }: State, next: OpenSession | null): boolean =>
  session !== null && !session.deleted && session.id !== next?.id;

function ticked(state: State, ruler: Ruler, now: number): Change {
  const said = state.said !== null && state.said.until <= now ? null : state.said;
  const asked = ask({ ...state, said }, ruler, { type: 'tick' }, now);
  const given = offered(asked.state, ruler, now);
  return { state: given.state, effects: [...asked.effects, ...given.effects] };
}

/** A line of the plain mode, as the composer would send it. */
function submitLine(state: State, ruler: Ruler, text: string, now: number): Change {
  const put = compose(state, ruler, { type: 'replace', text }, now);
  const sent = compose(put.state, ruler, { type: 'command', id: 'composer.send' }, now);
  return { state: sent.state, effects: [...put.effects, ...sent.effects] };
}

function withOlderItems(state: State, action: Extract<Action, { type: 'older' }>): State {
  const { session } = state;
  if (session === null || session.id !== action.session) return state;
  const first = action.items[0];
  const arrived = state.goingUp && action.before === null && first !== undefined;
  return {
    ...state,
    ...(arrived ? { anchor: { id: first.id, line: 0 }, goingUp: false } : {}),
    items: [...action.items, ...state.items],
    session: { ...session, before: action.before, loading: false },
    paused: state.paused === null ? null : { ...state.paused, items: state.paused.items + action.items.length },
  };
}
