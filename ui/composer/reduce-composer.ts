import type { SavedDraft } from '../../src/schema/draft.ts';
import { type Wanted, completionAt } from './completion.ts';
import { draftOf } from './draft.ts';
import { edit, editingOf, expandPaste, isEdit, moveTo, pasteText, typeText } from './editing.ts';
import { loaded, step } from './history.ts';
import { moveRow } from './visual-lines.ts';
import {
  type Composed,
  type ComposerAction,
  type ComposerState,
  type ComposerView,
  cleared,
  composerText,
  edited,
  isComposerEmpty,
  only,
  put,
  refuse,
  remembered,
  replaced,
  savedDraft,
} from './composer-state.ts';
import { send, sendNext, takeQueued } from './composer-queue.ts';
import { completionCommand, searchCommand, searchFor } from './composer-lists.ts';

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
  const changed =
    next.editing.text !== state.editing.text || next.queue !== state.queue || next.sending !== state.sending;
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
      return left(state);
    case 'replace':
      return put(state, replaced(state.editing, action.text));
    case 'accepted':
      return only({ ...state, sending: null });
    case 'return': {
      const kept = isComposerEmpty(state) ? draftOf(action.text) : draftOf(`${action.text}\n${composerText(state)}`);
      const { images = [], context = [] } = action.with ?? {};
      const back = {
        ...edited(state, editingOf(kept, state.editing)),
        images: [...new Set([...images, ...state.images])],
        context: [...context, ...state.context],
      };
      // What was wrong with it stands where a list of its last word would.
      return refuse({ ...back, sending: null, dismissed: beforeLastWord(back.editing.text) }, ...action.problems);
    }
    case 'requeue': {
      const { text, images, context } = action.written;
      const queue = [{ text, images }, ...state.queue];
      return only({ ...state, queue, context: [...context, ...state.context], sending: null });
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

/** A path of an image by itself offers to be attached (10 §6.2). */
function offerImage(composed: Composed, pasted: string): Composed {
  const path = dropped(pasted.trim());
  const isImage = /^\S[^\n]*\.(?:png|jpe?g|gif|webp)$/i.test(path) && path.includes('/');
  return isImage ? refuse(composed.state, `to attach this image: /image ${path}`) : composed;
}

/** The path of a file that was dropped: terminals write it as a word of a shell. */
function dropped(text: string): string {
  const [, single, double] = /^(?:'([^']*)'|"([^"]*)")$/.exec(text) ?? [];
  return single ?? double ?? text.replaceAll(/\\([^\n])/g, '$1');
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
      if (state.lastSent === null) return refuse(state, 'nothing was sent here yet: Up has what was written before');
      if (view.busy) return refuse(state, 'a turn is running');
      return { state, intents: [{ do: 'send', text: state.lastSent, images: [], context: [] }] };
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

/** Another session is shown: nothing that was meant for the one before goes to it. */
function left(state: ComposerState): Composed {
  const { images, context } = state;
  const none = { queue: [], images: [], context: [], lastSent: null, sending: null, held: false };
  const next: ComposerState = { ...edited(state, cleared(state)), ...none };
  const lost = [...(images.length > 0 ? ['images'] : []), ...(context.length > 0 ? ['output of ! lines'] : [])];
  return lost.length === 0 ? only(next) : refuse(next, `not sent, and left in the session before: ${lost.join(', ')}`);
}

function vertical(state: ComposerState, by: 1 | -1, view: ComposerView): Composed {
  const moved = moveRow(state.editing, by, view.columns, view.width, state.goal, view.glyphs);
  if (moved !== null) return only({ ...state, editing: moveTo(state.editing, moved.caret), goal: moved.goal });
  if (by === -1 && isComposerEmpty(state) && state.queue.length > 0) return takeQueued(state);
  const stepped = step(state.history, by === -1 ? 1 : -1, state.editing);
  if (stepped === null) return only(state);
  return only({ ...edited(state, editingOf(stepped.draft, state.editing)), history: stepped.history });
}

/** What stands before the list of a last word; that of the commands begins behind the slash. */
const beforeLastWord = (text: string): string => text.replace(/\S*$/, '') || (text.startsWith('/') ? '/' : '');
