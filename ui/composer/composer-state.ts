import type { Glyphs } from '../../src/view/escape.ts';
import type { SavedDraft } from '../../src/schema/draft.ts';
import type { Completion, CompletionWords, Wanted } from './completion.ts';
import { emptyDraft, wholeText, withoutMarks } from './draft.ts';
import { type Editing, editingOf, emptyEditing, replace, sizeOf } from './editing.ts';
import { type History, emptyHistory, remember } from './history.ts';

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
  /** On its way, and not in the session yet: what is saved of the composer still has it. */
  readonly sending: Queued | null;
  /** The queue waits for Enter: a turn did not complete, or the program was started anew. */
  readonly held: boolean;
  readonly images: readonly string[];
  /** What the operator ran and the model is told with the next message (10 §6.6). */
  readonly context: readonly string[];
  readonly lastSent: string | null;
  /** Lines about what was refused, until the next key. */
  readonly problems: readonly string[];
};

/** A message as it was written: so it goes back where it cannot be sent. */
export type Written = {
  readonly text: string;
  readonly images: readonly string[];
  /** What the operator ran before it, which the model is told behind its text. */
  readonly context: readonly string[];
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
  /** The message that was on its way is in the session. */
  | { readonly type: 'accepted' }
  /** A message that could not be sent comes back, or a line that could not be carried out, with why. */
  | {
      readonly type: 'return';
      readonly text: string;
      readonly problems: readonly string[];
      readonly with?: Pick<Written, 'images' | 'context'>;
    }
  /** A message that has to wait is sent before the others. */
  | { readonly type: 'requeue'; readonly written: Written }
  | { readonly type: 'history'; readonly entries: readonly string[]; readonly most: number }
  | { readonly type: 'words'; readonly source: string; readonly words: readonly string[] }
  | { readonly type: 'paths'; readonly query: string; readonly found: readonly string[] }
  | { readonly type: 'image'; readonly path: string }
  | { readonly type: 'context'; readonly text: string }
  | { readonly type: 'clear-queue' }
  | { readonly type: 'turn-ended'; readonly completed: boolean };

/** What is to be done about it; carried out elsewhere. */
export type ComposerIntent =
  | ({ readonly do: 'send' } & Written)
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
  readonly glyphs: Glyphs;
};

export type Composed = { readonly state: ComposerState; readonly intents: readonly ComposerIntent[] };
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
  sending: null,
  held: false,
  images: [],
  context: [],
  lastSent: null,
  problems: [],
};

export const composerText = (state: ComposerState): string => wholeText(state.editing);
export const isComposerEmpty = (state: ComposerState): boolean => state.editing.text === '';

export const savedDraft = ({ editing: { text, caret, pastes }, queue, sending }: ComposerState): SavedDraft => ({
  draft: { text, caret, pastes: [...pastes] },
  queue: [...(sending === null ? [] : [sending]), ...queue].map((one) => ({ text: one.text, images: [...one.images] })),
});

/** With a text that the next yank puts in: what an overlay lost. */
export const keepText = (state: ComposerState, text: string): ComposerState => ({
  ...state,
  editing: { ...state.editing, kill: text },
});

/** The contexts in which keys of the composer are looked up, innermost first. */
export const composerContexts = (state: ComposerState): readonly ('completion' | 'composer')[] =>
  state.completion === null && state.search === null ? ['composer'] : ['completion', 'composer'];

export const only = (state: ComposerState): Composed => ({ state, intents: [] });
export const refuse = (state: ComposerState, ...problems: readonly string[]): Composed => only({ ...state, problems });
export const edited = (state: ComposerState, editing: Editing): ComposerState => ({ ...state, editing, goal: null });
export const replaced = (editing: Editing, text: string): Editing =>
  replace(editing, 0, editing.text.length, withoutMarks(editing, text));

/** Above the limit further input is refused, and nothing is cut (10 §6.1). */
export function put(state: ComposerState, editing: Editing): Composed {
  if (editing.text.length > mostBytes / 4 || editing.pastes.length > 0) {
    if (sizeOf(editing) > mostBytes) return refuse(state, 'the message would have more than 1 MiB: nothing was put in');
  }
  return only(edited(state, editing));
}

export const cleared = (state: ComposerState): Editing => editingOf(emptyDraft, state.editing);

/** A text that was sent or cleared goes into the history. */
export function remembered(composed: Composed, text: string): Composed {
  const history = remember(composed.state.history, text);
  const added = history.entries !== composed.state.history.entries;
  const intents = added ? [...composed.intents, { do: 'remember', text } as const] : composed.intents;
  return { state: { ...composed.state, history }, intents };
}
