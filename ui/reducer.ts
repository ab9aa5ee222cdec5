import type { Action } from './actions.ts';
import { typed } from './basic-composer.ts';
import { readLine } from './composer/slash-commands.ts';
import { type Ruler, scroll } from './move.ts';
import { press } from './press.ts';
import { type Change, only, type State } from './state.ts';
import { runSlash } from './slash.ts';
import { followed, next, notSent, saying, submit } from './turns.ts';

/** The one place where the state changes. Pure: what is to be done in the world comes back as data. */
export function reduce(state: State, action: Action, ruler: Ruler): Change {
  switch (action.type) {
    case 'key':
      return press(state, ruler, action.key, action.now);
    case 'paste':
      return state.pane === 'chat' && state.overlays.length === 0 && state.reading === null
        ? only({ ...state, now: action.now, composer: typed(state.composer, action.text) })
        : only(state);
    case 'wheel':
      return state.pane === 'chat' && state.overlays.length === 0 ? scroll(state, ruler, action.delta) : only(state);
    case 'resize':
      return only({ ...state, size: action.size });
    case 'tick':
      return only({
        ...state,
        now: action.now,
        said: state.said !== null && state.said.until <= action.now ? null : state.said,
      });
    case 'ready':
      return next({ ...state, phase: 'ready', now: action.now }, action.now);
    case 'facts':
      return only({ ...state, facts: { ...state.facts, ...action.facts } });
    case 'opened':
      return only({
        ...state,
        session: action.session,
        items: action.items,
        anchor: null,
        paused: null,
        reading: null,
        search: null,
        toggled: new Set(),
        ended: null,
      });
    case 'older':
      return only(withOlderItems(state, action));
    case 'accepted':
      return only({
        ...state,
        session: action.session ?? state.session,
        turn: state.turn === null ? null : { ...state.turn, run_id: action.run_id },
      });
    case 'not-sent':
      return notSent(state, action.text, action.why, action.now);
    case 'following':
      return only({
        ...state,
        ended: null,
        turn: {
          run_id: action.run_id,
          started_at: action.now,
          waiting_since: null,
          waited_ms: 0,
          heard_at: action.now,
          interrupted_at: null,
        },
      });
    case 'events':
      return followed({ ...state, now: action.now }, action.events, action.now);
    case 'asks':
      return only({ ...state, asks: action.asks });
    case 'banner':
      return only({ ...state, banners: [...state.banners.filter(({ id }) => id !== action.banner.id), action.banner] });
    case 'no-banner':
      return only({ ...state, banners: state.banners.filter(({ id }) => id !== action.id) });
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
        overlays: [...state.overlays.filter(({ kind }) => kind !== action.overlay.kind), action.overlay],
      });
    case 'session-gone':
      return only(state.session === null ? state : { ...state, session: { ...state.session, deleted: true } });
    case 'collapse':
      return only({ ...state, collapse: action.lines });
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

/** A message, or a command of a line that begins with `/`. */
function submitLine(state: State, ruler: Ruler, text: string, now: number): Change {
  const line = readLine(text, state.turn !== null);
  if (line.kind === 'message') return submit(state, line.text, now);
  if (line.kind === 'slash') return runSlash(state, ruler, line.name, line.args, now);
  return only(line.kind === 'refused' ? saying(state, line.why, now) : state);
}

function withOlderItems(state: State, action: Extract<Action, { type: 'older' }>): State {
  const { session } = state;
  if (session === null || session.id !== action.session) return state;
  return {
    ...state,
    items: [...action.items, ...state.items],
    session: { ...session, before: action.before, loading: false },
    paused: state.paused === null ? null : { ...state.paused, items: state.paused.items + action.items.length },
  };
}
