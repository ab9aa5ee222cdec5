import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say, type Token } from '../../src/view/line.ts';
import { formatAge, formatClock, plural } from '../../src/view/format.ts';
import { runLines } from '../../src/view/run-lines.ts';
import { cutLine, fitLine, spread, wrapLine } from '../../src/view/wrap.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { fieldLine } from '../field-line.ts';
import { helpSections } from '../keys/help.ts';
import { contextsBelow } from './below.ts';
import { definitionBody, definitionHead } from './definition-view.ts';
import { trustBody, trustHead, trustTitle } from './trust-view.ts';
import type { State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import type { Field, Overlay, TextOverlay } from './overlay.ts';
import { grantRows, runRows, modelRows, paletteRows, planRows, sessionRows } from './rows.ts';
import { findPlace, textLines } from './text-overlay.ts';

/** What an overlay has to show: a title with something at its right, what stays at the top, what scrolls, and its keys. */
export type OverlayView = {
  readonly title: string;
  readonly right: Line;
  readonly head: readonly Line[];
  readonly body: readonly Line[];
  /** The chosen row of `body`, or the first one in view where nothing is chosen. */
  readonly at: number;
  readonly chosen: boolean;
  readonly foot: string;
};

/** @param columns inside of the borders */
export function viewOf(overlay: Overlay, state: State, columns: number): OverlayView {
  const { glyphs } = state;
  const plain = { right: [], head: [], chosen: false };
  switch (overlay.kind) {
    case 'help':
      return {
        ...plain,
        title: 'Keys',
        head: fieldLines(overlay.field, overlay.query, glyphs),
        body: helpLines(state, overlay.query),
        at: overlay.at,
        foot: 'PgDn more  Esc close',
      };
    case 'palette': {
      const rows = paletteRows(overlay, state.keys);
      const body = rows.map((row) =>
        spread([say(row.words)], [say(`${row.keys}  ${row.slash}`.trim(), 'dim')], columns - 2),
      );
      return {
        ...plain,
        ...list(body, overlay.at),
        title: 'Commands',
        head: fieldLines(overlay.field, overlay.query, glyphs),
        foot: '↑↓ choose  Enter run  Esc close',
      };
    }
    case 'sessions':
      return sessionsView(overlay, state, columns);
    case 'plans': {
      const rows = planRows(overlay);
      const body = rows.map((row) =>
        spread(
          [say(row.active ? '* ' : '  ', 'accent'), ...foreign(row.name, glyphs)],
          [say(`[${row.done}/${row.total}]  ${row.status.padEnd(9)}`, 'dim')],
          columns - 2,
        ),
      );
      return {
        ...plain,
        ...list(overlay.rows === null ? [[say('loading…', 'dim')]] : body, overlay.at),
        title: 'Plans',
        right: [say(`${rows.length} of ${overlay.rows?.length ?? 0}`, 'dim')],
        head: fieldLines(overlay.field, overlay.query, glyphs),
        foot: 'Enter switch  Esc close',
      };
    }
    case 'models':
      return modelsView(overlay, columns, glyphs);
    case 'run': {
      if (overlay.run === null)
        return { ...plain, title: 'Run', body: [[say('loading…', 'dim')]], at: 0, foot: 'Esc close' };
      const shown = { id: shortId, when: formatClock };
      return {
        ...plain,
        title: `Run ${shortId(overlay.run.id)}`,
        right: foreign(overlay.run.status, glyphs),
        body: runLines(overlay.run, shown).flatMap((line) =>
          wrapLine(foreign(line, glyphs), columns, [], [say('      ')]),
        ),
        at: overlay.at,
        foot: 'Enter inputs and outputs  c cancel run  R resume  e export  Esc close',
      };
    }
    case 'explain':
    case 'view':
      return {
        ...plain,
        title: overlay.title,
        right: findPlace(overlay),
        head: findLines(overlay, glyphs),
        body: textLines(overlay, { columns, glyphs }),
        at: overlay.at,
        foot:
          overlay.find?.typing === true
            ? '↑↓ hits  Enter keep  Esc no search'
            : overlay.find === undefined
              ? '↑↓ Space page  / find  ] next flag  w wrap  c copy  Esc close'
              : 'n next  N previous  / find  c copy  Esc close',
      };
    case 'runs': {
      const rows = runRows(overlay);
      const body = rows.map((row) =>
        cutLine(
          [
            say(`${row.id.slice(-6)}  `, 'dim'),
            say(row.status.padEnd(12), runTokens[row.status] ?? 'text'),
            say(`${formatAge(state.now - Date.parse(row.created_at)).padEnd(9)} `, 'dim'),
            ...fitLine(foreign(row.session ?? row.kind, glyphs), 16),
            say('  '),
            ...foreign(row.input, glyphs, 'dim'),
          ],
          columns - 2,
        ),
      );
      const none: readonly Line[] = [[say(overlay.rows === null ? 'loading…' : 'No run is recorded yet.', 'dim')]];
      return {
        ...plain,
        ...list(body, overlay.at),
        ...(rows.length === 0 ? { body: none, chosen: false } : {}),
        title: 'Runs',
        right: [say(`${rows.length} of ${overlay.rows?.length ?? 0}`, 'dim')],
        head: overlay.field === null ? [] : fieldLines(overlay.field, overlay.query, glyphs),
        foot: 'Enter details  R resume  c cancel  / filter  Esc close',
      };
    }
    case 'grants': {
      const now = state.facts.policy?.sha256 ?? null;
      const holds = (row: { readonly policy_sha256: string }) => now === null || row.policy_sha256 === now;
      const rows = grantRows(overlay);
      const body = rows.map((row) =>
        spread(
          foreign(row.what, glyphs),
          [
            say(
              `${formatAge(state.now - Date.parse(row.created_at))}${holds(row) ? '' : '  under another policy'}`,
              'dim',
            ),
          ],
          columns - 2,
        ),
      );
      const none = state.session === null ? 'There is no session yet.' : 'Nothing is remembered in this session.';
      return {
        ...plain,
        ...list(overlay.rows === null ? [[say('loading…', 'dim')]] : body, overlay.at),
        ...(rows.length === 0 && overlay.rows !== null ? { body: [[say(none)]], chosen: false } : {}),
        title: 'Allowed for this session',
        head: overlay.field === null ? [] : fieldLines(overlay.field, overlay.query, glyphs),
        foot: 'Del forget  / filter  Esc close',
      };
    }
    case 'trust':
      return {
        ...plain,
        title: trustTitle(overlay),
        right: overlay.waiting.length === 0 ? [] : [say(`${overlay.waiting.length} more`, 'dim')],
        head: trustHead(overlay, columns, glyphs),
        body: trustBody(overlay.content, columns, glyphs),
        at: overlay.at,
        foot: 'y trust   o use once   n refuse   PgDn more   Esc refuse',
      };
    case 'definition':
      return {
        ...plain,
        title: overlay.held.change === 'program' ? 'Accept this program?' : 'Accept this tool definition?',
        right: overlay.waiting.length === 0 ? [] : [say(`${overlay.waiting.length} more`, 'dim')],
        head: definitionHead(overlay, columns, glyphs),
        body: definitionBody(overlay.held, columns, glyphs),
        at: overlay.at,
        foot: 'y accept   n keep it out   PgDn more   Esc later',
      };
    case 'question':
      return {
        ...plain,
        title: overlay.title,
        body: overlay.lines.flatMap((line) => wrapLine(foreign(line, glyphs), columns)),
        at: 0,
        foot: [...overlay.choices.map(({ key, words }) => `${key} ${words}`), 'Esc back'].join('   '),
      };
  }
}

const runTokens: Readonly<Record<string, Token>> = {
  running: 'accent',
  waiting: 'ask',
  suspended: 'warn',
  interrupted: 'warn',
  failed: 'danger',
};

/** As cards show it, where nothing is known of other ids: its kind and its end. */
const shortId = (id: string): string => id.replace(/^([a-z]+_).*(.{6})$/, '$1$2');

/** Rows with a mark before the chosen one. */
const list = (body: readonly Line[], at: number) => ({
  body: body.map((line, index): Line => [index === at ? say('> ', 'accent') : say('  '), ...line]),
  at,
  chosen: true,
});

const fieldLines = (field: Field | null, query: string, glyphs: Glyphs): readonly Line[] => [
  field === null
    ? [say('filter: ', 'dim'), ...foreign(query, glyphs)]
    : [say(`${field.label}: `, 'dim'), ...fieldLine(field.editing, glyphs)],
];

const findLines = ({ find }: TextOverlay, glyphs: Glyphs): readonly Line[] =>
  find?.typing === true ? fieldLines({ label: 'find', purpose: 'find', editing: find.editing }, '', glyphs) : [];

function helpLines(state: State, filter: string): readonly Line[] {
  return helpSections(state.keys, contextsBelow(state), filter).flatMap((section): readonly Line[] => [
    [say(section.title, undefined, ['bold'])],
    ...section.lines.map(
      (line): Line => [
        ...fitLine(foreign(line.keys, state.glyphs, 'accent'), 31),
        say(' '),
        say(line.help),
        ...(line.remapped ? [say('  (keys.json)', 'dim')] : []),
      ],
    ),
    [],
  ]);
}

function sessionsView(overlay: Extract<Overlay, { kind: 'sessions' }>, state: State, columns: number): OverlayView {
  const { glyphs } = state;
  const rows = sessionRows(overlay);
  const name = Math.min(30, Math.max(8, ...rows.slice(0, 50).map((row) => columnsOf(row.name))));
  const body = rows.map((row): Line => {
    const rests =
      row.suspended_run_id !== null ? '1 run suspended' : row.active_run_id !== null ? 'a run is alive' : '';
    const fork = row.forked_from === null ? '' : 'a fork';
    const age = formatAge(state.now - Date.parse(row.last_message_at ?? row.created_at));
    return cutLine(
      [
        say(row.name === state.session?.name ? '* ' : '  ', 'accent'),
        ...fitLine(foreign(row.name, glyphs), name),
        say(`  ${plural(row.message_count, 'message').padEnd(14)} ${age.padEnd(10)} `, 'dim'),
        say([rests, fork].filter((text) => text !== '').join(', '), 'warn'),
      ],
      columns - 2,
    );
  });
  const chosen = rows[overlay.at];
  const last: Line[] =
    chosen === undefined
      ? []
      : [
          [],
          cutLine([say('last: ', 'dim'), ...foreign(chosen.preview === '' ? '-' : chosen.preview, glyphs)], columns),
        ];
  return {
    ...list(overlay.rows === null ? [[say('loading…', 'dim')]] : body, overlay.at),
    title: 'Sessions',
    right: [say(`${rows.length} of ${overlay.rows?.length ?? 0}`, 'dim')],
    head: [...fieldLines(overlay.field, overlay.query, glyphs), ...last.slice(1)],
    foot: 'Enter switch  Esc, then N new  R rename  F fork  D delete  E export',
  };
}

function modelsView(overlay: Extract<Overlay, { kind: 'models' }>, columns: number, glyphs: Glyphs): OverlayView {
  const rows = modelRows(overlay);
  const width = Math.min(40, Math.max(8, ...rows.map((row) => columnsOf(row.model))));
  const body = rows.map((row): Line => {
    const usable = row.state === 'served';
    const tools = row.capabilities['tools'] === false ? 'no tools: chat only' : 'tools';
    const facts = usable
      ? `${row.context === null ? '' : `${shortCount(row.context)} ctx`}   ${tools}`
      : (row.reason ?? 'not available');
    return cutLine(
      [
        say(row.is_default ? '* ' : '  ', 'accent'),
        ...fitLine(foreign(row.model, glyphs, usable ? undefined : 'dim'), width),
        say('  '),
        ...fitLine(foreign(row.backend, glyphs, 'dim'), 12),
        say('  '),
        ...foreign(facts, glyphs, 'dim'),
      ],
      columns - 2,
    );
  });
  return {
    ...list(overlay.rows === null ? [[say('loading…', 'dim')]] : body, overlay.at),
    title: 'Model',
    right: foreign(overlay.notes[0] ?? '', glyphs, 'warn'),
    head: fieldLines(overlay.field, overlay.query, glyphs),
    foot: 'Enter this session  Esc, then D make default  T test',
  };
}
