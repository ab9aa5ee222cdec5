import { grantWords } from '../../src/view/grant-words.ts';
import type { BackendCheck, ModelRow } from '../../src/schema/registry.ts';
import type { Passage } from '../../src/schema/session.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { RunSummary } from '../../src/schema/run-record.ts';
import { formatAge, formatBytes, plural } from '../../src/view/format.ts';
import { foreign, type Line, say, type Token } from '../../src/view/line.ts';
import { runTitle } from '../../src/view/run-title.ts';
import { stuckText } from '../../src/view/stuck-text.ts';
import { columnsOf, cutLine, cutMiddle, fitLine, lineColumns, spread } from '../../src/view/wrap.ts';
import type { State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import type { Overlay } from './overlay.ts';
import { fieldLines, footKeys, listed, listFoot, noneOf, type OverlayView } from './overlay-view.ts';
import { grantRows, modelRows, paletteRows, planRows, runRows, sessionRows } from './rows.ts';

type Of<K extends Overlay['kind']> = Extract<Overlay, { kind: K }>;

/** From here on lists have room for a second description. */
const wideColumns = 100;
const count = (shown: number, all: number): Line => [say(`${shown} of ${all}`, 'dim')];

export function paletteView(overlay: Of<'palette'>, state: State, columns: number): OverlayView {
  const rows = paletteRows(overlay, state);
  const all = overlay.query === '' ? rows.length : paletteRows({ ...overlay, query: '' }, state).length;
  const wide = columns >= wideColumns;
  const body = rows.map((row) => {
    const words = wide ? [...fitLine([say(row.words)], 30), say(` ${row.detail}`, 'dim')] : [say(row.words)];
    // Keys and commands stand in columns where these leave room for what they do.
    const right = columns < 70 ? `${row.keys} ${row.slash}`.trim() : `${row.keys.padEnd(13)} ${row.slash.padEnd(11)}`;
    return spread(words, [say(right, 'dim')], columns - 2);
  });
  return {
    ...listed(body, overlay.at, noneOf([''], overlay.query, ''), state.glyphs),
    title: 'Commands',
    right: count(rows.length, all),
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    foot: listFoot(overlay, state.keys, 'run', []),
  };
}

export function plansView(overlay: Of<'plans'>, state: State, columns: number): OverlayView {
  const rows = planRows(overlay);
  const body = rows.map((row) =>
    spread(
      [say(row.active ? '* ' : '  ', 'accent'), ...foreign(row.name, state.glyphs)],
      [say(`[${row.done}/${row.total}]  ${row.status.padEnd(9)}`, 'dim')],
      columns - 2,
    ),
  );
  return {
    ...listed(body, overlay.at, noneOf(overlay.rows, overlay.query, 'There is no plan yet.'), state.glyphs),
    title: 'Plans',
    right: count(rows.length, overlay.rows?.length ?? 0),
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    foot: listFoot(overlay, state.keys, 'switch', []),
  };
}

const mostBefore = 24;

/** A passage with what was looked for marked in it; the first place stands where a line shows it. */
function passageLine({ snippet, matches }: Passage, glyphs: Glyphs): Line {
  const flat = snippet.replaceAll(/\s/g, ' ');
  const first = matches[0]?.start ?? 0;
  const blank = flat.indexOf(' ', first - mostBefore);
  let from = first <= mostBefore ? 0 : blank < 0 || blank >= first ? first : blank + 1;
  const line = [say(from === 0 ? '"' : '"…')];
  for (const { start, end } of matches) {
    line.push(...foreign(flat.slice(from, start), glyphs), ...foreign(flat.slice(start, end), glyphs, 'hit'));
    from = end;
  }
  return [...line, ...foreign(`${flat.slice(from)}"`, glyphs)];
}

/** What a row says beside the name of its session. */
const besideName = 42;

export function sessionsView(overlay: Of<'sessions'>, state: State, columns: number): OverlayView {
  const rows = sessionRows(overlay);
  const nameOf = (id: string): string => overlay.rows?.find((row) => row.id === id)?.name ?? 'a deleted one';
  const names = rows.map((row) => foreign(row.name, state.glyphs));
  const width = Math.min(
    Math.max(30, columns - besideName),
    names.reduce((widest, name) => Math.max(widest, lineColumns(name)), 8),
  );
  const body = rows.map((row, index): Line => {
    const asks = state.asks.filter(({ session_id }) => session_id === row.id).length;
    const notes = [
      asks === 0 ? '' : `? ${plural(asks, 'ask')}`,
      row.suspended_run_id !== null && asks === 0 ? '1 run suspended' : '',
      row.active_run_id !== null ? 'a run is alive' : '',
      row.forked_from === null ? '' : `fork of ${nameOf(row.forked_from)}`,
    ].filter((text) => text !== '');
    const age = formatAge(state.now - Date.parse(row.last_message_at ?? row.created_at));
    return cutLine(
      [
        say(row.id === state.session?.id ? '* ' : '  ', 'accent'),
        ...fitLine(cutMiddle(names[index] ?? [], width), width),
        say(`  ${plural(row.message_count, 'message').padStart(13)}   ${age.padEnd(9)} `, 'dim'),
        ...foreign(notes.join(', '), state.glyphs, 'warn'),
      ],
      columns - 2,
    );
  });
  const chosen = rows[overlay.at];
  const open = overlay.rows?.some(({ id }) => id === state.session?.id) !== false || state.session === null;
  const gone: readonly Line[] = open
    ? []
    : [
        cutLine(
          [
            say('! ', 'danger'),
            ...foreign(`${state.session?.name ?? ''} was deleted: /new starts another one`, state.glyphs, 'warn'),
          ],
          columns,
        ),
      ];
  const last: readonly Line[] =
    chosen?.said !== undefined
      ? [cutLine([say('said: ', 'dim'), ...passageLine(chosen.said, state.glyphs)], columns)]
      : chosen === undefined || chosen.preview === ''
        ? []
        : [
            cutLine(
              [say('last: ', 'dim'), ...foreign(`"${chosen.preview.replaceAll(/\s+/g, ' ').trim()}"`, state.glyphs)],
              columns,
            ),
          ];
  return {
    ...listed(
      body,
      overlay.at,
      noneOf(overlay.rows, overlay.query, 'There is no session yet: N makes one.'),
      state.glyphs,
    ),
    title: 'Sessions',
    right: count(rows.length, overlay.rows?.length ?? 0),
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    below: [...gone, ...last],
    foot: listFoot(overlay, state.keys, 'switch', [
      ['sessions.new', 'new'],
      ['sessions.rename', 'rename'],
      ['sessions.fork', 'fork'],
      ['sessions.delete', 'delete'],
      ['sessions.export', 'export'],
    ]),
  };
}

export function modelsView(overlay: Of<'models'>, state: State, columns: number): OverlayView {
  const { facts } = state;
  const rows = modelRows(overlay);
  const width = Math.min(40, Math.max(8, ...rows.map((row) => columnsOf(row.model))));
  // Before the first turn only the kind of the backend is known.
  const isNamed = (row: ModelRow): boolean => row.model === facts.model && row.backend === facts.backend;
  const body = rows.map((row): Line => {
    const usable = row.state === 'served';
    const used = row.model === facts.model && (row.backend === facts.backend || !rows.some(isNamed));
    const can = (name: string): string => `${row.capabilities[name] === true ? '' : 'no '}${name}`;
    const known = [
      row.context === null ? '' : `${shortCount(row.context)} ctx`,
      row.capabilities['tools'] === false ? 'no tools: chat only' : 'tools',
      ...(columns < wideColumns
        ? []
        : [can('vision').replace('vision', 'images'), can('think').replace('think', 'reasoning')]),
      row.size_bytes === null ? '' : formatBytes(row.size_bytes),
      row.is_default ? 'default' : '',
    ].filter((text) => text !== '');
    const words = row.state === 'unreachable' ? 'not answering' : 'not available';
    const standing = usable ? known.join('   ') : `${words}: ${row.reason ?? 'the backend does not serve it'}`;
    return cutLine(
      [
        say(used ? '* ' : '  ', 'accent'),
        ...fitLine(cutMiddle(foreign(row.model, state.glyphs, usable ? undefined : 'dim'), width), width),
        say('  '),
        ...fitLine(foreign(row.backend, state.glyphs, 'dim'), 12),
        say('  '),
        ...foreign(standing, state.glyphs, 'dim'),
      ],
      columns - 2,
    );
  });
  const none = noneOf(overlay.rows, overlay.query, overlay.notes[0] ?? 'No backend serves a model.');
  return {
    ...listed(body, overlay.at, none, state.glyphs),
    title: 'Model',
    right: foreign(overlay.backends === '' ? (overlay.notes[0] ?? '') : overlay.backends, state.glyphs, 'dim'),
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    foot: listFoot(overlay, state.keys, 'this session', [
      ['models.default', 'make default'],
      ['models.test', 'test'],
    ]),
  };
}

/** `backend local ok 12 ms · openai no key`. */
export const backendsText = (checks: readonly BackendCheck[]): string =>
  checks.length === 0 ? '' : `backend ${checks.map((each) => `${each.name} ${standingOf(each)}`).join(' · ')}`;

function standingOf({ reachable, latencyMs, errorClass, error }: BackendCheck): string {
  if (reachable) return latencyMs === null ? 'ok' : `ok ${latencyMs} ms`;
  if (errorClass === 'auth' || errorClass === 'permission')
    return error?.endsWith('which is not set') === true ? 'no key' : 'key refused';
  return 'not answering';
}

const runTokens: Readonly<Record<string, Token>> = {
  running: 'accent',
  waiting: 'ask',
  suspended: 'warn',
  interrupted: 'warn',
  failed: 'danger',
};

export function runsView(overlay: Of<'runs'>, state: State, columns: number): OverlayView {
  const rows = runRows(overlay);
  const body = rows.map((row) =>
    cutLine(
      [
        say(`${row.id.slice(-6)}  `, 'dim'),
        say(row.status.padEnd(12), runTokens[row.status] ?? 'text'),
        say(`${formatAge(state.now - Date.parse(row.created_at)).padEnd(9)} `, 'dim'),
        ...fitLine(foreign(row.session ?? row.kind, state.glyphs), 16),
        say('  '),
        ...stuckLine(row, state),
        ...foreign(runTitle(row), state.glyphs, 'dim'),
      ],
      columns - 2,
    ),
  );
  return {
    ...listed(body, overlay.at, noneOf(overlay.rows, overlay.query, 'No run is recorded yet.'), state.glyphs),
    title: 'Runs',
    right: count(rows.length, overlay.rows?.length ?? 0),
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    foot: listFoot(overlay, state.keys, 'details', [
      ['runs.resume', 'resume'],
      ['runs.cancel', 'cancel'],
    ]),
  };
}

/** Why it could not go on stands before what it was asked. */
function stuckLine(row: RunSummary, state: State): Line {
  const stuck = stuckText(row);
  return stuck === null ? [] : foreign(`${stuck} · `, state.glyphs, 'warn');
}

export function grantsView(overlay: Of<'grants'>, state: State, columns: number): OverlayView {
  const now = state.facts.policy?.sha256 ?? null;
  const body = grantRows(overlay).map((row) => {
    const holds = now === null || row.policy_sha256 === now;
    const age = formatAge(state.now - Date.parse(row.created_at));
    return spread(
      foreign(grantWords(row), state.glyphs),
      [say(`${age}${holds ? '' : '  under another policy'}`, 'dim')],
      columns - 2,
    );
  });
  const none = state.session === null ? 'There is no session yet.' : 'Nothing is remembered in this session.';
  return {
    ...listed(body, overlay.at, noneOf(overlay.rows, overlay.query, none), state.glyphs),
    title: 'Allowed for this session',
    head: fieldLines(overlay.field, overlay.query, state.glyphs),
    foot:
      overlay.field === null && body.length === 0
        ? footKeys(state.keys, [['overlay.close', 'close']])
        : footKeys(state.keys, [
            ['grants.forget', 'forget'],
            ...(overlay.field === null
              ? ([
                  ['overlay.filter', 'filter'],
                  ['overlay.close', 'close'],
                ] as const)
              : ([
                  ['field.accept', 'keep'],
                  ['field.close', 'back'],
                ] as const)),
          ]),
  };
}
