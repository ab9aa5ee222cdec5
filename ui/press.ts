import { composerText, editComposer, typed } from './basic-composer.ts';
import { isTiny, isTooSmall, layoutOf } from './layout.ts';
import { reveal, type Ruler, scroll, toEnd, toTop } from './move.ts';
import type { KeyContext } from './keys/commands.ts';
import type { Key } from './keys/key.ts';
import { resolveKey } from './keys/key-map.ts';
import { contextsBelow } from './overlays/below.ts';
import { fieldOf } from './overlays/overlay.ts';
import { answerQuestion, opened, overlayCommand, overlayText } from './overlays/press.ts';
import { readingCommand, startReading } from './reading.ts';
import { runSlash } from './slash.ts';
import { type Change, only, type State } from './state.ts';
import { saying, submit } from './turns.ts';

/** A second key of the same kind within this time counts as the second of two. */
const twiceMs = 2000;
/** A layer that was just closed keeps Esc from reaching what lies under it (10 §12.4). */
const layerMs = 600;

/** Where a key is looked up, innermost first (10 §12.5). */
export function contextsOf(state: State): readonly KeyContext[] {
  const overlay = state.overlays.at(-1);
  if (overlay === undefined) return contextsBelow(state);
  const own: readonly KeyContext[] = [`overlay.${overlay.kind}`, 'overlay.any', 'global'];
  return fieldOf(overlay) === null ? own : ['field', ...own];
}

export function press(state: State, ruler: Ruler, key: Key, now: number): Change {
  const fresh: State = { ...state, now, said: null };
  if (isTiny(state) && !(key.ctrl && key.name === 'c')) return only(state);
  if (isTooSmall(state)) return smallScreen(fresh, key, now);
  const answered = key.ctrl || key.alt ? null : answerQuestion(fresh, key.text, now);
  if (answered !== null) return answered;
  const found = resolveKey(state.keys, contextsOf(state), key, state.chord);
  const without: State = { ...fresh, chord: null, quitting: found.kind === 'command' ? fresh.quitting : null };
  switch (found.kind) {
    case 'chord':
      return only({ ...fresh, chord: found.chord });
    case 'text':
      return typeText(without, ruler, found.text);
    case 'command':
      return command(without, ruler, found.id, now, key);
    case 'none':
      return only(without);
  }
}

function typeText(state: State, _ruler: Ruler, text: string): Change {
  if (state.overlays.length > 0) return overlayText(state, text);
  // Help where nothing has been written (10 §6.1).
  if (text === '?' && composerText(state.composer) === '') return opened(state, 'help');
  return only({ ...state, composer: typed(state.composer, text) });
}

function smallScreen(state: State, key: Key, now: number): Change {
  if (key.name === 'q' || (key.ctrl && key.name === 'c')) return only(state, { do: 'quit' });
  if (key.name === 'p') return only(state, { do: 'plain' });
  return only(saying(state, 'make the terminal larger', now));
}

/** Does what a command says. Those of an inner place go to its own file. */
export function command(state: State, ruler: Ruler, id: string, now: number, key: Key | null = null): Change {
  const place = id.slice(0, id.indexOf('.'));
  if (state.overlays.length > 0 && place !== 'app')
    return overlayCommand(state, id, now, (under, chosen) => runChosen(under, ruler, chosen, now));
  if (place === 'reading') return readingCommand(state, ruler, id);
  const { body } = layoutOf(state);
  switch (id) {
    case 'composer.send': {
      const text = composerText(state.composer);
      if (text.endsWith('\\')) return only({ ...state, composer: { before: `${text.slice(0, -1)}\n`, after: '' } });
      if (text.trim() === '') return state.held && state.turn === null ? submitHeld(state, now) : only(state);
      return submit(state, text, now);
    }
    case 'composer.resend':
      return state.lastSent === null || state.turn !== null ? only(state) : submit(state, state.lastSent, now);
    case 'transcript.page-up':
      return scroll(state, ruler, 2 - body);
    case 'transcript.page-down':
      return scroll(state, ruler, body - 2);
    case 'transcript.line-up':
      return scroll(state, ruler, -1);
    case 'transcript.line-down':
      return scroll(state, ruler, 1);
    case 'transcript.top':
      return toTop(state, ruler);
    case 'transcript.bottom':
      return only(toEnd(state));
    case 'composer.line-end':
      return composerText(state.composer) === ''
        ? only(toEnd(state))
        : only({ ...state, composer: editComposer(state.composer, id) });
    case 'app.next-pane':
    case 'app.previous-pane':
      return only({ ...state, pane: state.pane === 'chat' ? 'approvals' : 'chat', reading: null });
    case 'app.chat':
    case 'approvals.pane-1':
      return only({ ...state, pane: 'chat' });
    case 'app.approvals':
    case 'approvals.pane-3':
      return only({ ...state, pane: 'approvals', reading: null });
    case 'app.help':
      return opened(state, 'help');
    case 'app.palette':
      return opened(state, 'palette');
    case 'app.sessions':
      return opened(state, 'sessions');
    case 'app.models':
      return opened(state, 'models');
    case 'app.run-details':
      return opened(state, 'run', state.turn?.run_id ?? null);
    case 'app.read':
      return state.reading === null
        ? startReading({ ...state, pane: 'chat' }, ruler)
        : only({ ...state, reading: null });
    case 'app.next-ask':
      return nextAsk(state, ruler);
    case 'app.repaint':
      return only(state, { do: 'repaint' });
    case 'app.suspend':
      return only(state, { do: 'suspend' });
    case 'app.abort':
      return only(state, { do: 'abort' });
    case 'app.quit':
      return only(state, { do: 'quit' });
    case 'app.dismiss-banner':
      return only({ ...state, dismissed: new Set([...state.dismissed, ...state.banners.map((banner) => banner.id)]) });
    case 'app.end-of-input':
      return endOfInput(state, now);
    case 'app.interrupt':
      return interrupt(state, now, key?.name === 'escape');
    default:
      return place === 'composer' ? only({ ...state, composer: editComposer(state.composer, id) }) : only(state);
  }
}

/** A row of the palette: a command of a key, or one of the composer. */
const runChosen = (state: State, ruler: Ruler, id: string, now: number): Change =>
  id.startsWith('/') ? runSlash(state, ruler, id.slice(1), '', now) : command(state, ruler, id, now);

const submitHeld = (state: State, now: number): Change => {
  const [text, ...queue] = state.queue;
  return text === undefined ? only(state) : submit({ ...state, queue, held: false }, text, now);
};

function nextAsk(state: State, ruler: Ruler): Change {
  const item = state.items.findLast((each) => each.kind === 'call' && each.ask_id !== null && each.verdict === null);
  if (state.pane === 'chat' && item !== undefined) return reveal(state, ruler, item.id);
  return only({ ...state, pane: 'approvals', reading: null });
}

/** Ctrl+D (10 §12.4). */
function endOfInput(state: State, now: number): Change {
  if (state.overlays.length > 0) return only(state);
  if (composerText(state.composer) !== '')
    return only({ ...state, composer: editComposer(state.composer, 'composer.delete') });
  return twice(state, 'Ctrl+D', now);
}

function twice(state: State, key: string, now: number): Change {
  const { quitting } = state;
  if (quitting !== null && quitting.key === key && now - quitting.at <= twiceMs) return only(state, { do: 'quit' });
  return only({ ...saying(state, `press ${key} again to quit`, now, false), quitting: { key, at: now } });
}

/** Esc and Ctrl+C: the first that applies (10 §12.4). Neither ever denies or deletes. */
function interrupt(state: State, now: number, isEscape: boolean): Change {
  if (state.overlays.length > 0) return only({ ...state, overlays: state.overlays.slice(0, -1), closedAt: now });
  if (state.search !== null) return only({ ...state, search: null, closedAt: now });
  if (state.reading !== null) return only({ ...state, reading: null, closedAt: now });
  const { turn } = state;
  if (turn !== null && turn.run_id !== null && !(isEscape && now - state.closedAt < layerMs)) {
    const waits = turn.waiting_since !== null;
    const again = state.quitting?.key === 'interrupt' && now - state.quitting.at <= twiceMs;
    if (isEscape && waits && !again)
      return only({
        ...saying(state, 'Esc again interrupts and withdraws the ask', now, false),
        quitting: { key: 'interrupt', at: now },
      });
    const second = turn.interrupted_at !== null && now - turn.interrupted_at <= twiceMs;
    return only(
      { ...state, quitting: null, turn: { ...turn, interrupted_at: turn.interrupted_at ?? now } },
      { do: 'interrupt', run_id: turn.run_id, at_once: second },
    );
  }
  if (isEscape) {
    const again = state.quitting?.key === 'Esc' && now - state.quitting.at < layerMs;
    if (composerText(state.composer) !== '' && again)
      return only({ ...state, composer: { before: '', after: '' }, quitting: null });
    return only({ ...state, quitting: { key: 'Esc', at: now } });
  }
  if (composerText(state.composer) !== '') return only({ ...state, composer: { before: '', after: '' } });
  return twice(state, 'Ctrl+C', now);
}
