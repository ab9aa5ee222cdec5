import { columnsOf } from '../src/view/wrap.ts';
import type { Attached } from './composer/attach.ts';
import type { AttachIntent } from './composer/composer-effects.ts';
import type { ComposerAction, ComposerIntent, ComposerView } from './composer/composer-state.ts';
import { reduceComposer } from './composer/reduce-composer.ts';
import { literalAts, mentionsOf } from './composer/mention.ts';
import type { Ruler } from './move.ts';
import { opened } from './overlays/press.ts';
import { send } from './sending.ts';
import { nothingRun, shellQuestion } from './shell-switch.ts';
import { runSlash } from './slash.ts';
import { type Change, only, type State } from './state.ts';

/** Columns that the text of the composer may take: its mark stands before it. */
export const composerColumns = (columns: number): number => Math.max(4, columns - 2);

const viewOf = (state: State): ComposerView => ({
  columns: composerColumns(state.size.columns),
  busy: state.turn !== null || state.attaching || state.phase === 'starting',
  width: columnsOf,
  glyphs: state.glyphs,
});

/** One step of the composer, with what it leads to. */
export function compose(state: State, ruler: Ruler, action: ComposerAction, now: number): Change {
  const { state: composer, intents } = reduceComposer(state.composer, action, viewOf(state));
  const done = intents.reduce<Change>(
    (change, intent) => {
      const next = carried(change.state, ruler, intent, now);
      return { state: next.state, effects: [...change.effects, ...next.effects] };
    },
    only({ ...state, composer }),
  );
  // What was queued is sent by itself: nobody who reads further up is taken to the end by that.
  const { anchor, paused, far } = state;
  return action.type === 'turn-ended' ? { ...done, state: { ...done.state, anchor, paused, far } } : done;
}

function carried(state: State, ruler: Ruler, intent: ComposerIntent, now: number): Change {
  switch (intent.do) {
    case 'send': {
      if (state.session?.deleted !== true) {
        if (mentionsOf(intent.text).length === 0) return send(state, literalAts(intent.text), intent, now);
        return only({ ...state, attaching: true }, { do: 'composer', intent: { ...intent, do: 'attach' } });
      }
      const problems = ['this session was deleted: /new starts another one'];
      return compose(state, ruler, { type: 'return', text: intent.text, with: intent, problems }, now);
    }
    case 'slash':
      return slash(state, ruler, intent.name, intent.args, now);
    case 'help':
      return opened(state, 'help');
    case 'editor':
      return only(state, { do: 'edit-text', ask: null, text: intent.text });
    case 'shell': {
      if (state.facts.shell) return only(state, { do: 'composer', intent });
      const text = `${intent.keep ? '!' : '!!'}${intent.line}`;
      const change = compose(state, ruler, { type: 'return', text, problems: [nothingRun] }, now);
      return { ...change, state: { ...change.state, overlays: [...change.state.overlays, shellQuestion()] } };
    }
    case 'remember':
    case 'save':
    case 'find':
      return only(state, { do: 'composer', intent });
  }
}

/** Commands about the composer itself; the others are the app's. */
function slash(state: State, ruler: Ruler, name: string, args: string, now: number): Change {
  if (name === 'edit') return compose(state, ruler, { type: 'command', id: 'composer.editor' }, now);
  if (name === 'queue' && args === 'clear') return compose(state, ruler, { type: 'clear-queue' }, now);
  const text = `/${name} ${args}`.trim();
  const done = runSlash(state, ruler, name, args, now);
  if (typeof done === 'string') return compose(state, ruler, { type: 'return', text, problems: [done] }, now);
  return { state: done.state, effects: done.effects.map((effect) => ({ do: 'typed', effect, text }) as const) };
}

/** The mentions of a message were read: it is sent, or comes back with what was wrong (10 §6.4). */
export function attached(state: State, ruler: Ruler, message: AttachIntent, read: Attached, now: number): Change {
  const free = { ...state, attaching: false };
  const { text } = message;
  if (!state.attaching) {
    const problems = ['not sent: another session was opened meanwhile'];
    return compose(free, ruler, { type: 'return', text, with: message, problems }, now);
  }
  if (read.ok) {
    const images = [...new Set([...message.images, ...read.images])];
    return send(free, read.text, { ...message, images }, now);
  }
  // What was queued meanwhile was to come behind it: nothing else would send it, or say that it waits.
  const held = compose(free, ruler, { type: 'turn-ended', completed: false }, now);
  const back = compose(held.state, ruler, { type: 'return', text, with: message, problems: read.problems }, now);
  return { state: back.state, effects: [...held.effects, ...back.effects] };
}
