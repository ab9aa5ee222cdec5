import { after, before, border } from './clusters.ts';
import { type Draft, emptyDraft, freeMark, pasteOf, wholeText, withoutMarks } from './draft.ts';

/** A draft with what its editing remembers. */
export type Editing = Draft & {
  /** What was deleted last, for Ctrl+Y. */
  readonly kill: string;
  readonly undo: readonly Draft[];
  /** Characters are being typed one after another: they are one step of undo up to a blank. */
  readonly typing: boolean;
};

export type EditCommand =
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'line-start'
  | 'line-end'
  | 'backspace'
  | 'delete'
  | 'delete-word-left'
  | 'delete-word-right'
  | 'delete-to-start'
  | 'delete-to-end'
  | 'yank'
  | 'undo';

const undoSteps = 200;
/** A paste longer than this is shown as one mark (10 §6.2). */
const foldLines = 10;
const foldCharacters = 1000;

export const emptyEditing: Editing = { ...emptyDraft, kill: '', undo: [], typing: false };

/** Begins with a text; what was deleted before can still be inserted. */
export const editingOf = (draft: Draft, kept: Pick<Editing, 'kill' | 'pastes'> = emptyEditing): Editing => {
  const pastes = [...draft.pastes, ...kept.pastes.filter(({ mark }) => kept.kill.includes(mark))];
  return { ...draft, pastes, kill: kept.kill, undo: [], typing: false };
};

/** Puts typed text at the caret. */
export function typeText(state: Editing, given: string): Editing {
  const text = withoutMarks(state, given);
  const joins = state.typing && !/\s/.test(text);
  const next = replace(state, state.caret, state.caret, text, joins);
  return { ...next, typing: true };
}

/** Puts a paste at the caret: one step of undo, and one mark when it is long. A new line at its end is left out. */
export function pasteText(state: Editing, given: string): Editing {
  const text = withoutMarks(state, given.endsWith('\n') ? given.slice(0, -1) : given);
  if (text === '') return state;
  const long = text.length > foldCharacters || text.split('\n', foldLines + 1).length > foldLines;
  const mark = long ? freeMark(state, text) : null;
  if (mark === null) return replace(state, state.caret, state.caret, text);
  const number = 1 + Math.max(0, ...state.pastes.map((paste) => paste.number));
  return replace({ ...state, pastes: [...state.pastes, { mark, number, text }] }, state.caret, state.caret, mark);
}

/** Opens the paste under the caret, or just before it, in place; unchanged when there is none. */
export function expandPaste(state: Editing): Editing {
  const places = [
    [state.caret, after(state.text, state.caret)],
    [before(state.text, state.caret), state.caret],
  ] as const;
  for (const [from, to] of places) {
    const paste = pasteOf(state, state.text.slice(from, to));
    if (paste !== undefined) return { ...replace(state, from, to, paste.text), caret: from };
  }
  return state;
}

/** The caret at a place, moved back to the border of a cluster. */
export const moveTo = (state: Editing, at: number): Editing => ({
  ...state,
  caret: border(state.text, at),
  typing: false,
});

/** Replaces a piece of the text and puts the caret behind it. @param joins part of the last step of undo */
export function replace(state: Editing, from: number, to: number, text: string, joins = false): Editing {
  const { text: old, caret, pastes } = state;
  const next = old.slice(0, from) + text + old.slice(to);
  const undo = joins ? state.undo : [...state.undo.slice(-(undoSteps - 1)), { text: old, caret, pastes }];
  return { ...state, text: next, caret: border(next, from + text.length), undo, typing: false };
}

const kill = (state: Editing, from: number, to: number): Editing =>
  from === to ? state : { ...replace(state, from, to, ''), kill: state.text.slice(from, to) };

const commands: Readonly<Record<EditCommand, (state: Editing) => Editing>> = {
  left: (state) => moveTo(state, before(state.text, state.caret)),
  right: (state) => moveTo(state, after(state.text, state.caret)),
  'word-left': (state) => moveTo(state, wordStart(state.text, state.caret)),
  'word-right': (state) => moveTo(state, wordEnd(state.text, state.caret)),
  'line-start': (state) => moveTo(state, lineStart(state.text, state.caret)),
  'line-end': (state) => moveTo(state, lineEnd(state.text, state.caret)),
  backspace: (state) => (state.caret === 0 ? state : replace(state, before(state.text, state.caret), state.caret, '')),
  delete: (state) =>
    state.caret === state.text.length ? state : replace(state, state.caret, after(state.text, state.caret), ''),
  'delete-word-left': (state) => kill(state, blankBefore(state.text, state.caret), state.caret),
  'delete-word-right': (state) => kill(state, state.caret, wordEnd(state.text, state.caret)),
  'delete-to-start': (state) => kill(state, lineStart(state.text, state.caret), state.caret),
  'delete-to-end': (state) => kill(state, state.caret, lineEnd(state.text, state.caret)),
  yank: (state) => (state.kill === '' ? state : replace(state, state.caret, state.caret, state.kill)),
  undo: (state) => {
    const last = state.undo.at(-1);
    return last === undefined ? state : { ...state, ...last, undo: state.undo.slice(0, -1), typing: false };
  },
};

/** Whether a name is one of a command of editing. */
export const isEdit = (name: string): name is EditCommand => Object.hasOwn(commands, name);

export const edit = (state: Editing, command: EditCommand): Editing => commands[command](state);

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

const isWord = (cluster: string): boolean => /^[\p{L}\p{N}\p{M}_]/u.test(cluster);

function wordStart(text: string, at: number): number {
  let place = at;
  while (place > 0 && !isWord(text.slice(before(text, place), place))) place = before(text, place);
  while (place > 0 && isWord(text.slice(before(text, place), place))) place = before(text, place);
  return place;
}

function wordEnd(text: string, at: number): number {
  let place = at;
  while (place < text.length && !isWord(text.slice(place, after(text, place)))) place = after(text, place);
  while (place < text.length && isWord(text.slice(place, after(text, place)))) place = after(text, place);
  return place;
}

/** Back over blanks, then to the next blank. */
function blankBefore(text: string, at: number): number {
  let place = at;
  while (place > 0 && /\s/.test(text.charAt(place - 1))) place -= 1;
  while (place > 0 && !/\s/.test(text.charAt(place - 1))) place = before(text, place);
  return place;
}

/** Bytes of the whole text; what is refused above the limit is refused before it is put in. */
export const sizeOf = (state: Draft): number => Buffer.byteLength(wholeText(state));
