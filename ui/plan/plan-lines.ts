import type { PlanStep } from '../../src/schema/plan.ts';
import type { Item } from '../../src/view/items.ts';
import { foreign, type Line, say, type Span } from '../../src/view/line.ts';
import { columnsOf, cutLine, fitLine, wrapLine } from '../../src/view/wrap.ts';
import { drawnRow, isOpened, selectedBlock } from '../chat-lines.ts';
import { layOut } from '../composer/visual-lines.ts';
import { layoutOf } from '../layout.ts';
import type { State } from '../state.ts';
import { clock } from '../status-lines.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { LineCache } from '../transcript/line-cache.ts';
import { type Anchor, type Blocks, rowsInView } from '../transcript/viewport.ts';
import { listRows, rowsOfList, stepList } from './plan-list.ts';
import { chosenStep, isLive, type PlanField, wideColumns } from './plan-state.ts';

const listColumns = 57;
const mostFieldRows = 6;

type Part = { readonly columns: number; readonly rows: number };

/** The places of the list and of the chosen step; the field of the pane takes its rows from both. */
export function paneParts(state: State): { readonly wide: boolean; readonly left: Part; readonly right: Part } {
  const { columns, body } = layoutOf(state);
  const field = state.plan.field === null ? 0 : fieldLines(state.plan.field, columns, state.glyphs).length;
  const rows = Math.max(1, body - field);
  if (columns >= wideColumns)
    return {
      wide: true,
      left: { columns: listColumns, rows },
      right: { columns: columns - listColumns - 2, rows },
    };
  const list = Math.min(Math.floor(rows / 2), rowsOfList(stepList(state, columns, false)));
  return { wide: false, left: { columns, rows: list }, right: { columns, rows: Math.max(1, rows - list - 1) } };
}

/** The plan pane, exactly as many rows as the body has. @param card the card that has the keys, or none */
export function planPaneLines(state: State, cache: LineCache, glyphs: Glyphs, card: readonly Line[]): readonly Line[] {
  const { columns, body } = layoutOf(state);
  const { wide, left, right } = paneParts(state);
  const field = state.plan.field === null ? [] : fieldLines(state.plan.field, columns, state.glyphs);
  if (state.plan.plan === null && state.plan.driving === null) {
    const words = state.plan.loaded ? 'There is no plan. N makes one.' : 'loading…';
    const { foot } = stepList(state, columns, false);
    return [...filled([[say(`  ${words}`)], ...foot], body - field.length), ...field];
  }
  if (!wide && card.length > right.rows) {
    // A card that needs more than the lower part has the whole pane.
    return filled(card, body);
  }
  const list = filled(listRows(stepList(state, left.columns, wide), left.rows), left.rows);
  const view = stepView(state, cache, glyphs, right, card);
  if (wide)
    return [
      ...list.map((line, index) => [...fitLine(line, left.columns), say('│ ', 'border'), ...(view[index] ?? [])]),
      ...field,
    ];
  return [...list, stepRule(state, columns), ...view, ...field];
}

const filled = (lines: readonly Line[], rows: number): readonly Line[] =>
  Array.from({ length: Math.max(0, rows) }, (_, index) => lines[index] ?? []);

const phases = {
  explore: 'looking at the workspace',
  plan: 'planning',
  repair: 'planning once more',
  step: '',
} as const;

/** Which step is shown, how it stands, and under which run. */
function headWords(state: State): string {
  const { plan, driving, run } = state.plan;
  const place = run === null ? '' : ` · run ${run.slice(-6)}`;
  if (driving !== null && driving.phase !== 'step') return `${phases[driving.phase]}${place}`;
  const step = chosenStep(state.plan);
  if (step === null || plan === null) return '';
  const stands = step.interrupted ? 'interrupted' : step.ask_id !== null ? waits(state, step.ask_id) : step.status;
  return `Step ${step.ordinal} of ${plan.total} · ${stands}${place}`;
}

function waits({ asks, now }: State, id: string): string {
  const ask = asks.find((each) => each.id === id);
  return ask === undefined ? 'waiting for you' : `waiting for you ${clock(now - Date.parse(ask.created_at))}`;
}

function stepRule(state: State, columns: number): Line {
  const left = `─ ${headWords(state).replace(/^Step/, 'step')} `;
  const live = state.plan.anchor === null && isLive(state.plan) ? ' following ─' : '';
  // How the step stands goes before that it is followed.
  const end = columnsOf(left) + columnsOf(live) <= columns ? live : '';
  const fill = '─'.repeat(Math.max(0, columns - columnsOf(left) - columnsOf(end)));
  return cutLine([...foreign(`${left}${fill}${end}`, state.glyphs, 'border')], columns);
}

const isPlanning = ({ plan: { driving } }: Pick<State, 'plan'>): boolean =>
  driving !== null && driving.phase !== 'step';

/** What is shown of a run. What a step is asked is made of what stands here anyway: goal, steps and what was done before. */
export function stepItems(state: Pick<State, 'plan'>): readonly Item[] {
  const { items } = state.plan;
  return !isPlanning(state) && items[0]?.kind === 'user' ? items.slice(1) : items;
}

/** The transcript of the step that is shown, under what is known of it. */
export function planBlocks(state: State, cache: LineCache, glyphs: Glyphs, columns: number): Blocks {
  const { items } = state.plan;
  const planning = isPlanning(state);
  const blocks = cache.blocks(stepItems(state), {
    columns,
    glyphs,
    collapse: state.collapse,
    now: state.now,
    opened: (item) => isOpened(state, item),
    unfolded: ({ id }) => state.toggled.has(id),
  });
  const step = chosenStep(state.plan);
  const head = planning || step === null ? [] : detailLines(step, items.length === 0);
  const lines = head.flatMap((line) => wrapLine(foreign(line, glyphs), columns, [say('  ')], [say('    ')]));
  return {
    count: blocks.count + 1,
    idOf: (index) => (index === 0 ? 'step' : blocks.idOf(index - 1)),
    indexOf: (id) => (id === 'step' ? 0 : Math.max(-1, blocks.indexOf(id) + (blocks.indexOf(id) < 0 ? 0 : 1))),
    linesOf: (index) => (index === 0 ? lines : blocks.linesOf(index - 1)),
    foldOf: (index) => (index === 0 ? null : blocks.foldOf(index - 1)),
  };
}

/** Rows of the transcript of the step: the wide view has two rows of its own above it. */
export const stepRows = (state: State): number =>
  Math.max(1, paneParts(state).right.rows - (paneParts(state).wide ? 2 : 0));

function stepView(state: State, cache: LineCache, glyphs: Glyphs, part: Part, card: readonly Line[]): readonly Line[] {
  const wide = state.size.columns >= wideColumns;
  const head: readonly Line[] = wide
    ? [cutLine([...foreign(headWords(state), state.glyphs, 'dim')], part.columns), []]
    : [];
  const rows = Math.max(0, part.rows - head.length - card.length);
  const blocks = planBlocks(state, cache, glyphs, part.columns);
  const selected = selectedBlock(state, blocks);
  const shown = rowsInView(blocks, planAnchor(state), rows).map(({ line, index }) =>
    drawnRow(state, line, index === selected),
  );
  return [...head, ...filled(shown, rows), ...card].slice(0, part.rows);
}

/** What is over is read from its beginning; what runs is followed. */
export const planAnchor = ({ plan }: Pick<State, 'plan'>): Anchor | null =>
  plan.anchor ?? (isLive(plan) ? null : { id: 'step', line: 0 });

/** What is known of a step. @param whole with its description and all that it left behind */
export function detailLines(step: PlanStep, whole: boolean): readonly string[] {
  const { summary } = step;
  const lines: string[] = [];
  const add = (label: string, text: string | null) => {
    if (text !== null && text !== '') lines.push(`${label}:`, ...text.split('\n').map((line) => `  ${line}`));
  };
  if (whole) lines.push(...step.description.split('\n'));
  if (step.status === 'failed') add(`failed (${step.failure_class ?? 'logic'})`, step.failure_text);
  if (step.interrupted) lines.push('interrupted: n goes on with its run');
  if (whole) {
    add('summary', summary?.summary ?? null);
    add(
      'artefacts',
      (summary?.artifacts ?? [])
        .map(({ kind, ref, note }) => `${kind} ${ref}${note === '' ? '' : ` · ${note}`}`)
        .join('\n'),
    );
    add('caveats', (summary?.caveats ?? []).join('\n'));
    add('for the next step', summary?.handover_for_next ?? null);
    add('not summed up', step.summary_error);
    add('result', step.result_text);
    if (step.status === 'pending') add('the attempt before', step.last_failure_summary);
    if (step.attempts > 0)
      lines.push(`attempts ${step.attempts}${step.run_id === null ? '' : ` · last run run_${step.run_id.slice(-6)}`}`);
    if (step.note !== null) lines.push(step.note);
  }
  if (step.status === 'failed') lines.push('r retry   s skip   R replan');
  return lines;
}

/** The field of the pane: a rule that says what Enter does, and the rows around the caret. */
function fieldLines(field: PlanField, columns: number, glyphs: Glyphs): readonly Line[] {
  const label =
    field.purpose === 'goal'
      ? `goal of the new plan · explore ${field.explore ? 'on' : 'off'} (Tab) · Enter plans`
      : 'instruction for the new steps, may be empty · Enter replans';
  const rule = cutLine([say(`─ ${label} ${'─'.repeat(columns)}`, 'accent')], columns, '');
  const laid = layOut(field.editing, Math.max(4, columns - 2), columnsOf, glyphs);
  const from = Math.max(0, laid.row - mostFieldRows + 1);
  const rows = laid.lines.slice(from, from + mostFieldRows).map((line, index): Line => {
    const here = from + index === laid.row;
    const spans: Span[] = line.cells.map(({ shown, at }) =>
      here && at === field.editing.caret ? { text: shown, caret: true } : { text: shown },
    );
    const end: Span[] =
      here && !line.cells.some(({ at }) => at >= field.editing.caret) ? [{ ...say(' '), caret: true }] : [];
    return [say(index === 0 && from === 0 ? '› ' : '  ', 'accent'), ...spans, ...end];
  });
  return [rule, ...rows];
}
