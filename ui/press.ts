import { answeredIn, ask, hasJustTaken } from './asking.ts';
import { compose } from './composing.ts';
import { unsentText } from './approvals/card-fields.ts';
import { findCommand } from './composer/slash-commands.ts';
import { isComposerEmpty, keepText } from './composer/composer-state.ts';
import { isTiny, isTooSmall, layoutOf } from './layout.ts';
import { type Ruler, scroll, toEnd, toTop } from './move.ts';
import type { KeyContext } from './keys/commands.ts';
import type { Key } from './keys/key.ts';
import { resolveKey } from './keys/key-map.ts';
import { makeLarger } from './larger.ts';
import { contextsBelow } from './overlays/below.ts';
import { hasField } from './overlays/overlay.ts';
import { answerQuestion, closeTop, opened, overlayCommand, overlayText } from './overlays/press.ts';
import { askOf } from './chat-lines.ts';
import { itemsInView } from './transcript-view.ts';
import { readingCommand, startReading } from './reading.ts';
import { nextHit, searchField, startSearch } from './search.ts';
import { interruptPlan, planCommand, planFieldCommand, planText } from './plan/plan-press.ts';
import { planLetter, takeLetter } from './plan/plan-letter.ts';
import { chosenStep } from './plan/plan-state.ts';
import { runSlash } from './slash.ts';
import { type Change, only, type Pane, runInView, type State, openAsksOf } from './state.ts';
import { saying } from './sending.ts';

/** A second key of the same kind within this time counts as the second of two. */
const twiceMs = 2000;
/** A layer that was just closed keeps Esc from reaching what lies under it (10 §12.4). */
const layerMs = 600;

/** Where a key is looked up, innermost first (10 §12.5). */
function contextsOf(state: State): readonly KeyContext[] {
  const overlay = state.overlays.at(-1);
  if (overlay === undefined) return contextsBelow(state);
  if (overlay.kind === 'trust' || overlay.kind === 'definition')
    return [`card.${overlay.kind}`, 'overlay.any', 'global'];
  const name = overlay.kind === 'explain' ? 'view' : overlay.kind;
  const own: readonly KeyContext[] = [`overlay.${name}`, 'overlay.any', 'global'];
  return hasField(overlay) ? ['field', ...own] : own;
}

/** A letter of the plan pane that nothing has followed does what it is for. */
export function letterAlone(state: State, ruler: Ruler, now: number): Change {
  const taken = state.plan.letter !== null && now < state.plan.letter.at ? null : takeLetter(state, now);
  if (taken === null) return only(state);
  return taken.id === null ? only(taken.state) : planCommand({ ...taken.state, now }, ruler, taken.id, now);
}

export function press(given: State, ruler: Ruler, key: Key, now: number): Change {
  // A key that is no letter ends the wait for another one.
  const before = key.text === '' ? takeLetter(given, now) : null;
  const { state, effects } =
    before?.id == null ? only(before?.state ?? given) : planCommand(before.state, ruler, before.id, now);
  const change = guardedPress(state, ruler, key, now);
  return { state: change.state, effects: [...effects, ...change.effects] };
}

function guardedPress(state: State, ruler: Ruler, key: Key, now: number): Change {
  const covered = state.overlays.length;
  const change = pressed(state, ruler, key, now);
  // Under an overlay that has gone, the card is another sight: its guard begins anew.
  if (change.state.overlays.length >= covered || change.state.approvals.card === null) return change;
  const guarded = ask(change.state, ruler, { type: 'redrawn' }, now);
  return { state: guarded.state, effects: [...change.effects, ...guarded.effects] };
}

function pressed(state: State, ruler: Ruler, key: Key, now: number): Change {
  const said = state.said !== null && now < state.said.keysFrom ? state.said : null;
  const fresh: State = { ...state, now, keyAt: now, said };
  if (isTiny(state) && !(key.ctrl && key.name === 'c')) return only(state);
  if (isMeantForCard(state, key, now)) return only({ ...state, now, keyAt: now });
  if (isTooSmall(state) && state.approvals.card === null) return smallScreen(fresh, ruler, key, now);
  const answered = key.ctrl || key.alt ? null : answerQuestion(fresh, key.text, now);
  if (answered !== null) return answered;
  const found = resolveKey(state.keys, contextsOf(state), key, state.chord);
  const without: State = { ...fresh, chord: null, quitting: found.kind === 'command' ? fresh.quitting : null };
  const letter =
    found.kind === 'chord' ? null : planLetter(without, found.kind === 'command' ? found.id : null, key, now);
  if (letter !== null) return letter;
  switch (found.kind) {
    case 'chord':
      return only({ ...fresh, chord: found.chord });
    case 'text':
      return typeText(without, ruler, found.text, now);
    case 'command':
      return command(without, ruler, found.id, now, key);
    case 'none':
      // A letter that is no choice tells a card that somebody is typing.
      return key.text !== '' && state.overlays.length === 0 && state.approvals.card !== null
        ? ask(without, ruler, { type: 'text', text: key.text }, now)
        : only(without);
  }
}

/** A letter for a card that somebody else answered a moment ago is no text, and leaves the word about it in view. */
const isMeantForCard = ({ approvals: { card, lostAt }, guardMs }: State, key: Key, now: number): boolean =>
  card === null && lostAt !== null && now - lostAt < guardMs && key.text !== '' && !key.ctrl && !key.alt;

function typeText(state: State, ruler: Ruler, text: string, now: number): Change {
  if (state.overlays.length > 0) return overlayText(state, text);
  if (state.search?.typing === true && state.approvals.card === null) return searchField(state, ruler, null, text);
  if (state.approvals.card === null && state.pane === 'plan') return planText(state, text, false);
  return state.approvals.card !== null || state.pane === 'approvals'
    ? ask(state, ruler, { type: 'text', text }, now)
    : compose(state, ruler, { type: 'text', text }, now);
}

/** Commands beside those of the card that mean the same on a small screen. */
const onSmall: ReadonlySet<string> = new Set(
  ['next-ask', 'interrupt', 'end-of-input', 'suspend', 'abort', 'repaint'].map((each) => `app.${each}`),
);

/** A card on a small screen has all of it: nothing opens where nobody could see it. */
function onSmallCard(state: State, id: string): Change {
  const { card } = state.approvals;
  if (id === 'app.quit') return only(state, { do: 'leave', cancel: false });
  if (card === null || isTyping(state)) return only(state);
  return only({ ...state, approvals: { ...state.approvals, card: { ...card, said: makeLarger } } });
}

function smallScreen(state: State, ruler: Ruler, key: Key, now: number): Change {
  // What lay over the pane would lie over the card, and have its keys.
  if (key.ctrl && key.name === 'n')
    return ask({ ...state, overlays: [] }, ruler, { type: 'focus-next', run_id: null }, now);
  // There is no room for the question what is to become of a run: it rests, as is offered first elsewhere.
  if (key.name === 'q' || (key.ctrl && key.name === 'c')) return only(state, { do: 'leave', cancel: false });
  if (key.name === 'p') return only(state, { do: 'plain' });
  return only(saying(state, makeLarger, now));
}

/** Does what a command says. Those of an inner place go to its own file. */
function command(state: State, ruler: Ruler, id: string, now: number, key: Key | null = null): Change {
  const place = id.slice(0, id.indexOf('.'));
  if (isTooSmall(state) && place === 'app' && !onSmall.has(id)) return onSmallCard(state, id);
  if (state.overlays.length > 0 && place !== 'app')
    return overlayCommand(state, id, now, (under, chosen) => runChosen(under, ruler, chosen, now));
  if (place === 'field' && state.search?.typing === true) return searchField(state, ruler, id, '');
  if (id === 'reading.search') return startSearch(state, ruler, null);
  if (id === 'reading.next-hit') return nextHit(state, ruler, 1);
  if (id === 'reading.previous-hit') return nextHit(state, ruler, -1);
  if (id === 'reading.toggle' && askOfChosen(state) !== null)
    return ask({ ...state, reading: null, search: null }, ruler, { type: 'focus', id: askOfChosen(state) ?? '' }, now);
  if (place === 'reading') return readingCommand(state, ruler, id, now);
  if (isOfAsks(state, id)) return ask(state, ruler, { type: 'command', id }, now);
  if (state.pane === 'plan' && state.plan.field !== null && (place === 'field' || id === 'app.next-pane'))
    return planFieldCommand(state, id, now);
  if (place === 'plan' && !id.startsWith('plan.pane-')) return planCommand(state, ruler, id, now);
  if (place === 'composer' || place === 'completion') return composerCommand(state, ruler, id, now);
  const { body } = layoutOf(state);
  switch (id) {
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
    case 'app.next-pane':
    case 'app.previous-pane':
      // In a field of a card these keys are part of typing (10 §7.5).
      if (isTyping(state)) return only(state);
      return toPane(state, beside(state.pane, id === 'app.next-pane' ? 1 : -1));
    case 'app.chat':
    case 'approvals.pane-1':
    case 'plan.pane-1':
      return toPane(state, 'chat');
    case 'app.plan':
    case 'approvals.pane-2':
    case 'plan.pane-2':
      return toPane(state, 'plan');
    case 'app.approvals':
    case 'approvals.pane-3':
    case 'plan.pane-3':
      return toPane(state, 'approvals');
    case 'app.help':
      return opened(state, 'help');
    case 'app.palette':
      return opened(state, 'palette');
    case 'app.sessions':
      return opened(state, 'sessions');
    case 'app.models':
      return opened(state, 'models');
    case 'app.run-details':
      // A step that is done is not followed any more, but it is what is looked at.
      return opened(
        state,
        'run',
        runInView(state) ?? (state.pane === 'plan' ? (chosenStep(state.plan)?.run_id ?? null) : null),
      );
    case 'app.read':
      return state.reading === null
        ? startReading({ ...state, pane: state.pane === 'plan' ? 'plan' : 'chat' }, ruler)
        : only({ ...state, reading: null });
    case 'app.next-ask':
      if (state.asks.length === 0) return only(saying(state, 'nothing waits for an answer', now, false));
      if (hasJustTaken(state, now)) return only({ ...state, takenAt: Number.NEGATIVE_INFINITY });
      return ask({ ...state, reading: null }, ruler, { type: 'focus-next', run_id: runInView(state) }, now);
    case 'app.repaint':
      return only(state, { do: 'repaint' });
    case 'app.suspend':
      return stopped(state, ruler, now);
    case 'app.abort':
      return only(state, { do: 'abort' });
    case 'app.quit':
      return only(state, { do: 'quit' });
    case 'app.dismiss-banner':
      return only({ ...state, dismissed: new Set([...state.dismissed, ...state.banners.map((banner) => banner.id)]) });
    case 'app.end-of-input':
      return endOfInput(state, ruler, now);
    case 'app.interrupt':
      return interrupt(state, ruler, now, key?.name === 'escape');
    default:
      return only(state);
  }
}

/** The open ask of the item that reading mode has chosen: Enter goes to its card (10 §5.5). */
function askOfChosen(state: State): string | null {
  const chosen = itemsInView(state).find(({ id }) => id === state.reading?.selected);
  const id = chosen === undefined ? null : askOf(chosen);
  return state.asks.some((each) => each.id === id) ? id : null;
}

const panes: readonly Pane[] = ['chat', 'plan', 'approvals'];
const beside = (pane: Pane, by: 1 | -1): Pane =>
  panes[(panes.indexOf(pane) + by + panes.length) % panes.length] ?? 'chat';

/** Keys of a card, of its fields and of the list of asks. */
const isOfAsks = (state: State, id: string): boolean =>
  state.approvals.card !== null
    ? /^(?:card|field|overlay|rule)\./.test(id)
    : state.pane === 'approvals' && /^(?:approvals\.(?!pane-)|field\.|question\.|overlay\.)/.test(id);

/** Commands of the composer; the end of an empty line is the end of the transcript. */
const composerCommand = (state: State, ruler: Ruler, id: string, now: number): Change =>
  id === 'composer.line-end' && isComposerEmpty(state.composer)
    ? only(toEnd(state))
    : compose(state, ruler, { type: 'command', id }, now);

const isTyping = ({ approvals: { card } }: State): boolean =>
  card !== null && (card.mode.at === 'field' || card.mode.at === 'edit' || card.mode.at === 'find');

/** Another pane; a card gives its keys back, and its ask stays open. */
function toPane(state: State, pane: State['pane']): Change {
  const text = state.approvals.card === null ? '' : unsentText(state.approvals.card);
  // What was typed on the card is not lost with it.
  const composer = text === '' ? state.composer : keepText(state.composer, text);
  const approvals = { ...state.approvals, card: null };
  const shown: State = { ...state, pane, composer, reading: null, search: null, approvals };
  return only(shown, ...answeredIn(shown));
}

/** A letter that has not taken effect yet must not do so when the program goes on, perhaps days later. */
function stopped(state: State, ruler: Ruler, now: number): Change {
  const guarded = ask(state, ruler, { type: 'redrawn' }, now);
  return only(guarded.state, ...guarded.effects, { do: 'suspend' });
}

/** A row of the palette: a command of a key, or one of the composer. */
function runChosen(state: State, ruler: Ruler, id: string, now: number): Change {
  if (!id.startsWith('/')) return command(state, ruler, id, now);
  const found = findCommand(id.slice(1));
  // What needs more words is begun in the composer.
  if (found !== undefined && found.least > 0)
    return compose({ ...state, pane: 'chat', reading: null }, ruler, { type: 'replace', text: `${id} ` }, now);
  const done = runSlash(state, ruler, id.slice(1), '', now);
  return typeof done === 'string' ? only(saying(state, done, now)) : done;
}

/** Ctrl+D (10 §12.4). */
function endOfInput(state: State, ruler: Ruler, now: number): Change {
  if (state.overlays.length > 0 || state.approvals.card !== null) return only(state);
  if (state.pane === 'chat' && !isComposerEmpty(state.composer))
    return compose(state, ruler, { type: 'command', id: 'composer.delete' }, now);
  return twice(state, 'Ctrl+D', now);
}

function twice(state: State, key: string, now: number): Change {
  const { quitting } = state;
  if (quitting !== null && quitting.key === key && now - quitting.at <= twiceMs) return only(state, { do: 'quit' });
  // No longer than it is true.
  return only({ ...saying(state, `press ${key} again to quit`, now, false, twiceMs), quitting: { key, at: now } });
}

/** What these keys close in the list of asks; its question and its field have Esc for themselves. */
function innerOf({ approvals: { denying, filter, history } }: State, isEscape: boolean): string | null {
  if (denying !== null) return 'overlay.close';
  if (filter.typing) return 'field.close';
  return isEscape || history !== null ? 'approvals.clear' : null;
}

/** Esc and Ctrl+C: the first that applies (10 §12.4). Neither ever denies or deletes. */
function interrupt(state: State, ruler: Ruler, now: number, isEscape: boolean): Change {
  if (state.overlays.length > 0) return closeTop(state, now);
  if (state.composer.completion !== null || state.composer.search !== null)
    return compose({ ...state, closedAt: now }, ruler, { type: 'command', id: 'completion.close' }, now);
  if (state.approvals.card !== null)
    return ask({ ...state, closedAt: now }, ruler, { type: 'command', id: 'card.leave' }, now);
  if (state.search !== null) return only({ ...state, search: null, closedAt: now });
  if (state.reading !== null) return only({ ...state, reading: null, closedAt: now });
  const inner = state.pane === 'approvals' ? innerOf(state, isEscape) : null;
  if (inner !== null) return ask(state, ruler, { type: 'command', id: inner }, now);
  if (state.pane === 'plan' && state.plan.field !== null) return planFieldCommand(state, 'field.close', now);
  const other =
    state.pane === 'plan' && !(isEscape && now - state.closedAt < layerMs) ? interruptPlan(state, now) : null;
  if (other !== null) return other;
  const { turn } = state;
  const interrupts = turn !== null && state.pane !== 'plan' && !(isEscape && now - state.closedAt < layerMs);
  // Until its run is there, the wish waits for it.
  if (interrupts && turn.run_id === null) return only({ ...state, turn: { ...turn, interrupted_at: now } });
  if (interrupts && turn.run_id !== null) {
    const waits = turn.waiting_since !== null;
    const again = state.quitting?.key === 'interrupt' && now - state.quitting.at <= twiceMs;
    if (isEscape && waits && !again)
      return only({
        ...saying(state, `Esc again interrupts and withdraws ${openAsksOf(state, turn.run_id)}`, now, false),
        quitting: { key: 'interrupt', at: now },
      });
    return only(
      { ...state, quitting: null, turn: { ...turn, interrupted_at: turn.interrupted_at ?? now } },
      { do: 'interrupt', run_id: turn.run_id },
    );
  }
  if (isEscape) {
    const again = state.quitting?.key === 'Esc' && now - state.quitting.at < layerMs;
    if (!isComposerEmpty(state.composer) && again)
      return compose({ ...state, quitting: null }, ruler, { type: 'command', id: 'composer.clear' }, now);
    return only({ ...state, quitting: { key: 'Esc', at: now } });
  }
  // An image is taken back with what was written, and by itself too.
  if (!isComposerEmpty(state.composer) || state.composer.images.length > 0)
    return compose(state, ruler, { type: 'command', id: 'composer.clear' }, now);
  return twice(state, 'Ctrl+C', now);
}
