import type { Driver } from '../src/schema/run.ts';
import type { Action } from './actions.ts';
import { boundsOf } from './bounds.ts';
import { answeredIn, ask, offered } from './asking.ts';
import { attached, compose } from './composing.ts';
import { toldElsewhere } from './elsewhere.ts';
import { found, landed, searchAgain, searchField } from './search.ts';
import { resized } from './larger.ts';
import { atEnd, type Ruler, scroll, withMore } from './move.ts';
import { planned, planText } from './plan/plan-press.ts';
import { letterAlone, press } from './press.ts';
import { hasField } from './overlays/overlay.ts';
import { atMost, overlayText } from './overlays/press.ts';
import { spentIn } from './spent.ts';
import { type Change, only, type OpenSession, type State, withFacts } from './state.ts';
import { told, saying } from './sending.ts';
import { rewrapped } from './rewrapped.ts';
import { bounded, withPage } from './transcript/stretch.ts';
import { begun, followed, next, notSent, sessionBusy } from './turns.ts';
import { numbered } from './numbered.ts';

/** The one place where the state changes. Pure: what is to be done in the world comes back as data. */
export function reduce(given: State, action: Action, ruler: Ruler): Change {
  const state = given.glyphs === ruler.glyphs ? given : { ...given, glyphs: ruler.glyphs };
  const change = changed(state, action, ruler);
  const ends = state.search !== null && change.state.search === null;
  return ends ? only(change.state, ...change.effects, { do: 'end-find' }) : change;
}

function changed(state: State, action: Action, ruler: Ruler): Change {
  switch (action.type) {
    case 'key':
      return press(state, ruler, action.key, action.now);
    case 'paste':
      return pasted(state, ruler, action.text, action.now);
    case 'wheel':
      return state.pane === 'chat' && state.overlays.length === 0 ? scroll(state, ruler, action.delta) : only(state);
    case 'resize':
      return ask(rewrapped(state, resized(state, action.size), ruler), ruler, { type: 'redrawn' }, action.now);
    case 'plan-letter':
      return letterAlone(state, ruler, action.now);
    case 'tick':
      return ticked(state, ruler, action.now);
    case 'ready':
      return next({ ...state, phase: 'ready', now: action.now }, ruler, action.now);
    case 'facts':
      return only({ ...state, facts: withFacts(state.facts, action.facts) });
    case 'opened': {
      const { facts, spent } = spentIn(state, action.session);
      return only({
        // What goes on in the other session goes on there: here it is neither shown nor waited for.
        ...(isSwitch(state, action.session)
          ? { ...compose(state, ruler, { type: 'switch' }, state.now).state, turn: null, attaching: false }
          : state),
        session: action.session,
        items: [...action.items, ...saidBefore(state)],
        ...atEnd,
        slowPage: null,
        reading: null,
        search: null,
        toggled: new Set(),
        ended: action.resting,
        // What the context of the other session held says nothing about this one, deleted or not.
        facts: { ...facts, bounds: null, ...(isOther(state, action.session) ? { context: null } : {}) },
        spent,
      });
    }
    case 'page':
      return landed(
        state,
        withMore(searchAgain(withPage({ ...state, slowPage: null }, action.session, action.wish, action.page))),
        ruler,
      );
    case 'no-page':
      return only({
        ...state,
        going: null,
        slowPage: null,
        session: state.session === null ? null : { ...state.session, loading: false },
      });
    case 'slow-page':
      return only(
        state.session?.loading === true ? { ...state, slowPage: action.toward === 'newer' ? 'bottom' : 'top' } : state,
      );
    case 'found':
      return found(state, ruler, action.query, action.hits);
    case 'stored':
      return only({ ...state, items: numbered(state.items, action.numbers) });
    case 'accepted': {
      const { turn } = state;
      const taken = turn === null ? null : { ...turn, run_id: action.run_id };
      const { state: next, effects } = begun({
        ...state,
        ended: null,
        session: action.session ?? state.session,
        turn: taken,
      });
      return turn === null || turn.interrupted_at === null
        ? only(next, ...effects)
        : only(next, ...effects, { do: 'interrupt', run_id: action.run_id });
    }
    case 'not-sent':
      return notSent(state, ruler, action.written, action.why, action.now);
    case 'session-busy':
      return sessionBusy(state, ruler, action.written, action.now);
    case 'session-free':
      return state.turn?.elsewhere != null && state.turn.run_id === null
        ? next({ ...state, turn: null }, ruler, action.now)
        : only(state);
    case 'deserted':
      return state.turn?.elsewhere != null && state.turn.run_id === action.run_id
        ? compose({ ...state, turn: null }, ruler, { type: 'turn-ended', completed: !action.is_turn }, action.now)
        : only(state);
    case 'following':
      return begun({
        ...state,
        ended: action.line || state.attaching ? state.ended : null,
        lines: action.line ? new Set([...state.lines, action.run_id]) : state.lines,
        turn: {
          run_id: action.run_id,
          started_at: action.now,
          // What it asked before is not told again.
          waiting_since: state.asks.some(({ run_id }) => run_id === action.run_id) ? action.now : null,
          waited_ms: 0,
          heard_at: action.now,
          interrupted_at: null,
          elsewhere: action.elsewhere ? { by: null } : null,
        },
      });
    case 'bounds':
      return only(
        action.run.id === state.turn?.run_id || state.facts.bounds?.run_id === action.run.id
          ? { ...drivenBy(state, action.run), facts: { ...state.facts, bounds: boundsOf(action.run) } }
          : state,
      );
    case 'events': {
      const { state: next, effects } = followed({ ...state, now: action.now }, ruler, action.events, action.now);
      return only(bounded(next), ...effects);
    }
    case 'asks': {
      const known = ask({ ...state, asks: action.asks }, ruler, action, action.now);
      const given = offered(known.state, ruler, action.now);
      return { state: given.state, effects: [...known.effects, ...given.effects, ...answeredIn(given.state)] };
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
    case 'welcome':
      return only({ ...state, welcome: action.lines });
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
    case 'elsewhere':
      return toldElsewhere(state, action.told);
    case 'say':
      return only(told(state, action.text, action.now, action.bad));
    case 'overlay':
      return only({
        ...state,
        overlays: [...state.overlays.filter(({ kind }) => kind !== action.overlay.kind), atMost(state, action.overlay)],
      });
    case 'session-gone':
      return only(state.session === null || state.session.deleted ? state : gone(state, state.session));
    case 'collapse':
      return only({ ...state, collapse: action.lines, guardMs: action.guardMs });
    case 'keys':
      return only({ ...state, keys: action.map, chord: null });
    case 'edits-pass':
      return only(state.editsIn === action.edits ? state : { ...state, editsIn: action.edits });
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

/** Who drives the turn in view, where another process does. */
const drivenBy = (state: State, run: { readonly id: string; readonly run_by: Driver | null }): State =>
  state.turn?.run_id === run.id && state.turn.elsewhere !== null
    ? { ...state, turn: { ...state.turn, elsewhere: { by: run.run_by } } }
    : state;

/** What is in view stays readable (10 §9). */
const gone = (state: State, session: OpenSession): State => ({
  ...state,
  session: { ...session, deleted: true },
  items: [
    ...state.items,
    {
      kind: 'notice',
      id: `gone:${session.id}`,
      level: 'warn',
      text: `the session ${session.name} was deleted: this can still be read, and /new starts another one`,
    },
  ],
});

/** A paste goes where text is written, and answers nothing. */
function pasted(state: State, ruler: Ruler, text: string, now: number): Change {
  const fresh = { ...state, now, keyAt: now };
  const top = state.overlays.at(-1);
  // A field has one line.
  const line = text.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/\p{Cc}/gu, '');
  const nowhere = (): Change => only(saying(fresh, 'nothing is written here: the paste was dropped', now));
  if (top !== undefined) return hasField(top) ? overlayText(fresh, line) : nowhere();
  if (state.search?.typing === true && state.approvals.card === null) return searchField(fresh, ruler, null, line);
  if (state.reading !== null && state.approvals.card === null) return nowhere();
  if (state.pane === 'plan' && state.approvals.card === null) return planText(fresh, text, true);
  return state.pane === 'chat' && state.approvals.card === null
    ? compose(fresh, ruler, { type: 'paste', text }, now)
    : ask(fresh, ruler, { type: 'paste', text }, now);
}

/** What was said while nothing was open yet: of the keys, the theme, the history. */
const saidBefore = ({ phase, session, items }: State): State['items'] =>
  phase === 'starting' && session === null ? items.filter(({ kind }) => kind === 'notice') : [];

/** Each session has its own draft (10 §6.9); what a deleted one leaves in the composer has no other place. */
const isSwitch = (state: State, next: OpenSession | null): boolean =>
  isOther(state, next) && state.session?.deleted === false;

const isOther = ({ session }: State, next: OpenSession | null): boolean => session !== null && session.id !== next?.id;

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
