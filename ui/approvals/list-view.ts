import type { Ask } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { formatClock, formatRemaining, formatShort, plural } from '../../src/view/format.ts';
import { foreign, type Line, say, type Span } from '../../src/view/line.ts';
import { columnsOf, cutLine, fitLine, wrapLine } from '../../src/view/wrap.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { layOut } from '../composer/visual-lines.ts';
import { type ApprovalsState, type ApprovalsView, focusedAsk, shownIdOf } from './approvals-state.ts';
import { drawnCard } from './drawn-card.ts';
import { entries, type Entry } from './on-list.ts';
import { newCard } from './card-state.ts';
import { cardData } from './card-text.ts';
import { foldedRows } from './card-view.ts';
import { resultLine, verdictOf } from './result-line.ts';

export type ListPlace = { readonly columns: number; readonly rows: number };

/** From here on the card stands beside the list (10 §2.6). */
const wideColumns = 110;
const listColumns = 58;

/** Columns of the card in the pane. */
export const cardColumns = (columns: number): number => (columns >= wideColumns ? columns - listColumns - 2 : columns);

/**
 * The approvals pane: open asks of every run and process, what was answered, and the chosen card. Exactly `rows` rows.
 * @param policy the policy in use, for an empty pane
 */
export function approvalsLines(
  state: ApprovalsState,
  view: ApprovalsView,
  place: ListPlace,
  policy: string,
): readonly Line[] {
  const { columns, rows } = place;
  if (state.denying !== null) return filled(denyingLines(state, state.denying.ids, place, view.place.glyphs), rows);
  if (state.history !== null && state.card === null)
    return filled(historyLines(state.history, state.historyTop, view, place), rows);
  if (state.asks.length === 0) return filled(emptyLines(state, policy, columns, view.place.glyphs), rows);
  if (columns >= wideColumns) {
    const list = filled(listLines(state, view, listColumns, rows), rows);
    const side = filled(cardSide(state, view, cardColumns(columns), rows), rows);
    return list.map((line, index) => [...fitLine(line, listColumns), say('│ ', 'border'), ...(side[index] ?? [])]);
  }
  if (state.card !== null) return filled(cardSide(state, view, columns, rows), rows);
  const above = Math.min(listLines(state, view, columns, rows).length, Math.max(5, Math.ceil(rows * 0.55)));
  const ask = chosen(state);
  const name = ask === null ? '' : ` ${shownIdOf(state)(ask.id)} `;
  const words = ask === null ? '' : ' Enter opens the card ─';
  const fill = Math.max(0, columns - 1 - columnsOf(name) - words.length);
  const rule = cutLine([say(`─${name}${'─'.repeat(fill)}${words}`, 'border')], columns);
  return filled(
    [...listLines(state, view, columns, above), rule, ...glance(state, view.place.glyphs, columns, rows - above - 1)],
    rows,
  );
}

/** The chosen ask in few rows, where there is no room for its card beside the list. It has no keys and no frame. */
function glance(state: ApprovalsState, glyphs: Glyphs, columns: number, rows: number): readonly Line[] {
  const ask = chosen(state);
  if (ask === null) return [];
  const data = cardData(ask, glyphs, shownIdOf(state));
  const text = foldedRows(data, columns - 2, rows).rows;
  const hidden = text.length - rows;
  const kept = hidden > 0 ? text.slice(0, rows - 1) : text;
  return [
    ...kept.map(({ line }) => cutLine([say('  '), ...line], columns)),
    ...(hidden > 0 ? [cutLine([say(`  … ${hidden + 1} more lines: Enter`, 'warn')], columns)] : []),
  ];
}

const filled = (lines: readonly Line[], rows: number): readonly Line[] =>
  Array.from({ length: rows }, (_, index) => lines[index] ?? []);

const chosen = (state: ApprovalsState): Ask | null => state.asks.find(({ id }) => id === state.selected) ?? null;

/** The card that has the keys, or a look at the chosen one. */
function cardSide(state: ApprovalsState, view: ApprovalsView, columns: number, rows: number): readonly Line[] {
  const place = { ...view.place, columns, rows };
  const drawn = focusedAsk(state) === null ? null : drawnCard(state, { ...view, place });
  if (drawn !== null) return drawn.view.lines;
  const ask = chosen(state);
  if (ask === null) return [];
  // A look takes no keys and counts for nothing: what it shows was not read by somebody about to answer.
  const look = drawnCard({ ...state, card: newCard(ask, view.now, view.guardMs) }, { ...view, place, look: true });
  return look === null ? [] : look.view.lines;
}

function listLines(state: ApprovalsState, view: ApprovalsView, columns: number, rows: number): readonly Line[] {
  const { glyphs } = view.place;
  const asks = entries(state);
  const head: Line = cutLine([say('    AGE    EXPIRES  FROM         TOOL · WHAT', 'dim')], columns);
  const shown = asks.reduce((count, { alike }) => count + alike.length, 0);
  const foot: Line = [
    say(
      `${shown === state.asks.length ? '' : `${shown} of `}${state.asks.length} open${state.marked.size === 0 ? '' : ` · ${state.marked.size} selected`}`,
      'dim',
    ),
  ];
  const said: readonly Line[] =
    state.said === null ? [] : wrapLine(foreign(`! ${state.said}`, glyphs, 'warn'), columns);
  const filter = state.filter.typing || state.filter.editing.text !== '' ? [filterLine(state, columns, glyphs)] : [];
  const tail = [foot, ...said, ...answeredLines(state, columns, glyphs)];
  const room = Math.max(2, rows - 1 - filter.length - Math.min(tail.length, 4));
  const at = Math.max(
    0,
    asks.findIndex(({ ask }) => ask.id === state.selected),
  );
  const most = Math.max(1, Math.floor(room / 2));
  const from = Math.max(0, Math.min(at - most + 1, asks.length - most));
  const each = asks.slice(from, from + most).flatMap((entry) => askLines(state, view, entry, columns));
  return [head, ...filter, ...each, ...tail].slice(0, rows);
}

function askLines(state: ApprovalsState, view: ApprovalsView, { ask, alike }: Entry, columns: number): readonly Line[] {
  const { glyphs } = view.place;
  const isChosen = ask.id === state.selected;
  const mark = `${isChosen ? '>' : ' '}${alike.every(({ id }) => state.marked.has(id)) ? 'x' : ' '} `;
  const ms = Math.max(0, view.now - Date.parse(ask.created_at));
  const age = (ms < 3_600_000 ? formatRemaining(ms) : formatShort(ms)).padStart(5);
  const left = ask.expires_at === null ? 'never' : formatRemaining(Date.parse(ask.expires_at) - view.now);
  const soon = ask.expires_at !== null && Date.parse(ask.expires_at) - view.now < 60_000;
  const origin = ask.plan_name === null ? (ask.session_name ?? ask.chain_id ?? 'a run') : `plan ${ask.plan_name}`;
  const from = cutLine(foreign(origin, glyphs, 'dim'), 12);
  const token = isChosen ? 'accent' : 'text';
  const more = alike.length === 1 ? '' : `${alike.length} alike · `;
  const first: Line = [
    say(mark, 'accent'),
    say(`${age}  `, 'dim'),
    say(`${left.padStart(8)}  `, soon ? 'danger' : 'dim'),
    ...fitLine(from, 12),
    say(' '),
    ...foreign(`${ask.tools}.${ask.tool}`, glyphs, token),
  ];
  const second: Line = [say('      '), say(more, 'warn'), ...foreign(whatOf(ask), glyphs, isChosen ? 'text' : 'dim')];
  return [cutLine(first, columns), cutLine(second, columns)];
}

function filterLine({ filter }: ApprovalsState, columns: number, glyphs: Glyphs): Line {
  const before: Line = [say(`${filter.by === 'tool' ? 'tool' : 'filter'}: `, 'dim')];
  const { lines } = layOut(filter.editing, Math.max(4, columns - 10), columnsOf, glyphs);
  const cells = lines[0]?.cells ?? [];
  const spans: Span[] = cells.map(({ shown, at }) =>
    filter.typing && at === filter.editing.caret ? { text: shown, caret: true } : { text: shown },
  );
  const end: Span[] =
    filter.typing && filter.editing.caret >= filter.editing.text.length ? [{ ...say(' '), caret: true }] : [];
  return cutLine([...before, ...spans, ...end], columns);
}

/** The newest that were answered. */
function answeredLines({ answered }: ApprovalsState, columns: number, glyphs: Glyphs): readonly Line[] {
  if (answered.length === 0) return [];
  return [[], [say('Answered (h shows all)', 'dim')], ...answered.map((ask) => answeredLine(ask, columns, glyphs))];
}

const answeredLine = (ask: Ask, columns: number, glyphs: Glyphs): Line =>
  cutLine(
    [
      say(`    ${formatClock(resolvedAt(ask)).slice(0, 5)}  `, 'dim'),
      verdictSpan(ask),
      ...foreign(` ${byOf(ask)} ${ask.tools}.${ask.tool} ${whatOf(ask)}`, glyphs, 'dim'),
    ],
    columns,
  );

/** The last that were answered, with how long they waited, from a row on (10 §7.7). */
function historyLines(
  asks: readonly Ask[],
  top: number,
  { now, place: { glyphs } }: ApprovalsView,
  { columns, rows }: ListPlace,
): readonly Line[] {
  if (asks.length === 0) return [[say('Nothing was answered yet. h closes this list.', 'dim')]];
  const room = Math.max(1, rows - 1);
  const where = asks.length > room ? `, ${top + 1}-${Math.min(asks.length, top + room)} shown` : '';
  const title = cutLine([say(`Answered: the last ${asks.length}${where} (h closes)`, 'dim')], columns);
  const today = new Date(now).toDateString();
  const line = (ask: Ask): Line => {
    const at = new Date(resolvedAt(ask));
    const day = at.toDateString() === today ? '' : `${at.getMonth() + 1}-${String(at.getDate()).padStart(2, '0')}`;
    const waited = formatShort(at.getTime() - Date.parse(ask.created_at));
    return cutLine(
      [
        say(`${day.padStart(7)} ${formatClock(resolvedAt(ask)).slice(0, 5)}  `, 'dim'),
        verdictSpan(ask),
        ...foreign(` ${byOf(ask)} waited ${waited.padEnd(4)} ${ask.tools}.${ask.tool} ${whatOf(ask)}`, glyphs, 'dim'),
      ],
      columns,
    );
  };
  return [title, ...asks.slice(top, top + room).map(line)];
}

const resolvedAt = (ask: Ask): string => ask.resolved_at ?? ask.updated_at;
const byOf = ({ verdict }: Ask): string => (verdict?.edited?.by ?? verdict?.by ?? 'system').padEnd(16);
const verdictSpan = (ask: Ask): Span =>
  say(verdictOf(ask).padEnd(9), ask.state === 'approved' || ask.state === 'answered' ? 'ok' : 'danger');

function denyingLines(
  state: ApprovalsState,
  ids: readonly string[],
  { columns, rows }: ListPlace,
  glyphs: Glyphs,
): readonly Line[] {
  const shownId = shownIdOf(state);
  const asks = state.asks.filter(({ id }) => ids.includes(id));
  const room = asks.length > rows - 2 ? rows - 3 : asks.length;
  return [
    [
      say(
        `Deny ${asks.length === 1 ? 'this ask' : `these ${plural(asks.length, 'ask')}`}?  y denies them   n or Esc goes back`,
        'warn',
      ),
    ],
    [],
    ...asks
      .slice(0, room)
      .map((ask) => cutLine(foreign(`  ${shownId(ask.id)}  ${ask.tools}.${ask.tool} ${whatOf(ask)}`, glyphs), columns)),
    ...(asks.length > room ? [[say(`  and ${asks.length - room} more`, 'warn')]] : []),
  ];
}

const isMine = ({ results }: ApprovalsState, { id }: Ask): boolean =>
  results.some(({ ask, mine }) => mine && ask.id === id);

function emptyLines(state: ApprovalsState, policy: string, columns: number, glyphs: Glyphs): readonly Line[] {
  return [
    [say('  Nothing waits for an answer.')],
    [],
    ...state.answered.map((ask) => resultLine(ask, isMine(state, ask), columns, glyphs)),
    cutLine([say('  '), ...foreign(policy, glyphs, 'dim'), say('   h shows what was answered', 'dim')], columns),
  ];
}
