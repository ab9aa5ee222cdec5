import { emptyEditing, typeText } from '../composer/editing.ts';
import type { Effect } from '../effect.ts';
import { saying } from '../sending.ts';
import { type Change, only, type State } from '../state.ts';
import {
  editField,
  filterField,
  hasOnlyField,
  isList,
  isText,
  type ListOverlay,
  openList,
  type Overlay,
  type TextOverlay,
} from './overlay.ts';
import type { Field } from './field.ts';
import { ruleView, whyText } from './why-view.ts';
import { definitionCommand } from './definition-view.ts';
import { placeOf } from './place.ts';
import { question, writes } from './question.ts';
import { findText, textCommand } from './text-overlay.ts';
import { refusedTrust, trustCommand } from './trust-view.ts';
import { grantRows, runRows, modelRows, paletteRows, planRows, sessionRows } from './rows.ts';

/** A command of the palette is run by whoever runs commands of keys. */
export type Run = (state: State, id: string) => Change;

/** A command while an overlay has the keys. */
export function overlayCommand(state: State, id: string, now: number, run: Run): Change {
  const top = state.overlays.at(-1);
  if (top === undefined) return only(state);
  const field = isList(top) ? top.field : null;
  if (top.kind === 'trust' && id !== 'overlay.close') return trustCommand(state, top, id, now);
  if (top.kind === 'definition' && id !== 'overlay.close') return definitionCommand(state, top, id, now);
  if (id === 'overlay.close' || id === 'question.no') return closeTop(state, now);
  if (isList(top) && field !== null && id.startsWith('field.')) return fieldCommand(state, top, field, id, now, run);
  if (id === 'overlay.accept' && isList(top)) return accept(state, top, run);
  if (id === 'overlay.filter' && isList(top)) return only(changed(state, { ...top, field: filterField, query: '' }));
  if (isText(top)) return ofText(state, top, id, now);
  if (top.kind === 'why' && id === 'why.copy') return only(state, { do: 'copy', text: whyText(top) });
  if (top.kind === 'why' && id === 'overlay.accept') {
    const rule = ruleView(top);
    return only(rule === null ? state : { ...state, overlays: [...state.overlays, rule] });
  }
  return own(state, top, id);
}

/** A key while a text is read. */
function ofText(state: State, top: TextOverlay, id: string, now: number): Change {
  if (id === 'view.copy') return only(state, { do: 'copy', text: top.lines.join('\n') });
  const { columns, room } = placeOf(state, top);
  const next = textCommand(top, id, { columns, glyphs: state.glyphs }, room);
  const other = nextPart(state, top, id);
  if (other !== null) return other;
  if (next === null) return own(state, top, id);
  const closed = id === 'field.close' ? { ...state, closedAt: now } : state;
  return only(changed(closed, atMost(state, next)));
}

/** At an edge of a part: the one behind or before it. */
function nextPart(state: State, top: TextOverlay, id: string): Change | null {
  if (top.kind !== 'view' || top.part === undefined || top.find?.typing === true) return null;
  const { index, count, item } = top.part;
  const { top: at, last } = placeOf(state, top);
  const on = at >= last && index < count - 1 && ['overlay.down', 'overlay.page-down', 'view.page'].includes(id);
  const back = at === 0 && index > 0 && ['overlay.up', 'overlay.page-up'].includes(id);
  if (!on && !back) return null;
  return only(state, { do: 'view-result', item, part: on ? index + 1 : index - 1, end: back });
}

/** What is typed goes into the field of the overlay. */
export function overlayText(state: State, text: string): Change {
  const top = state.overlays.at(-1);
  if (top !== undefined && isText(top) && top.find?.typing === true)
    return only(
      changed(
        state,
        atMost(state, findText(top, top.find, text, { columns: placeOf(state, top).columns, glyphs: state.glyphs })),
      ),
    );
  if (top === undefined || !isList(top) || top.field === null) return only(state);
  return filteredBy(state, withField(top, { ...top.field, editing: typeText(top.field.editing, text) }));
}

/** A filter of sessions is also looked for in what was said in them. */
function filteredBy(state: State, top: ListOverlay): Change {
  const next = changed(state, top);
  return top.kind === 'sessions' && top.field?.purpose === 'filter'
    ? only(next, { do: 'find-sessions', query: top.query.trim() })
    : only(next);
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
      return hasOnlyField(top)
        ? closeTop(state, now)
        : only({ ...changed(state, { ...top, field: null }), closedAt: now });
    case 'field.up':
    case 'field.down':
      return only(changed(state, moved(state, top, id === 'field.up' ? -1 : 1)));
    case 'field.accept':
      return field.purpose === 'filter' ? accept(state, top, run) : take(state, top, field);
    default: {
      const edited = editField(field, id);
      const edge = field.purpose === 'filter' ? edges[id] : undefined;
      // A caret that is there already has no use for the key: it is one of the list.
      if (edge !== undefined && edited.editing.caret === field.editing.caret) return own(state, top, edge);
      return filteredBy(state, withField(top, edited));
    }
  }
}

const edges: Readonly<Record<string, string>> = {
  'field.line-start': 'overlay.top',
  'field.line-end': 'overlay.bottom',
};

const sizeOf = (state: State, overlay: Overlay): number => {
  switch (overlay.kind) {
    case 'sessions':
      return sessionRows(overlay).length;
    case 'models':
      return modelRows(overlay).length;
    case 'plans':
      return planRows(overlay).length;
    case 'palette':
      return paletteRows(overlay, state).length;
    case 'grants':
      return grantRows(overlay).length;
    case 'runs':
      return runRows(overlay).length;
    case 'why':
      return overlay.explanation.tried.length;
    default:
      return placeOf(state, overlay).last + 1;
  }
};

/** In a list another row is chosen; a text has another row at its top. */
const moved = <O extends Overlay>(state: State, overlay: O, delta: number): O =>
  atMost(state, { ...overlay, at: Math.max(0, overlay.at + delta) });

/** Nobody stands behind the end: the way back would begin with keys that do nothing. */
export const atMost = <O extends Overlay>(state: State, overlay: O): O => ({
  ...overlay,
  at: Math.max(0, Math.min(overlay.at, sizeOf(state, overlay) - 1)),
});

/** Rows that a key moves by, where it moves. */
function stepOf(state: State, top: Overlay, id: string): number | undefined {
  const far = 1_000_000;
  const fixed = { 'overlay.up': -1, 'overlay.down': 1, 'overlay.top': -far, 'overlay.bottom': far }[id];
  if (fixed !== undefined) return fixed;
  const page = id === 'overlay.page-up' ? -1 : id === 'overlay.page-down' ? 1 : null;
  return page === null ? undefined : page * Math.max(1, placeOf(state, top).room - 1);
}

/** Enter on a chosen row. */
function accept(state: State, top: ListOverlay, run: Run): Change {
  switch (top.kind) {
    case 'sessions': {
      const row = sessionRows(top)[top.at];
      return row === undefined ? only(state) : closed(state, { do: 'switch-session', of: row });
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
      const row = paletteRows(top, state)[top.at];
      return row === undefined ? only(state) : run({ ...state, overlays: state.overlays.slice(0, -1) }, row.id);
    }
    case 'runs': {
      const row = runRows(top)[top.at];
      return row === undefined ? only(state) : opened(state, 'run', row.id);
    }
    case 'help':
      return only(state);
    case 'grants':
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
      return only(done, { do: 'new-session', name: text === '' ? null : text, field });
    case 'rename':
      return row === undefined || text === ''
        ? only(done)
        : only(done, { do: 'rename-session', of: row, to: text, field });
    case 'fork':
      return row === undefined
        ? only(done)
        : only(done, { do: 'fork-session', of: row, to: text === '' ? null : text, at: null, field });
    case 'delete':
      // The whole name is typed where there is something to lose.
      return row === undefined || text !== row.name
        ? only(saying(done, 'the name does not match; nothing was deleted', state.now))
        : only(done, { do: 'delete-session', of: row, force: false });
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
  const step = stepOf(state, top, id);
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
    if (id === 'sessions.export' && row !== undefined)
      return only(state, {
        do: 'slash',
        intent: { do: 'export', format: 'md', path: null, force: false, of: { id: row.id, name: row.name } },
      });
    if (id === 'sessions.delete' && row !== undefined)
      return only(state, { do: 'delete-session', of: row, force: false });
  }
  if (top.kind === 'models') {
    const row = modelRows(top)[top.at];
    if (row !== undefined && id === 'models.default')
      return row.state === 'unreachable'
        ? only(state)
        : asking(
            state,
            'Model',
            [
              `${row.model} answers here from the next turn on, and wherever no model is named.`,
              writes(state.facts, 'default-model', row.model),
            ],
            {
              words: 'make it default-model',
              effects: [{ do: 'set-model', name: row.model, backend: row.backend, save: true }],
            },
          );
    if (row !== undefined && id === 'models.test') return only(state, { do: 'test-backend', name: row.backend });
  }
  if (top.kind === 'grants') {
    const row = grantRows(top)[top.at];
    if (row !== undefined && id === 'grants.forget') return only(state, { do: 'forget', id: row.id });
  }
  if (top.kind === 'runs') {
    const row = runRows(top)[top.at];
    if (row !== undefined && id === 'runs.cancel')
      return cancelling(state, row.id, { do: 'cancel-run', run_id: row.id });
    if (row !== undefined && id === 'runs.resume') return closed(state, { do: 'resume-run', run_id: row.id });
  }
  if (top.kind === 'run' && top.run !== null) {
    if (id === 'overlay.accept') return only(state, { do: 'load-run-data', run_id: top.run.id });
    if (id === 'run.export')
      return only(state, { do: 'slash', intent: { do: 'export-run', run_id: top.run.id, force: false } });
    if (id === 'run.cancel') return cancelling(state, top.run.id, { do: 'cancel-run', run_id: top.run.id });
    if (id === 'run.resume') return closed(state, { do: 'resume-run', run_id: top.run.id });
  }
  return only(state);
}

const asking = (state: State, ...asked: Parameters<typeof question>): Change =>
  only({ ...state, overlays: [...state.overlays, question(...asked)] });

const cancelling = (state: State, runId: string, ...effects: readonly Effect[]): Change =>
  asking(state, `Run ${runId.slice(-6)}`, ['It ends where it is, and what it asks is withdrawn.'], {
    words: 'cancel the run',
    effects,
  });

/** The overlay that opens, with what loads its content. */
export function opened(
  state: State,
  kind: 'help' | 'palette' | 'sessions' | 'models' | 'grants' | 'runs' | 'run',
  runId: string | null = null,
): Change {
  const show = (overlay: Overlay, ...effects: readonly Effect[]): Change =>
    only({ ...state, overlays: [...state.overlays.filter((each) => each.kind !== kind), overlay] }, ...effects);
  switch (kind) {
    case 'help':
      return show(openList('help'));
    case 'palette':
      return show({ ...openList('palette'), field: { ...filterField, label: '>' } });
    case 'sessions':
      return show({ ...openList('sessions'), rows: null }, { do: 'load-sessions' });
    case 'models':
      return show({ ...openList('models'), rows: null, notes: [], backends: '' }, { do: 'load-models' });
    case 'grants':
      return show({ ...openList('grants'), field: null, rows: null }, { do: 'load-grants' });
    case 'runs':
      return show({ ...openList('runs'), field: null, rows: null }, { do: 'load-runs' });
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
