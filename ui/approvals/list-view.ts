import type { Ask } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { formatClock, formatRemaining, formatShort, plural } from '../../src/view/format.ts';
import { foreign, type Line, say, type Span } from '../../src/view/line.ts';
import { columnsOf, cutLine, fitLine, wrapLine } from '../../src/view/wrap.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { layOut } from '../composer/visual-lines.ts';
import { type ApprovalsState, type ApprovalsView, focusedAsk, shownIdOf } from './approvals-state.ts';
import { drawnCard } from './drawn-card.ts';
import { listed } from './on-list.ts';
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
  if (state.denying !== null) return filled(denyingLines(state, state.denying.ids, columns, view.place.glyphs), rows);
  if (state.asks.length === 0 && state.history === null)
    return filled(emptyLines(state, policy, columns, view.place.glyphs), rows);
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
  const asks = grouped(state, listed(state));
  const head: Line = cutLine([say('    AGE    EXPIRES  FROM         TOOL · WHAT', 'dim')], columns);
  const foot: Line = [
    say(`${state.asks.length} open${state.marked.size === 0 ? '' : ` · ${state.marked.size} selected`}`, 'dim'),
  ];
  const said: readonly Line[] =
    state.said === null ? [] : wrapLine(foreign(`! ${state.said}`, glyphs, 'warn'), columns);
  const filter = state.filter.typing || state.filter.editing.text !== '' ? [filterLine(state, columns, glyphs)] : [];
  const tail = [foot, ...said, ...answeredLines(state, columns, glyphs)];
  const room = Math.max(2, rows - 1 - filter.length - Math.min(tail.length, 4));
  const each = asks.map(({ ask, alike }) => askLines(state, view, ask, alike, columns));
  const at = Math.max(
    0,
    asks.findIndex(({ ask }) => ask.id === state.selected),
  );
  const most = Math.max(1, Math.floor(room / 2));
  const from = Math.max(0, Math.min(at - most + 1, asks.length - most));
  return [head, ...filter, ...each.slice(from, from + most).flat(), ...tail].slice(0, rows);
}

type Listed = { readonly ask: Ask; readonly alike: number };

/** Asks of one tool under one rule stand in one entry, with how many they are. */
function grouped(state: ApprovalsState, asks: readonly Ask[]): readonly Listed[] {
  if (!state.grouped) return asks.map((ask) => ({ ask, alike: 1 }));
  const key = (ask: Ask) => `${ask.tools}.${ask.tool} ${ask.record.matched_rule}`;
  const first = asks.filter((ask, index) => asks.findIndex((one) => key(one) === key(ask)) === index);
  return first.map((ask) => ({ ask, alike: asks.filter((one) => key(one) === key(ask)).length }));
}

function askLines(
  state: ApprovalsState,
  view: ApprovalsView,
  ask: Ask,
  alike: number,
  columns: number,
): readonly Line[] {
  const { glyphs } = view.place;
  const isChosen = ask.id === state.selected;
  const mark = `${isChosen ? '>' : ' '}${state.marked.has(ask.id) ? 'x' : ' '} `;
  const ms = Math.max(0, view.now - Date.parse(ask.created_at));
  const age = (ms < 3_600_000 ? formatRemaining(ms) : formatShort(ms)).padStart(5);
  const left = ask.expires_at === null ? 'never' : formatRemaining(Date.parse(ask.expires_at) - view.now);
  const soon = ask.expires_at !== null && Date.parse(ask.expires_at) - view.now < 60_000;
  const origin = ask.plan_name === null ? (ask.session_name ?? ask.chain_id ?? 'a run') : `plan ${ask.plan_name}`;
  const from = cutLine(foreign(origin, glyphs, 'dim'), 12);
  const token = isChosen ? 'accent' : 'text';
  const more = alike === 1 ? '' : `  ${alike} alike`;
  const first: Line = [
    say(mark, 'accent'),
    say(`${age}  `, 'dim'),
    say(`${left.padStart(8)}  `, soon ? 'danger' : 'dim'),
    ...fitLine(from, 12),
    say(' '),
    ...foreign(`${ask.tools}.${ask.tool}`, glyphs, token),
    say(more, 'warn'),
  ];
  const second: Line = [say('      '), ...foreign(whatOf(ask), glyphs, isChosen ? 'text' : 'dim')];
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

/** The newest that were answered here, or with `h` all of them. */
function answeredLines({ history, results }: ApprovalsState, columns: number, glyphs: Glyphs): readonly Line[] {
  const asks = history ?? results.map(({ ask }) => ask).reverse();
  const shown = history === null ? asks.slice(0, mostAnswered) : asks;
  if (shown.length === 0) return history === null ? [] : [[], [say('Nothing was answered yet.', 'dim')]];
  const title = history === null ? 'Answered (h shows all)' : `Answered: the last ${history.length} (h closes)`;
  return [[], [say(title, 'dim')], ...shown.map((ask) => historyLine(ask, columns, glyphs))];
}

const mostAnswered = 3;

function historyLine(ask: Ask, columns: number, glyphs: Glyphs): Line {
  const resolved = ask.resolved_at ?? ask.updated_at;
  const waited = formatShort(Date.parse(resolved) - Date.parse(ask.created_at));
  return cutLine(
    [
      say(`    ${formatClock(resolved).slice(0, 5)}  `, 'dim'),
      say(verdictOf(ask).padEnd(9), ask.state === 'approved' || ask.state === 'answered' ? 'ok' : 'danger'),
      ...foreign(
        ` ${(ask.verdict?.by ?? 'system').padEnd(16)} ${ask.tools}.${ask.tool} ${whatOf(ask)} · waited ${waited}`,
        glyphs,
        'dim',
      ),
    ],
    columns,
  );
}

function denyingLines(state: ApprovalsState, ids: readonly string[], columns: number, glyphs: Glyphs): readonly Line[] {
  const shownId = shownIdOf(state);
  const asks = state.asks.filter(({ id }) => ids.includes(id));
  return [
    [
      say(
        `Deny ${asks.length === 1 ? 'this ask' : `these ${plural(asks.length, 'ask')}`}?  y denies them   n or Esc goes back`,
        'warn',
      ),
    ],
    [],
    ...asks.map((ask) =>
      cutLine(foreign(`  ${shownId(ask.id)}  ${ask.tools}.${ask.tool} ${whatOf(ask)}`, glyphs), columns),
    ),
  ];
}

function emptyLines(state: ApprovalsState, policy: string, columns: number, glyphs: Glyphs): readonly Line[] {
  return [
    [say('  Nothing waits for an answer.')],
    [],
    ...state.results
      .slice(-mostAnswered)
      .reverse()
      .map(({ ask, mine }) => resultLine(ask, mine, columns, glyphs)),
    cutLine([say('  '), ...foreign(policy, glyphs, 'dim'), say('   h shows what was answered', 'dim')], columns),
  ];
}
