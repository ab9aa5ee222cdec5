import { draftOf } from './draft.ts';
import { editingOf, replace } from './editing.ts';
import { readLine } from './slash-commands.ts';
import {
  type Composed,
  type ComposerState,
  type ComposerView,
  type Queued,
  cleared,
  composerText,
  edited,
  only,
  put,
  refuse,
  remembered,
} from './composer-state.ts';

const mostQueued = 10;

/** The last queued message comes back for editing. */
export function takeQueued(state: ComposerState): Composed {
  const last = state.queue.at(-1);
  const queue = state.queue.slice(0, -1);
  return only({
    ...edited(state, editingOf(draftOf(last?.text ?? ''), state.editing)),
    images: last?.images ?? [],
    queue,
    held: state.held && queue.length > 0,
  });
}

export function send(state: ComposerState, view: ComposerView): Composed {
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
  state: { ...state, lastSent: text, context: [], sending: { text, images } },
  intents: [{ do: 'send', text, images, context: state.context }],
});

export function sendNext(state: ComposerState): Composed {
  const [next, ...queue] = state.queue;
  return next === undefined ? only({ ...state, held: false }) : sent({ ...state, queue, held: false }, next);
}
