import { expandMacros, expandStrings, type MacroScope } from '../chain/macros.ts';
import { reads } from '../chain/readers.ts';
import { renderTemplate } from '../chain/template.ts';
import { capInput, durationMs, taskError, type Value } from '../chain/values.ts';
import type { ThinkLevel } from '../models/model.ts';
import type { CompactPolicy, ExecuteConfig, RetryPolicy as RetryBlock, Task } from '../schema/chain.ts';
import { thinkLevel } from '../schema/chain.ts';
import type { Message, ToolSpec } from '../schema/message.ts';
import { oneAttempt, type RetryPolicy } from './retry.ts';
import type { Run } from './run.ts';
import { adopt } from './run.ts';
import type { Step } from './step.ts';

/** What a task says about tools, after its macros (04 §5, §11). */
export type ToolRules = {
  /** The allowlist; null = none given, which exposes nothing. */
  readonly allow: readonly string[] | null;
  readonly hide: readonly string[];
  /** The tools that both leave, sorted. */
  readonly offered: readonly ToolSpec[];
  /** Limits per provider. */
  readonly limits: NonNullable<ExecuteConfig['tools_policies']>;
};

/** `execute_config` after its macros, with every default filled in. */
export type Config = ToolRules & {
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly think: ThinkLevel;
  readonly shift: boolean;
  readonly retry: RetryPolicy;
  readonly compact: CompactPolicy | null;
};

/** An attempt that is ready to be handled. */
export type Prepared = Step & {
  readonly input: Value;
  readonly scope: MacroScope;
  /** The expanded system instruction; empty for none. */
  readonly system: string;
  /** What is sent ahead of the history; the same message for the same text. */
  readonly preface: Message | null;
  readonly config: Config;
};

/** The value that a task takes: its `input_var`, else the previous output. @throws RuntimeError task_error */
export function receive(run: Run, task: Task): Value {
  const { state } = run;
  if (task.input_var === undefined || task.input_var === '' || task.input_var === 'previous_output') {
    return state.previous;
  }
  if (task.input_var === 'input') return state.input;
  const value = Object.hasOwn(state.variables, task.input_var) ? state.variables[task.input_var] : undefined;
  if (value !== undefined) return value;
  throw taskError(
    'missing_variable',
    `task ${task.id} takes its input from "${task.input_var}", which has no value yet`,
  );
}

/**
 * Expands macros, renders the prompt and caps the input, with one instant for all fields of the attempt (04 §10.2).
 * @throws RuntimeError task_error, template_limit, input_too_large
 */
export async function expand(step: Step): Promise<Prepared> {
  const { task, run } = step;
  const rules = toolRules(run, task, step.startedAt);
  const scope = scopeOf(run, task, step.startedAt, rules.offered);
  const config = configOf(run, task, scope, rules);
  const instruction = reads(task.handler, 'system_instruction') ? (task.system_instruction ?? '') : '';
  // A macro at the end may have nothing to say.
  const system = expandMacros(instruction, scope, 'system_instruction').trimEnd();
  const ahead = reads(task.handler, 'preface') ? (task.preface ?? '') : '';
  const preface = run.preface(expandMacros(ahead, scope, 'preface').trim());
  let input = receive(run, task);
  const template = promptTemplate(task);
  if (template !== '') {
    const variables = templateVariables(run);
    const { within } = run.deps;
    const text = await renderTemplate(template, { field: 'prompt_template', scope, variables, within });
    input = { type: 'string', value: text };
  }
  if (task.input_max_bytes !== undefined) {
    input = capInput(input, task.input_max_bytes);
    adopt(run, step.at, input, true);
  }
  step.record.input = input;
  return { ...step, input, scope, system, preface, config };
}

/** The template whose text replaces the input; empty for none. */
export const promptTemplate = ({ handler, prompt_template }: Task): string =>
  reads(handler, 'prompt_template') ? (prompt_template ?? '') : '';

/** All variables of 04 §6.4 as plain values. */
export function templateVariables(run: Run): Readonly<Record<string, unknown>> {
  const { state } = run;
  const plain: Record<string, unknown> = { input: state.input.value, previous_output: state.previous.value };
  for (const [name, value] of Object.entries(state.variables)) plain[name] = value.value;
  return plain;
}

/** The tool rules of a task, also of one that is not being executed: the producer of calls (04 §5). */
export function toolRules(run: Run, task: Task, now: number): ToolRules {
  const config = configGiven(task);
  const scope = scopeOf(run, task, now, []);
  const allow = expandStrings(config.tools ?? null, scope, 'execute_config');
  const hide = expandStrings(config.hide_tools ?? [], scope, 'execute_config');
  const limits = expandStrings(config.tools_policies ?? {}, scope, 'execute_config');
  return { allow, hide, offered: run.offered(allow, hide), limits };
}

const configGiven = ({ handler, execute_config }: Task): ExecuteConfig =>
  reads(handler, 'execute_config') ? (execute_config ?? {}) : {};

function scopeOf(run: Run, task: Task, now: number, tools: readonly ToolSpec[]): MacroScope {
  const { job, chain, state } = run;
  return {
    task_id: task.id,
    chain_id: chain.id,
    variables: job.variables,
    now,
    timezone: job.host.timezone,
    host: job.host,
    tools,
    edge_counts: state.edgeCounts,
  };
}

function configOf(run: Run, task: Task, scope: MacroScope, rules: ToolRules): Config {
  const { tools: _tools, hide_tools: _hide, tools_policies: _limits, ...rest } = configGiven(task);
  const config = expandStrings(rest, scope, 'execute_config');
  const { defaults } = run.job;
  const models = wanted(config.model, config.models);
  return {
    ...rules,
    models: models.length > 0 ? models : wanted(defaults.model, []),
    providers: wanted(config.provider, config.providers),
    temperature: config.temperature ?? null,
    maxTokens: maxTokensOf(task, config.max_tokens),
    think: thinkOf(task, config.think, defaults.think),
    shift: config.shift ?? false,
    retry: retryOf(task, config.retry_policy),
    compact: config.compact_policy ?? null,
  };
}

/** One ordered list without empty names and repetitions. */
const wanted = (first: string | undefined, more: readonly string[] | undefined): readonly string[] => [
  ...new Set([first ?? '', ...(more ?? [])].map((name) => name.trim()).filter((name) => name !== '')),
];

function maxTokensOf(task: Task, value: number | string | undefined): number | null {
  if (value === undefined) return null;
  const text = String(value).trim();
  if (text === '') return null;
  const tokens = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(tokens)) return tokens;
  throw taskError(
    'bad_max_tokens',
    `max_tokens of task ${task.id} is "${text}"; give a whole number of tokens, or nothing`,
  );
}

/** The task's level if it says one, else the level of the invocation (08 §8). */
function thinkOf(task: Task, word: string | undefined, otherwise: string): ThinkLevel {
  const said = word === undefined || word.trim() === '' ? otherwise : word;
  const level = thinkLevel(said);
  if (level !== null) return level;
  throw taskError(
    'bad_think',
    `think of task ${task.id} is "${said}"; use auto, off, minimal, low, medium, high or xhigh`,
  );
}

function retryOf(task: Task, block: RetryBlock | undefined): RetryPolicy {
  if (block === undefined) return oneAttempt;
  const ms = (name: 'initial_backoff' | 'max_backoff' | 'rate_limit_min_wait', otherwise: number): number => {
    const value = block[name] ?? '';
    if (typeof value === 'string' && value.trim() === '') return otherwise;
    const read = durationMs(typeof value === 'string' ? value.trim() : value);
    if (read !== null) return read;
    throw taskError(
      'bad_duration',
      `${name} of task ${task.id} is "${value}"; give a duration above zero, such as 500ms or 1m30s`,
    );
  };
  return {
    maxAttempts: Math.max(1, block.max_attempts ?? 1),
    initialBackoffMs: ms('initial_backoff', oneAttempt.initialBackoffMs),
    maxBackoffMs: ms('max_backoff', oneAttempt.maxBackoffMs),
    jitter: block.jitter ?? 0,
    rateLimitMinWaitMs: ms('rate_limit_min_wait', 0),
    fallbackModelId: block.fallback_model_id?.trim() || null,
    fallbackAfter: block.fallback_after ?? 0,
  };
}
