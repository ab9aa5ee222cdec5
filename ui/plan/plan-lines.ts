import type { PlanStep } from '../../src/schema/plan.ts';
import { formatRemaining } from '../../src/view/format.ts';
import { foreign, type Line, say, type Span, type Token } from '../../src/view/line.ts';
import { stepMark } from '../../src/view/plan-lines.ts';
import { columnsOf, cutLine, fitLine, spread, wrapLine } from '../../src/view/wrap.ts';
import { isOpened } from '../chat-lines.ts';
import { layOut } from '../composer/visual-lines.ts';
import { layoutOf } from '../layout.ts';
import type { State } from '../state.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { LineCache } from '../transcript/line-cache.ts';
import { type Blocks, rowsInView } from '../transcript/viewport.ts';
import { chosenStep, type PlanField } from './plan-state.ts';

/** From here on the chosen step stands beside the list (10 §2.4). */
const wideColumns = 110;
const listColumns = 57;
const mostFieldRows = 6;
const mostSaidRows = 3;

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
  const list = Math.min(Math.floor(rows / 2), listLines(state, columns).lines.length);
  return { wide: false, left: { columns, rows: list }, right: { columns, rows: Math.max(1, rows - list - 1) } };
}

/** The plan pane, exactly as many rows as the body has. @param card the card that has the keys, or none */
export function planPaneLines(state: State, cache: LineCache, glyphs: Glyphs, card: readonly Line[]): readonly Line[] {
  const { columns, body } = layoutOf(state);
  const { wide, left, right } = paneParts(state);
  const field = state.plan.field === null ? [] : fieldLines(state.plan.field, columns, state.glyphs);
  if (state.plan.plan === null && state.plan.driving === null) {
    const words = state.plan.loaded ? 'There is no plan. N makes one.' : 'loading…';
    return [...filled([[say(`  ${words}`)], ...saidLines(state, columns)], body - field.length), ...field];
  }
  if (!wide && card.length > right.rows) {
    // A card that needs more than the lower part has the whole pane.
    return filled(card, body);
  }
  const list = windowed(listLines(state, left.columns), left.rows);
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

type List = { readonly lines: readonly Line[]; readonly at: number };

/** The rows around the chosen step. */
const windowed = ({ lines, at }: List, rows: number): readonly Line[] => {
  const from = Math.max(0, Math.min(at - Math.floor(rows / 2), lines.length - rows));
  return filled(lines.slice(from), rows);
};

function listLines(state: State, columns: number): List {
  const { plan } = state.plan;
  if (plan === null) return { lines: [[say(' Planning…', 'accent')], ...saidLines(state, columns)], at: 0 };
  const wide = state.size.columns >= wideColumns;
  const chosen = chosenStep(state.plan);
  const goal = wrapLine(
    foreign(plan.goal.replaceAll(/\s+/g, ' '), state.glyphs),
    columns,
    [say(' Goal  ', 'dim')],
    [say('       ')],
  );
  const lines: Line[] = goal.slice(0, wide ? 2 : 1).map((line) => cutLine(line, columns));
  if (wide) lines.push([]);
  let at = 0;
  for (const step of plan.steps) {
    if (step.id === chosen?.id) at = lines.length;
    lines.push(...stepLines(state, step, step.id === chosen?.id, columns, wide));
  }
  lines.push(
    ...saidLines(state, columns),
    ...(wide ? ['', ...feet(state)].map((text): Line => cutLine([say(` ${text}`, 'dim')], columns)) : []),
  );
  return { lines, at };
}

const saidLines = ({ plan: { said }, glyphs }: State, columns: number): readonly Line[] =>
  said === null
    ? []
    : wrapLine(foreign(`${said.bad ? '! ' : ''}${said.text}`, glyphs, said.bad ? 'warn' : 'accent'), columns, [
        say(' '),
      ])
        .slice(0, mostSaidRows)
        .map((row) => cutLine(row, columns));

const markTokens: Readonly<Record<string, Token>> = {
  '[!]': 'danger',
  '[x]': 'ok',
  '[~]': 'warn',
  '[?]': 'ask',
  '[>]': 'accent',
  '[-]': 'dim',
};

/** A step: mark, number, what it is about and how long it took; below it what came of it. */
function stepLines(state: State, step: PlanStep, isChosen: boolean, columns: number, wide: boolean): readonly Line[] {
  const { glyphs } = state;
  const mark = stepMark(step);
  const before: Line = [
    say(isChosen ? ' > ' : '   ', 'accent'),
    say(mark, markTokens[mark] ?? 'text'),
    say(` ${step.ordinal}. `),
  ];
  const time = timeOf(state, step);
  const end: Line = time === '' ? [] : [say(` ${time} `, 'dim')];
  const room = columns - end.length * (time.length + 2);
  const note = noteOf(state, step);
  const short = wide || note === '' ? [] : foreign(` · ${note}`, glyphs, 'dim');
  const text: Line = [...foreign(firstLine(step.description), glyphs, isChosen ? 'accent' : 'text'), ...short];
  const rows = wide
    ? wrapLine(text, room, before, [say('          ')]).slice(0, isChosen ? 4 : 2)
    : [cutLine([...before, ...text], room)];
  const lines = rows.map((row, index) =>
    index === 0 ? spread(cutLine(row, room), end, columns) : cutLine(row, columns),
  );
  return wide && note !== '' ? [...lines, cutLine([say('       '), ...foreign(note, glyphs, 'dim')], columns)] : lines;
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0] ?? '';

function timeOf(state: State, { started_at, finished_at, status }: PlanStep): string {
  if (started_at === null || status === 'pending') return '';
  const end = finished_at === null ? state.now : Date.parse(finished_at);
  return formatRemaining(Math.max(1000, end - Date.parse(started_at)));
}

/** What came of a step, in few words. */
function noteOf({ approvals, plan }: State, step: PlanStep): string {
  if (step.interrupted) return 'interrupted: n goes on with it';
  if (step.ask_id !== null) return `needs an answer: ${approvals.ids[step.ask_id] ?? step.ask_id}`;
  switch (step.status) {
    case 'failed':
      return `${step.failure_class ?? 'logic'}: ${firstLine(step.failure_text ?? '')}`;
    case 'completed': {
      if (step.summary === null) return '';
      const files = step.summary.artifacts.length;
      return `outcome ${step.summary.outcome}${files === 0 ? '' : ` · ${files} ${files === 1 ? 'artefact' : 'artefacts'}`}`;
    }
    case 'running':
    case 'waiting':
      return step.run_id !== null && plan.driving?.run_id !== step.run_id ? 'run by another process' : '';
    default:
      return step.note ?? '';
  }
}

/** Counts, model and what holds for every step. */
function feet(state: State): readonly string[] {
  const { plan, auto } = state.plan;
  const { facts } = state;
  const count = (holds: (step: PlanStep) => boolean): number => plan?.steps.filter(holds).length ?? 0;
  const waiting = count((step) => step.ask_id !== null);
  return [
    [
      `Done ${count(({ status }) => status === 'completed')}`,
      `Waiting ${waiting}`,
      `Failed ${count(({ status }) => status === 'failed')}`,
      `Skipped ${count(({ status }) => status === 'skipped')}`,
      `Left ${count(({ status }) => status === 'pending')}`,
    ].join('  '),
    `Plan ${plan?.status ?? '-'}`,
    `Auto ${auto ? 'on' : 'off'}   Shell ${facts.shell ? 'on' : 'off'}   Policy ${facts.policy?.name ?? '-'}`,
  ];
}

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
  const stands = step.interrupted ? 'interrupted' : step.ask_id !== null ? 'waiting for you' : step.status;
  return `step ${step.ordinal} of ${plan.total} · ${stands}${place}`;
}

function stepRule(state: State, columns: number): Line {
  const follows = state.plan.anchor === null && state.plan.run !== null ? ' following ─' : '';
  const left = `─ ${headWords(state)} `;
  return [say(`${left}${'─'.repeat(Math.max(0, columns - columnsOf(left) - columnsOf(follows)))}${follows}`, 'border')];
}

/** The transcript of the step that is shown, under what is known of it. */
export function planBlocks(state: State, cache: LineCache, glyphs: Glyphs, columns: number): Blocks {
  const blocks = cache.blocks(state.plan.items, {
    columns,
    glyphs,
    collapse: state.collapse,
    now: state.now,
    opened: (item) => isOpened(state, item),
  });
  const step = chosenStep(state.plan);
  const planning = state.plan.driving !== null && state.plan.driving.phase !== 'step';
  const head = planning || step === null ? [] : detailLines(step, state.plan.items.length === 0);
  const lines = head.flatMap((line) => wrapLine(foreign(line, glyphs), columns, [say('  ')], [say('    ')]));
  return {
    count: blocks.count + 1,
    idOf: (index) => (index === 0 ? 'step' : blocks.idOf(index - 1)),
    indexOf: (id) => (id === 'step' ? 0 : Math.max(-1, blocks.indexOf(id) + (blocks.indexOf(id) < 0 ? 0 : 1))),
    linesOf: (index) => (index === 0 ? lines : blocks.linesOf(index - 1)),
  };
}

function stepView(state: State, cache: LineCache, glyphs: Glyphs, part: Part, card: readonly Line[]): readonly Line[] {
  const wide = state.size.columns >= wideColumns;
  const head: readonly Line[] = wide ? [cutLine([say(' '), say(headWords(state), 'dim')], part.columns), []] : [];
  const rows = Math.max(0, part.rows - head.length - card.length);
  const blocks = planBlocks(state, cache, glyphs, part.columns);
  // What is only told is read from its beginning; what runs is followed.
  const anchor = state.plan.anchor ?? (state.plan.items.length === 0 ? { id: 'step', line: 0 } : null);
  const shown = rowsInView(blocks, anchor, rows).map(({ line }) => line);
  return [...head, ...filled(shown, rows), ...card].slice(0, part.rows);
}

/** What is known of a step. @param whole with its description and all that it left behind */
export function detailLines(step: PlanStep, whole: boolean): readonly string[] {
  const { summary } = step;
  const lines: string[] = [];
  const add = (label: string, text: string | null) => {
    if (text !== null && text !== '') lines.push(`${label}:`, ...text.split('\n').map((line) => `  ${line}`));
  };
  if (whole) lines.push(...step.description.split('\n'));
  if (step.status === 'failed') add(`failed (${step.failure_class ?? 'logic'})`, step.failure_text);
  if (step.interrupted) lines.push(`interrupted: run ${step.run_id ?? '-'} can go on (n)`);
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
      lines.push(`attempts ${step.attempts}${step.run_id === null ? '' : ` · last run ${step.run_id}`}`);
    if (step.note !== null) lines.push(step.note);
  }
  if (step.status === 'failed') lines.push('r retry   s skip   R replan');
  return lines;
}

/** The field of the pane: a rule that says what Enter does, and the rows around the caret. */
function fieldLines(field: PlanField, columns: number, glyphs: Glyphs): readonly Line[] {
  const label =
    field.purpose === 'goal'
      ? `goal of the new plan · explore ${field.explore ? 'on' : 'off'} (Tab) · Enter plans, Ctrl+J new line, Esc back`
      : 'instruction for the new steps, may be empty · Enter replans, Esc back';
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
