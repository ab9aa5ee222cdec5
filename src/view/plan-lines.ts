import { waitedFor } from '../schema/ask.ts';
import type { Plan, PlanHead, PlanStep } from '../schema/plan.ts';

/** The mark of a step (06 §13). */
export function stepMark(step: Pick<PlanStep, 'status' | 'interrupted' | 'summary' | 'ask_id'>): string {
  if (step.interrupted) return '[!]';
  switch (step.status) {
    case 'completed':
      return step.summary?.outcome === 'partial' ? '[~]' : '[x]';
    case 'running':
      return step.ask_id === null ? '[>]' : '[?]';
    case 'waiting':
      return '[?]';
    case 'failed':
      return '[!]';
    case 'skipped':
      return '[-]';
    case 'pending':
      return '[ ]';
  }
}

export const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0] ?? '';

/** What a finished step came to, in one line; empty for one that has not been worked on. */
export function stepResult(step: PlanStep): string {
  if (step.status === 'failed') return `${step.failure_class ?? 'logic'}: ${firstLine(step.failure_text ?? '')}`;
  if (step.interrupted) return `interrupted; run ${step.run_id ?? '-'} can go on`;
  if (step.ask_id !== null) return `${stepWaits(step)}: ${step.ask_id}`;
  if (step.status === 'completed') return firstLine(step.summary?.summary ?? step.result_text ?? '');
  return step.note ?? '';
}

/** What a step that waits is waiting for; its run may have come to rest behind the answer. */
export const stepWaits = ({ ask_id, ask_kind }: Pick<PlanStep, 'ask_id' | 'ask_kind'>): string =>
  ask_id === null ? 'has its answer and has not gone on yet' : `waits for ${waitedFor(ask_kind ?? 'permission')}`;

/** `N. [x] description`, the further lines of a description indented (06 §13). */
export const stepLine = (step: PlanStep): string =>
  `${step.ordinal}. ${stepMark(step)} ${step.description.split('\n').join('\n     ')}`;

type Pointed = Pick<PlanHead, 'name' | 'active'>;

/** What a command about a plan needs to find it: nothing for the active one, which it would take anyway (07 §3.2). */
export const planFlag = ({ name, active }: Pointed): string => (active ? '' : ` --plan ${name}`);

/** What can be done about a step that failed (07 §4.11), to be typed as it stands. */
export const stepCommands = (plan: Pointed, ordinal: number): readonly string[] =>
  [`reins plan retry ${ordinal}`, `reins plan skip ${ordinal}`, 'reins plan replan'].map(
    (command) => `${command}${planFlag(plan)}`,
  );

/** What holds a step up, below it: its mark stands for several things. */
const heldUp = (step: PlanStep): readonly string[] =>
  step.status === 'failed' || step.interrupted || step.ask_id !== null ? [`     ${stepResult(step)}`] : [];

/** The list that `plan show`, `retry` and `skip` print. */
export const planLines = (plan: Plan): readonly string[] => [
  `Plan: ${plan.name} (${plan.status}), ${plan.done} of ${plan.total} done`,
  ...plan.steps.flatMap((step) => [stepLine(step), ...heldUp(step)]),
];

/** The same for ears: states in words in place of marks (10 §10.2). */
export const spokenPlan = (plan: Plan): readonly string[] => [
  `Plan: ${plan.name} (${plan.status}), ${plan.done} of ${plan.total} done`,
  ...plan.steps.map((step) => {
    const stands = step.interrupted ? 'interrupted' : step.ask_id !== null ? 'waiting for you' : step.status;
    return `step ${step.ordinal}, ${stands}: ${step.description}`;
  }),
];

/** The Markdown form of a plan (07 §4.9), without the remark that its file begins with. */
export function planMarkdown(plan: Plan): string {
  const quoted = (text: string): string => (text === '' ? '' : `\n  > ${text.split('\n').join('\n  > ')}`);
  const steps = plan.steps.map((step) => {
    const text = step.description.split('\n').join('\n  ');
    return `- ${stepMark(step)} ${step.ordinal}. ${text}${quoted(stepResult(step))}`;
  });
  return [
    `# ${plan.name}`,
    '',
    `Goal: ${plan.goal}`,
    '',
    `Status: ${plan.status}`,
    '',
    '## Steps',
    '',
    ...steps,
    '',
  ].join('\n');
}
