import type { Glyphs } from '../../src/view/escape.ts';
import type { PlanStep } from '../../src/schema/plan.ts';
import { formatRemaining, plural } from '../../src/view/format.ts';
import { foreign, type Line, say, type Token } from '../../src/view/line.ts';
import { firstLine, stepMark } from '../../src/view/plan-lines.ts';
import { cutLine, lineColumns, spread, wrapLine } from '../../src/view/wrap.ts';
import type { State } from '../state.ts';
import { chosenStep } from './plan-state.ts';

const mostSaidRows = 3;
/** Columns of a description that a note leaves to it, where both stand in one row. */
const leastDescription = 12;

/** The list of steps. The goal stays above it and what was said below it, however far the steps are scrolled. */
export type StepList = {
  readonly head: readonly Line[];
  readonly steps: readonly Line[];
  /** The row of the chosen step among them. */
  readonly at: number;
  readonly foot: readonly Line[];
};

export const rowsOfList = ({ head, steps, foot }: StepList): number => head.length + steps.length + foot.length;

/** The list in so many rows; of the steps those around the chosen one. */
export function listRows({ head, steps, at, foot }: StepList, rows: number): readonly Line[] {
  const room = Math.max(1, rows - head.length - foot.length);
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), steps.length - room));
  return [...head, ...steps.slice(from, from + room), ...foot].slice(0, rows);
}

/** @param wide the list stands at the left and has room for notes of their own and for the counts */
export function stepList(state: State, columns: number, wide: boolean): StepList {
  const { plan } = state.plan;
  const said = saidLines(state, columns);
  if (plan === null) return { head: [[say(' Planning…', 'accent')]], steps: [], at: 0, foot: said };
  const goal = wrapLine(
    foreign(plan.goal.replaceAll(/\s+/g, ' '), state.glyphs),
    columns,
    [say(' Goal  ', 'dim')],
    [say('       ')],
  );
  const head = [...goal.slice(0, wide ? 2 : 1), ...(wide ? [[]] : [])];
  const chosen = chosenStep(state.plan);
  const steps: Line[] = [];
  let at = 0;
  for (const step of plan.steps) {
    if (step.id === chosen?.id) at = steps.length;
    steps.push(...stepLines(state, step, step.id === chosen?.id, columns, wide));
  }
  const foot = wide
    ? ['', ...feet(state)].map((text): Line => cutLine([say(' '), ...foreign(text, state.glyphs, 'dim')], columns))
    : [];
  return { head: head.map((line) => cutLine(line, columns)), steps, at, foot: [...said, ...foot] };
}

const saidLines = ({ glyphs, plan: { said } }: State, columns: number): readonly Line[] =>
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

/** A step: mark, number, what it is about and how long it took; below it or behind it what came of it. */
function stepLines(state: State, step: PlanStep, isChosen: boolean, columns: number, wide: boolean): readonly Line[] {
  const mark = stepMark(step);
  const before: Line = [
    say(isChosen ? ' > ' : '   ', 'accent'),
    say(mark, markTokens[mark] ?? 'text'),
    say(` ${step.ordinal}. `),
  ];
  const time = timeOf(state, step);
  const end: Line = time === '' ? [] : [say(` ${time} `, 'dim')];
  // `spread` keeps a blank between the two.
  const room = columns - (time === '' ? 0 : lineColumns(end) + 1);
  const note = noteOf(state, step, wide);
  const text = foreign(firstLine(step.description), state.glyphs, isChosen ? 'accent' : 'text');
  if (!wide) return [spread(inOneRow(before, text, note, room, state.glyphs), end, columns)];
  const [first = [], ...more] = wrapLine(text, room, before, [say('          ')]).slice(0, isChosen ? 4 : 2);
  return [
    spread(first, end, columns),
    ...more.map((row) => cutLine(row, columns)),
    ...(note === '' ? [] : [cutLine([say('       '), ...foreign(note, state.glyphs, 'dim')], columns)]),
  ];
}

/** What came of a step decides what is done next: the description gives way to it. */
function inOneRow(before: Line, text: Line, note: string, columns: number, glyphs: Glyphs): Line {
  const row = [...before, ...text];
  if (note === '') return cutLine(row, columns);
  const behind: Line = [say(' · ', 'dim'), ...foreign(note, glyphs, 'dim')];
  const room = Math.max(lineColumns(before) + leastDescription, columns - lineColumns(behind));
  return cutLine([...cutLine(row, room), ...behind], columns);
}

/** For how long it was or is worked on. */
function timeOf(state: State, { started_at, finished_at, status, interrupted }: PlanStep): string {
  if (started_at === null || status === 'pending' || status === 'skipped' || interrupted) return '';
  const end = finished_at === null ? state.now : Date.parse(finished_at);
  return formatRemaining(Math.max(1000, end - Date.parse(started_at)));
}

/** What came of a step, in few words. */
function noteOf({ approvals, plan }: State, step: PlanStep, wide: boolean): string {
  if (step.interrupted) return 'interrupted: n goes on with it';
  if (step.ask_id !== null) return `needs an answer: ${approvals.ids[step.ask_id] ?? step.ask_id}`;
  switch (step.status) {
    case 'failed':
      return `${step.failure_class ?? 'logic'}: ${firstLine(step.failure_text ?? '')}`;
    case 'completed':
      return step.summary === null
        ? ''
        : `${wide ? 'outcome ' : ''}${step.summary.outcome}${artefacts(step.summary.artifacts)}`;
    case 'running':
    case 'waiting':
      return plan.driving === null ? elsewhere(step) : '';
    default:
      return step.note ?? '';
  }
}

function artefacts(all: NonNullable<PlanStep['summary']>['artifacts']): string {
  if (all.length === 0) return '';
  return ` · ${plural(all.length, all.every(({ kind }) => kind === 'file') ? 'file' : 'artefact')}`;
}

/** Which process works on it, when that is not this one. */
const elsewhere = ({ run_by }: PlanStep): string =>
  run_by === null ? '' : `run by pid ${run_by.pid} (${run_by.surface})`;

/** Not begun, or under way: each step is in one of the counts. */
const isLeft = ({ status, ask_id, interrupted }: PlanStep): boolean =>
  status === 'pending' || (status === 'running' && ask_id === null && !interrupted);

/** Counts, models and what holds for every step. */
function feet(state: State): readonly string[] {
  const { plan, auto, models } = state.plan;
  const { facts } = state;
  const count = (holds: (step: PlanStep) => boolean): number => plan?.steps.filter(holds).length ?? 0;
  const executor = models.executor ?? '-';
  return [
    [
      `Done ${count(({ status }) => status === 'completed')}`,
      `Waiting ${count((step) => step.ask_id !== null)}`,
      `Failed ${count(({ status, interrupted }) => status === 'failed' || interrupted)}`,
      `Skipped ${count(({ status }) => status === 'skipped')}`,
      `Left ${count(isLeft)}`,
    ].join('  '),
    `Planner ${models.planner ?? executor}   Executor ${executor}`,
    `Auto ${auto ? 'on' : 'off'}   Shell ${facts.shell ? 'on' : 'off'}   Policy ${facts.policy?.name ?? '-'} ${facts.policy?.sha256?.slice(0, 4) ?? ''}`,
    ...(plan === null || plan.status === 'active' ? [] : [`The plan is ${plan.status}.`]),
  ];
}
