import type { SavedDraft } from '../../src/schema/draft.ts';
import { type Completion, type CompletionWords, completionAt, type Wanted } from './completion.ts';
import { draftOf, emptyDraft, wholeText } from './draft.ts';
import {
  edit,
  type Editing,
  editingOf,
  isEdit,
  emptyEditing,
  expandPaste,
  moveTo,
  pasteText,
  replace,
  sizeOf,
  typeText,
} from './editing.ts';
import { emptyHistory, loaded, type History, remember, searched, step } from './history.ts';
import { readLine } from './slash-commands.ts';
import { moveRow } from './visual-lines.ts';

export type Queued = { readonly text: string; readonly images: readonly string[] };

export type ComposerState = {
  readonly editing: Editing;
  /** Column that moves up and down aim at; null when another key came between. */
  readonly goal: number | null;
  readonly history: History;
  /** Reverse search; `kept` is what Esc restores. */
  readonly search: { readonly query: string; readonly chosen: number; readonly kept: Editing } | null;
  readonly completion: Completion | null;
  readonly chosen: number;
  /** The word that the list was closed for, as the text before it. */
  readonly dismissed: string | null;
  readonly known: CompletionWords;
  readonly queue: readonly Queued[];
  /** The queue waits for Enter: a turn did not complete, or the program was started anew. */
  readonly held: boolean;
  readonly images: readonly string[];
  /** What the operator ran and the model is told with the next message (10 §6.6). */
  readonly context: readonly string[];
  readonly lastSent: string | null;
  /** Lines about what was refused, until the next key. */
  readonly problems: readonly string[];
};

export type ComposerAction =
  | { readonly type: 'command'; readonly id: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  /** Another session is open: its own draft comes with `restore`. */
  | { readonly type: 'switch' }
  /** A stored draft; its queue waits for Enter. */
  | { readonly type: 'restore'; readonly saved: SavedDraft }
  /** The text as an editor saved it. */
  | { readonly type: 'replace'; readonly text: string }
  /** A message that could not be sent comes back, with why. */
  | { readonly type: 'return'; readonly text: string; readonly problems: readonly string[] }
  | { readonly type: 'history'; readonly entries: readonly string[]; readonly most: number }
  | { readonly type: 'words'; readonly source: string; readonly words: readonly string[] }
  | { readonly type: 'paths'; readonly query: string; readonly found: readonly string[] }
  | { readonly type: 'image'; readonly path: string }
  | { readonly type: 'context'; readonly text: string }
  | { readonly type: 'clear-queue' }
  | { readonly type: 'turn-ended'; readonly completed: boolean };

/** What is to be done about it; carried out elsewhere. */
export type ComposerIntent =
  | { readonly do: 'send'; readonly text: string; readonly images: readonly string[] }
  | { readonly do: 'slash'; readonly name: string; readonly args: string }
  | { readonly do: 'shell'; readonly line: string; readonly keep: boolean }
  | { readonly do: 'editor'; readonly text: string }
  | { readonly do: 'help' }
  /** Goes into the history of the workspace. */
  | { readonly do: 'remember'; readonly text: string }
  | { readonly do: 'save'; readonly saved: SavedDraft }
  | { readonly do: 'find'; readonly wanted: NonNullable<Wanted> };

export type ComposerView = {
  /** Columns that the text may take. */
  readonly columns: number;
  readonly busy: boolean;
  readonly width: (text: string) => number;
};

export type Composed = { readonly state: ComposerState; readonly intents: readonly ComposerIntent[] };

const mostQueued = 10;
const mostBytes = 1024 * 1024;

export const emptyComposer: ComposerState = {
  editing: emptyEditing,
  goal: null,
  history: emptyHistory(),
  search: null,
  completion: null,
  chosen: 0,
  dismissed: null,
  known: { words: {}, paths: null },
  queue: [],
  held: false,
  images: [],
  context: [],
  lastSent: null,
  problems: [],
};

export const composerText = (state: ComposerState): string => wholeText(state.editing);
export const isComposerEmpty = (state: ComposerState): boolean => state.editing.text === '';
export const savedDraft = ({ editing: { text, caret, pastes }, queue }: ComposerState): SavedDraft => ({
  draft: { text, caret, pastes: [...pastes] },
  queue: queue.map((one) => ({ text: one.text, images: [...one.images] })),
});

/** With a text that the next yank puts in: what an overlay lost. */
export const keepText = (state: ComposerState, text: string): ComposerState => ({
  ...state,
  editing: { ...state.editing, kill: text },
});

/** The contexts in which keys of the composer are looked up, innermost first. */
export const composerContexts = (state: ComposerState): readonly ('completion' | 'composer')[] =>
  state.completion === null && state.search === null ? ['composer'] : ['completion', 'composer'];

/** One step of the composer. Pure: what it causes comes back as intents, in order. */
export function reduceComposer(state: ComposerState, action: ComposerAction, view: ComposerView): Composed {
  const stepped = reduce({ ...state, problems: isInput(action) ? [] : state.problems }, action, view);
  const { list, wanted } =
    stepped.state.search === null ? completionAt(stepped.state.editing, stepped.state.known) : none;
  const start = list === null ? null : stepped.state.editing.text.slice(0, list.from);
  const dismissed = start === stepped.state.dismissed ? start : null;
  const moved = list?.kind !== state.completion?.kind || stepped.state.editing !== state.editing;
  const next: ComposerState = {
    ...stepped.state,
    completion: dismissed !== null && list !== null ? null : list,
    dismissed: list === null ? stillDismissed(stepped.state) : dismissed,
    chosen: moved ? 0 : Math.min(stepped.state.chosen, Math.max(0, (list?.items.length ?? 1) - 1)),
  };
  const asked = wanted !== null && dismissed === null && !sameWanted(wanted, state, next);
  const changed = next.editing.text !== state.editing.text || next.queue !== state.queue;
  return {
    state: next,
    intents: [
      ...stepped.intents,
      ...(asked ? [{ do: 'find', wanted } as const] : []),
      ...(changed && !isStored(action, state) ? [{ do: 'save', saved: savedDraft(next) } as const] : []),
    ],
  };
}

/** Whether what the step leaves is what the store holds. */
const isStored = ({ type }: ComposerAction, before: ComposerState): boolean =>
  type === 'switch' || (type === 'restore' && isComposerEmpty(before) && before.queue.length === 0);

/** A word that was closed stays so while what stands before it does. */
const stillDismissed = ({ dismissed, editing: { text } }: ComposerState): string | null =>
  dismissed !== null && text.length > dismissed.length && text.startsWith(dismissed) ? dismissed : null;

const none = { list: null, wanted: null } as const;

const isInput = ({ type }: ComposerAction): boolean => type === 'command' || type === 'text' || type === 'paste';

/** Asked once for each change of the text; words and paths that arrive ask for nothing. */
const sameWanted = (wanted: NonNullable<Wanted>, before: ComposerState, next: ComposerState): boolean =>
  before.editing.text === next.editing.text && (wanted.kind === 'words' || before.known !== next.known);

const only = (state: ComposerState): Composed => ({ state, intents: [] });
const refuse = (state: ComposerState, ...problems: readonly string[]): Composed => only({ ...state, problems });
const edited = (state: ComposerState, editing: Editing): ComposerState => ({ ...state, editing, goal: null });

function reduce(state: ComposerState, action: ComposerAction, view: ComposerView): Composed {
  switch (action.type) {
    case 'command':
      return runCommand(state, action.id, view);
    case 'text':
      if (state.search !== null) return only(searchFor(state, state.search.query + action.text));
      if (action.text === '?' && isComposerEmpty(state)) return { state, intents: [{ do: 'help' }] };
      return put(state, typeText(state.editing, action.text));
    case 'paste':
      if (state.search !== null)
        return only(searchFor(state, state.search.query + action.text.replaceAll(/\s+/g, ' ')));
      return offerImage(put(state, pasteText(state.editing, action.text)), action.text);
    case 'restore':
      return only(restored(state, action.saved));
    case 'switch':
      return only({ ...edited(state, cleared(state)), queue: [], held: false });
    case 'replace':
      return put(state, replaced(state.editing, action.text));
    case 'return': {
      const kept = isComposerEmpty(state) ? draftOf(action.text) : draftOf(`${action.text}\n${composerText(state)}`);
      return refuse(edited(state, editingOf(kept, state.editing)), ...action.problems);
    }
    case 'history':
      return only({ ...state, history: loaded(state.history, action.entries, action.most) });
    case 'words':
      return only({
        ...state,
        known: { ...state.known, words: { ...state.known.words, [action.source]: action.words } },
      });
    case 'paths':
      return only({ ...state, known: { ...state.known, paths: { query: action.query, found: action.found } } });
    case 'context':
      return only({ ...state, context: [...state.context, action.text] });
    case 'image':
      return only({ ...state, images: [...state.images, action.path] });
    case 'clear-queue':
      return state.queue.reduce((done, { text }) => remembered(done, text), only({ ...state, queue: [], held: false }));
    case 'turn-ended':
      return action.completed && !state.held ? sendNext(state) : only({ ...state, held: state.queue.length > 0 });
  }
}

/** The stored draft; what was typed before it came stays, behind it. */
function restored(state: ComposerState, { draft, queue }: SavedDraft): ComposerState {
  const base = editingOf({ ...draft, ...(isComposerEmpty(state) ? {} : { caret: draft.text.length }) }, state.editing);
  const between = draft.text === '' ? '' : '\n';
  const editing = isComposerEmpty(state) ? base : typeText(base, `${between}${composerText(state)}`);
  return { ...edited(state, editing), queue: [...queue, ...state.queue], held: queue.length > 0 || state.held };
}

const replaced = (editing: Editing, text: string): Editing => replace(editing, 0, editing.text.length, text);

/** Above the limit further input is refused, and nothing is cut (10 §6.1). */
function put(state: ComposerState, editing: Editing): Composed {
  if (editing.text.length > mostBytes / 4 || editing.pastes.length > 0) {
    if (sizeOf(editing) > mostBytes) return refuse(state, 'the message would have more than 1 MiB: nothing was put in');
  }
  return only(edited(state, editing));
}

/** A path of an image by itself offers to be attached (10 §6.2). */
function offerImage(composed: Composed, pasted: string): Composed {
  const path = pasted.trim();
  const isImage = /^\S[^\n]*\.(?:png|jpe?g|gif|webp)$/i.test(path) && path.includes('/');
  return isImage ? refuse(composed.state, `to attach this image: /image ${path}`) : composed;
}

function runCommand(state: ComposerState, id: string, view: ComposerView): Composed {
  if (state.search !== null) return searchCommand(state, state.search, id);
  if (id.startsWith('completion.')) return completionCommand(state, id, view);
  switch (id) {
    case 'composer.send':
      return send(state, view);
    case 'composer.newline':
      return put(state, typeText(state.editing, '\n'));
    case 'composer.editor':
      return { state, intents: [{ do: 'editor', text: composerText(state) }] };
    case 'composer.history-search':
      return only({ ...state, search: { query: '', chosen: 0, kept: state.editing } });
    case 'composer.expand-paste':
      return put(state, expandPaste(state.editing));
    case 'composer.resend':
      if (state.lastSent === null) return refuse(state, 'nothing was sent yet');
      if (view.busy) return refuse(state, 'a turn is running');
      return { state, intents: [{ do: 'send', text: state.lastSent, images: [] }] };
    case 'composer.up':
      return vertical(state, -1, view);
    case 'composer.down':
      return vertical(state, 1, view);
    case 'composer.clear':
      return remembered(only({ ...edited(state, cleared(state)), images: [] }), composerText(state));
    default: {
      const name = id.startsWith('composer.') ? id.slice('composer.'.length) : '';
      return isEdit(name) ? only(edited(state, edit(state.editing, name))) : only(state);
    }
  }
}

const cleared = (state: ComposerState): Editing => editingOf(emptyDraft, state.editing);

function vertical(state: ComposerState, by: 1 | -1, view: ComposerView): Composed {
  const moved = moveRow(state.editing, by, view.columns, view.width, state.goal);
  if (moved !== null) return only({ ...state, editing: moveTo(state.editing, moved.caret), goal: moved.goal });
  if (by === -1 && isComposerEmpty(state) && state.queue.length > 0) return takeQueued(state);
  const stepped = step(state.history, by === -1 ? 1 : -1, state.editing);
  if (stepped === null) return only(state);
  return only({ ...edited(state, editingOf(stepped.draft, state.editing)), history: stepped.history });
}

/** The last queued message comes back for editing. */
function takeQueued(state: ComposerState): Composed {
  const last = state.queue.at(-1);
  const queue = state.queue.slice(0, -1);
  return only({
    ...edited(state, editingOf(draftOf(last?.text ?? ''), state.editing)),
    images: last?.images ?? [],
    queue,
    held: state.held && queue.length > 0,
  });
}

/** A text that was sent or cleared goes into the history. */
function remembered(composed: Composed, text: string): Composed {
  const history = remember(composed.state.history, text);
  const added = history.entries !== composed.state.history.entries;
  const intents = added ? [...composed.intents, { do: 'remember', text } as const] : composed.intents;
  return { state: { ...composed.state, history }, intents };
}

function send(state: ComposerState, view: ComposerView): Composed {
  const { editing } = state;
  // A backslash at the end of the line asks for another one.
  if (
    editing.caret > 0 &&
    editing.text.charAt(editing.caret - 1) === '\\' &&
    /^(?:\n|$)/.test(editing.text.slice(editing.caret))
  )
    return put(state, replace(editing, editing.caret - 1, editing.caret, '\n'));
  const text = composerText(state);
  const line = readLine(text, view.busy);
  switch (line.kind) {
    case 'empty':
      return state.held && !view.busy ? sendNext({ ...state, held: false }) : only(state);
    case 'refused':
      return refuse(state, line.why);
    case 'slash':
      return remembered(
        { state: edited(state, cleared(state)), intents: [{ do: 'slash', name: line.name, args: line.args }] },
        text,
      );
    case 'shell':
      return remembered(
        { state: edited(state, cleared(state)), intents: [{ do: 'shell', line: line.line, keep: line.keep }] },
        text,
      );
    case 'message': {
      const { images } = state;
      if (view.busy && state.queue.length >= mostQueued)
        return refuse(state, `${mostQueued} messages are queued: wait, or take one back with Up`);
      const emptied = { ...edited(state, cleared(state)), images: [] };
      const composed: Composed = view.busy
        ? only({ ...emptied, queue: [...state.queue, { text: line.text, images }] })
        : sent({ ...emptied, held: state.queue.length > 0 && state.held }, { text: line.text, images });
      return remembered(composed, text);
    }
  }
}

const sent = (state: ComposerState, { text, images }: Queued): Composed => ({
  state: { ...state, lastSent: text, context: [] },
  intents: [{ do: 'send', text: [...state.context, text].join('\n\n'), images }],
});

function sendNext(state: ComposerState): Composed {
  const [next, ...queue] = state.queue;
  return next === undefined ? only({ ...state, held: false }) : sent({ ...state, queue, held: false }, next);
}

function completionCommand(state: ComposerState, id: string, view: ComposerView): Composed {
  const list = state.completion;
  if (list === null) return only(state);
  const { length } = list.items;
  if (id === 'completion.up') return only({ ...state, chosen: (state.chosen + length - 1) % length });
  if (id === 'completion.down') return only({ ...state, chosen: (state.chosen + 1) % length });
  if (id === 'completion.close') return only({ ...state, dismissed: state.editing.text.slice(0, list.from) });
  const item = list.items[state.chosen];
  if (item === undefined) return only(state);
  const runs = id === 'completion.run' && item.whole && list.kind !== 'file';
  const open = list.kind === 'file' && item.insert.endsWith('/');
  const text = runs || open ? item.insert : `${item.insert} `;
  const editing = replace(state.editing, list.from, list.to, text);
  const taken = {
    ...edited(state, editing),
    completion: null,
    dismissed: open ? null : editing.text.slice(0, list.from),
  };
  return runs ? send(taken, view) : only(taken);
}

const mostFound = 50;

/** What a search shows, newest first. */
export const found = ({ history, search }: ComposerState): readonly string[] =>
  search === null ? [] : searched(history, search.query, mostFound);

function searchFor(state: ComposerState, query: string): ComposerState {
  return state.search === null ? state : { ...state, search: { ...state.search, query, chosen: 0 } };
}

function searchCommand(state: ComposerState, search: NonNullable<ComposerState['search']>, id: string): Composed {
  const entries = found(state);
  const move = (by: number): Composed => {
    const chosen = Math.max(0, Math.min(entries.length - 1, search.chosen + by));
    return only({ ...state, search: { ...search, chosen } });
  };
  switch (id) {
    case 'completion.up':
    case 'composer.up':
      return move(-1);
    case 'completion.down':
    case 'composer.down':
    case 'composer.history-search':
      return move(1);
    case 'completion.close':
      return only({ ...edited(state, search.kept), search: null });
    case 'completion.accept':
    case 'completion.run':
    case 'composer.send': {
      const text = entries[search.chosen];
      const editing = text === undefined ? search.kept : replaced(search.kept, text);
      return only({ ...edited(state, editing), search: null });
    }
    case 'composer.backspace':
      return only(searchFor(state, [...search.query].slice(0, -1).join('')));
    case 'composer.delete-to-start':
      return only(searchFor(state, ''));
    default:
      return only(state);
  }
}
