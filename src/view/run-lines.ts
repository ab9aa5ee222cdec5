import type { Handler } from '../schema/chain.ts';
import type { CapturedStep } from '../schema/event.ts';
import type { Message } from '../schema/message.ts';
import type { BoundUse, RunCall, RunDetails, RunWait } from '../schema/run-record.ts';
import { callName, callSummary, firstLine } from './call-summary.ts';
import { formatSpan, plural, runSpan } from './format.ts';
import { instructionsLine } from './instructions-line.ts';
import { stepLine } from './step-line.ts';
import { stuckText } from './stuck-text.ts';
import { whatOf } from './what-of.ts';

/** What the surface knows: how it shows an id and a time. Nothing here is escaped. */
export type RunShown = { id(id: string): string; when(at: string): string };

/** A captured run as text (06 §25): header, then steps and what happened in them in the order of time, then the outcome. */
export function runLines(run: RunDetails, shown: RunShown): readonly string[] {
  const parts = runParts(run, shown);
  return [...parts.header, '', 'Steps', ...parts.steps, ...parts.outcome];
}

/** The same in its parts, for a surface that has them in another order. */
export const runParts = (run: RunDetails, shown: RunShown) => ({
  header: header(run, shown),
  steps: timeline(run, shown),
  outcome: outcome(run),
});

function header(run: RunDetails, shown: RunShown): readonly string[] {
  const exit = run.exit_code === null ? '' : `, exit ${run.exit_code}`;
  const waits = run.waiting_on === null ? '' : `, waits for ${shown.id(run.waiting_on)}`;
  const { usage, bounds } = run;
  // Written when the run ends or rests; the bounds count on.
  const tokens = usage.input_tokens + usage.output_tokens === 0 ? '' : tokensText(usage);
  const rows: readonly (readonly [string, string])[] = [
    ['kind', run.kind],
    ['chain', run.chain.id],
    ['session', run.session ?? ''],
    ['plan', run.plan === null ? '' : `${run.plan}, step ${run.plan_step ?? '-'}`],
    ['model', [run.model, run.backend ?? run.provider].filter((part) => part !== null).join(' on ')],
    ['policy', `${run.policy.name} (${run.policy.source})`],
    ['agents', (run.instructions ?? []).map(instructionsLine).join('\n')],
    ['cwd', run.cwd],
    ['started', run.started_at === null ? '' : shown.when(run.started_at)],
    ['duration', runSpan(run)],
    [
      'used',
      [used(bounds.turns, 'turn'), used(bounds.tool_calls, 'tool call'), used(bounds.tokens, 'token')].join(', '),
    ],
    ['tokens', tokens],
    ['input', run.input],
  ];
  return [
    `${shown.id(run.id)}  ${run.status}${exit}${waits}`,
    ...rows.filter(([, text]) => text !== '').flatMap(([name, text]) => labelled(name, text)),
  ];
}

const tokensText = ({ input_tokens, output_tokens, estimated }: RunDetails['usage']): string =>
  `${estimated ? '~' : ''}${input_tokens} in, ${output_tokens} out`;
const limit = ({ max }: BoundUse): string => (max === null ? '' : ` of ${max}`);
const used = (bound: BoundUse, noun: string): string => `${plural(bound.used, noun)}${limit(bound)}`;

/** Further lines stand below the first one. */
const labelled = (name: string, text: string, room = 10): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => `  ${(index === 0 ? name : '').padEnd(room)}${line}`.trimEnd());

/** Steps by their places; calls and waits stand below the step in which they began. */
function timeline(run: RunDetails, shown: RunShown): readonly string[] {
  const asked = new Set(run.calls.map((call) => call.ask_id));
  const steps = inTurn(
    run.steps.map((step, order) => ({
      at: Date.parse(step.started_at),
      order,
      calls: callers.has(step.task_handler),
      lines: [stepLine(step)],
    })),
  );
  const calls = inTurn(
    run.calls.map((call) => ({ at: Date.parse(call.planned_at), lines: [callLine(call, run.waits, shown)] })),
  );
  const entries = [
    ...steps,
    // The next step may have begun in the same millisecond.
    ...calls.map((call) => {
      const caller = steps.findLast((step) => step.calls && step.at <= call.at);
      return { ...call, order: caller === undefined ? behindSteps : caller.order + 0.5 };
    }),
    // A spent bound is asked about without a call.
    ...run.waits
      .filter((wait) => !asked.has(wait.id))
      .map((wait) => ({ at: Date.parse(wait.created_at), order: behindSteps, lines: [waitLine(wait, shown)] })),
  ].sort((a, b) => a.at - b.at || a.order - b.order);
  return entries.length === 0 ? ['  (nothing is kept of them)'] : entries.flatMap(({ lines }) => lines);
}

/** Only steps of these make calls. */
const callers: ReadonlySet<string> = new Set(['execute_tool_calls', 'tools'] satisfies readonly Handler[]);
const behindSteps = Number.MAX_SAFE_INTEGER;

/** In the order in which they came, also where the clock was set back on the way. */
function inTurn<T extends { readonly at: number }>(entries: readonly T[]): readonly T[] {
  let latest = Number.NEGATIVE_INFINITY;
  return entries.map((entry) => {
    latest = Math.max(latest, entry.at);
    return { ...entry, at: latest };
  });
}

function callLine(call: RunCall, waits: readonly RunWait[], shown: RunShown): string {
  const wait = waits.find(({ id }) => id === call.ask_id);
  const parts = [
    `${callName(call)} ${callSummary(call.args)}`.trimEnd(),
    ...(call.decision === null ? [] : [decisionText(call.decision)]),
    ...(wait === undefined ? [] : [waitText(wait, shown)]),
    callOutcome(call),
  ];
  return `     → ${parts.join(' · ')}`;
}

const decisionWords = { allow: 'allowed', approve: 'asks', deny: 'denied' } as const;
const decisionText = ({ action, matched_rule, reason }: NonNullable<RunCall['decision']>): string =>
  `${decisionWords[action]} (${matched_rule === null ? reason.replaceAll('_', ' ') : `rule ${matched_rule + 1}`})`;

function callOutcome({ state, error, result_bytes, started_at, ended_at }: RunCall): string {
  if (state === 'skipped') return `not run${error === null ? '' : `: ${error}`}`;
  const took =
    started_at === null || ended_at === null ? '' : `, ${formatSpan(Date.parse(ended_at) - Date.parse(started_at))}`;
  const size = result_bytes === null ? '' : `, ${plural(result_bytes, 'byte')}`;
  return `${state === 'unknown' ? 'outcome unknown' : state}${error === null ? '' : `: ${error}`}${size}${took}`;
}

const waitLine = (wait: RunWait, shown: RunShown): string =>
  `     → ${callName(wait)} ${firstLine(whatOf(wait))} · ${waitText(wait, shown)}`;

function waitText({ id, state, by, waited_ms }: RunWait, shown: RunShown): string {
  if (state === 'pending') return `${shown.id(id)} is open`;
  const after = waited_ms === null ? '' : ` after ${formatSpan(waited_ms)}`;
  return `${state}${by === null ? '' : ` by ${by}`}${after}`;
}

function outcome(run: RunDetails): readonly string[] {
  const stuck = stuckText(run);
  const failure = [
    ...(run.error === null ? [] : ['', 'Error', `  ${run.error.class}: ${run.error.message}`]),
    ...(stuck === null ? [] : ['', 'Error', `  ${stuck}`]),
  ];
  return run.result === '' ? failure : ['', 'Result', ...indented(run.result), ...failure];
}

const indented = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());

/** One step with what it was given and what it made (06 §25 `--step`). */
export function stepLines(step: CapturedStep, shown: RunShown): readonly string[] {
  const { usage } = step;
  const rows: readonly (readonly [string, string])[] = [
    ['started', shown.when(step.started_at)],
    ['attempt', String(step.attempt)],
    ['model', [step.model, step.backend].filter((part) => part !== null).join(' on ')],
    ['tools', step.tool_names.join(', ')],
    [
      'tokens',
      usage === null ? '' : tokensText({ ...usage, input_tokens: usage.prompt, output_tokens: usage.completion }),
    ],
    ['finish', step.finish_reason ?? ''],
    ['next', step.next ?? ''],
    ['error', step.error === null ? '' : `${step.error.class}: ${step.error.message}`],
  ];
  return [
    stepLine(step).trimStart(),
    ...rows.filter(([, text]) => text !== '').flatMap(([name, text]) => labelled(name, text)),
    ...stepValues(step),
  ];
}

/** What a step was given and what it made, in full. */
export const stepValues = (step: CapturedStep): readonly string[] => [
  ...value('Input', step.input_type, step.input),
  ...value('Output', step.output_type, step.output),
  ...(step.partial === null ? [] : value('Partial', 'string', step.partial)),
];

function value(title: string, type: string | null, given: unknown): readonly string[] {
  if (type === null || given === null) return [];
  return [
    '',
    `${title} (${type})`,
    ...(isHistory(given) ? given.messages.flatMap(messageLines) : indented(text(given))),
  ];
}

const text = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given, null, 2));

const isHistory = (given: unknown): given is { readonly messages: readonly Message[] } =>
  typeof given === 'object' && given !== null && Array.isArray(Reflect.get(given, 'messages'));

const messageLines = ({ role, content, tool_calls = [] }: Message): readonly string[] => [
  ...labelled(`${role}:`, content === '' ? ' ' : content, 12),
  ...tool_calls.map((call) => `              → ${call.function.name} ${call.function.arguments}`),
];

/** Every step and call with what it was given and what it made, of a run that was asked for whole. */
export function runDataLines(run: RunDetails, shown: RunShown): readonly string[] {
  const none = { input: null, output: null, partial: null };
  const calls = run.calls.flatMap((call) => [
    '',
    callLine(call, run.waits, shown).trimStart(),
    ...value('Arguments', 'json', call.args),
    ...value('Result', 'json', call.result ?? call.result_preview),
  ]);
  const messages = (run.messages ?? []).flatMap(({ message }) => messageLines(message));
  return [
    ...run.steps.flatMap((step) => [...stepLines({ ...none, ...step }, shown), '']),
    ...(calls.length === 0 ? [] : ['Calls', ...calls, '']),
    ...(messages.length === 0 ? [] : ['Messages of the run', ...messages]),
  ];
}
