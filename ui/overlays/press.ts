import { emptyEditing, typeText } from '../composer/editing.ts';
import type { Effect } from '../effect.ts';
import { type Change, only, type State } from '../state.ts';
import {
  editField,
  type Field,
  fieldOf,
  filterField,
  isList,
  type ListOverlay,
  openList,
  type Overlay,
} from './overlay.ts';
import { definitionCommand } from './definition-view.ts';
import { refusedTrust, trustCommand } from './trust-view.ts';
import { modelRows, paletteRows, planRows, sessionRows } from './rows.ts';

/** A command of the palette is run by whoever runs commands of keys. */
export type Run = (state: State, id: string) => Change;

/** A command while an overlay has the keys. */
export function overlayCommand(state: State, id: string, now: number, run: Run): Change {
  const top = state.overlays.at(-1);
  if (top === undefined) return only(state);
  const field = fieldOf(top);
  if (top.kind === 'trust' && id !== 'overlay.close') return trustCommand(state, top, id, now);
  if (top.kind === 'definition' && id !== 'overlay.close') return definitionCommand(state, top, id, now);
  if (id === 'overlay.close') return closeTop(state, now);
  if (isList(top) && field !== null && id.startsWith('field.')) return fieldCommand(state, top, field, id, now, run);
  if (id === 'overlay.accept' && isList(top)) return accept(state, top, run);
  if (id === 'overlay.filter' && isList(top)) return only(changed(state, { ...top, field: filterField, query: '' }));
  return own(state, top, id);
}

/** What is typed goes into the field of the overlay. */
export function overlayText(state: State, text: string): Change {
  const top = state.overlays.at(-1);
  if (top === undefined || !isList(top) || top.field === null) return only(state);
  return only(changed(state, withField(top, { ...top.field, editing: typeText(top.field.editing, text) })));
}

const changed = (state: State, overlay: Overlay): State => ({
  ...state,
  overlays: [...state.overlays.slice(0, -1), overlay],
});
const closed = (state: State, ...effects: readonly Effect[]): Change =>
  only({ ...state, overlays: state.overlays.slice(0, -1) }, ...effects);

const withField = (overlay: ListOverlay, field: Field): ListOverlay =>
  field.purpose === 'filter' ? { ...overlay, field, query: field.editing.text, at: 0 } : { ...overlay, field };

function fieldCommand(state: State, top: ListOverlay, field: Field, id: string, now: number, run: Run): Change {
  switch (id) {
    case 'field.close':
      return only({ ...changed(state, { ...top, field: null }), closedAt: now });
    case 'field.up':
    case 'field.down':
      return only(changed(state, moved(state, top, id === 'field.up' ? -1 : 1)));
    case 'field.accept':
      return field.purpose === 'filter' ? accept(state, top, run) : take(state, top, field);
    default:
      return only(changed(state, withField(top, editField(field, id))));
  }
}

const sizeOf = (state: State, overlay: Overlay): number => {
  switch (overlay.kind) {
    case 'sessions':
      return sessionRows(overlay).length;
    case 'models':
      return modelRows(overlay).length;
    case 'plans':
      return planRows(overlay).length;
    case 'palette':
      return paletteRows(overlay, state.keys).length;
    default:
      return Number.MAX_SAFE_INTEGER;
  }
};

function moved<O extends Overlay>(state: State, overlay: O, delta: number): O {
  const at = Math.max(0, Math.min(overlay.at + delta, sizeOf(state, overlay) - 1));
  return { ...overlay, at };
}

const steps: Readonly<Record<string, number>> = {
  'overlay.up': -1,
  'overlay.down': 1,
  'overlay.page-up': -10,
  'overlay.page-down': 10,
  'overlay.top': -1_000_000,
  'overlay.bottom': 1_000_000,
};

/** Enter on a chosen row. */
function accept(state: State, top: ListOverlay, run: Run): Change {
  switch (top.kind) {
    case 'sessions': {
      const row = sessionRows(top)[top.at];
      return row === undefined ? only(state) : closed(state, { do: 'switch-session', name: row.name });
    }
    case 'models': {
      const row = modelRows(top)[top.at];
      if (row === undefined || row.state === 'unreachable') return only(state);
      return closed(state, { do: 'set-model', name: row.model, backend: row.backend, save: false });
    }
    case 'plans': {
      const row = planRows(top)[top.at];
      return row === undefined ? only(state) : closed(state, { do: 'plan', intent: { do: 'switch', plan: row.name } });
    }
    case 'palette': {
      const row = paletteRows(top, state.keys)[top.at];
      return row === undefined ? only(state) : run({ ...state, overlays: state.overlays.slice(0, -1) }, row.id);
    }
    case 'help':
      return only(changed(state, { ...top, field: null }));
  }
}

/** Enter in a field that is not a filter: the name of a session. */
function take(state: State, top: ListOverlay, field: Field): Change {
  const text = field.editing.text.trim();
  const row = top.kind === 'sessions' ? sessionRows(top)[top.at] : undefined;
  const done = changed(state, { ...top, field: null });
  switch (field.purpose) {
    case 'new':
      return closed(state, { do: 'new-session', name: text === '' ? null : text });
    case 'rename':
      return row === undefined || text === ''
        ? only(done)
        : only(done, { do: 'rename-session', name: row.name, to: text });
    case 'fork':
      return row === undefined
        ? only(done)
        : closed(state, { do: 'fork-session', name: row.name, to: text === '' ? null : text, at: null });
    case 'delete':
      // The whole name is typed where there is something to lose.
      return row === undefined || text !== row.name
        ? only({
            ...done,
            said: { text: 'the name does not match; nothing was deleted', bad: true, until: state.now + 4000 },
          })
        : only(done, { do: 'delete-session', name: row.name, force: false });
    default:
      return only(done);
  }
}

const asked = (label: string, purpose: string, text = ''): Field => ({
  label,
  purpose,
  editing: { ...emptyEditing, text, caret: text.length },
});

/** Letters of one kind of overlay, and moving. */
function own(state: State, top: Overlay, id: string): Change {
  const step = steps[id];
  if (step !== undefined) return only(changed(state, moved(state, top, step)));
  if (top.kind === 'sessions') {
    const row = sessionRows(top)[top.at];
    const field =
      id === 'sessions.new'
        ? asked('name of the new session', 'new')
        : row === undefined
          ? null
          : id === 'sessions.rename'
            ? asked('new name', 'rename', row.name)
            : id === 'sessions.fork'
              ? asked('name of the fork', 'fork')
              : id === 'sessions.delete' && row.message_count > 0
                ? asked(`type ${row.name} to delete it`, 'delete')
                : null;
    if (field !== null) return only(changed(state, { ...top, field }));
    if (id === 'sessions.delete' && row !== undefined)
      return only(state, { do: 'delete-session', name: row.name, force: false });
  }
  if (top.kind === 'models') {
    const row = modelRows(top)[top.at];
    if (row !== undefined && id === 'models.default')
      return closed(state, { do: 'set-model', name: row.model, backend: row.backend, save: true });
    if (row !== undefined && id === 'models.test') return only(state, { do: 'test-backend', name: row.backend });
  }
  if (top.kind === 'run' && top.run !== null) {
    if (id === 'run.cancel') return closed(state, { do: 'cancel-run', run_id: top.run.id });
    if (id === 'run.resume') return closed(state, { do: 'resume-run', run_id: top.run.id });
  }
  return only(state);
}

/** The overlay that opens, with what loads its content. */
export function opened(
  state: State,
  kind: 'help' | 'palette' | 'sessions' | 'models' | 'run',
  runId: string | null = null,
): Change {
  const show = (overlay: Overlay, ...effects: readonly Effect[]): Change =>
    only({ ...state, overlays: [...state.overlays.filter((each) => each.kind !== kind), overlay] }, ...effects);
  switch (kind) {
    case 'help':
      return show({ ...openList('help'), field: null });
    case 'palette':
      return show(openList('palette'));
    case 'sessions':
      return show({ ...openList('sessions'), rows: null }, { do: 'load-sessions' });
    case 'models':
      return show({ ...openList('models'), rows: null, notes: [] }, { do: 'load-models' });
    case 'run':
      return show({ kind: 'run', run: null, at: 0 }, { do: 'load-run', run_id: runId });
  }
}

/** Closes what lies on top; a question is then answered by what it does without a choice. */
export function closeTop(state: State, now: number): Change {
  const top = state.overlays.at(-1);
  const effects = top?.kind === 'question' ? (top.otherwise ?? []) : top?.kind === 'trust' ? refusedTrust(top) : [];
  return only({ ...state, overlays: state.overlays.slice(0, -1), closedAt: now }, ...effects);
}

/** A key of a question: exactly the written one, and never Enter. */
export function answerQuestion(state: State, text: string, now: number): Change | null {
  const top = state.overlays.at(-1);
  if (top?.kind !== 'question') return null;
  const choice = top.choices.find(({ key }) => key === text);
  if (choice === undefined) return null;
  return only({ ...state, overlays: state.overlays.slice(0, -1), closedAt: now }, ...choice.effects);
}
