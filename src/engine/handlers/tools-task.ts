import { renderTemplate } from '../../chain/template.ts';
import { narrow, strictNumber, taskError, type Value } from '../../chain/values.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { Message, ToolSpec } from '../../schema/message.ts';
import type { ToolOutcome } from '../../schema/protocol.ts';
import { type Prepared, templateVariables } from '../expand.ts';
import { type Failure, failed, failure, finalFailure, type Handled } from '../failure.ts';
import { lastReport } from '../finish.ts';
import { recordMessage } from '../run.ts';
import { historyOf, historyValue } from '../run-state.ts';
import { timeLeft } from '../task-clock.ts';
import { timedOut } from '../turn.ts';
import { mergeLimits } from './tool-round.ts';
import { inexactIntegers, parseExactJson } from '../../text/exact-json.ts';
import { isObject, type JsonObject } from '../../text/json-object.ts';
import { readStrictJson } from '../../text/strict-json.ts';

/**
 * `tools` (04 §7.3): one tool without a model, through the same gate. @throws RuntimeError task_error, template_limit
 */
export async function callOneTool(step: Prepared): Promise<Handled> {
  const { run, task, config, clock } = step;
  const name = toolName(step);
  const { args, stray } = await argumentsOf(step, name);
  step.record.toolNames = [name];
  await run.checkpoint('call');
  const startedAt = run.deps.now();
  const outcome = await clock.outside(() =>
    run.host.callTool({
      task_id: task.id,
      attempt: step.at.attempt,
      call_id: callId(step),
      name,
      arguments: JSON.stringify(args),
      batch_index: 0,
      batch_size: 1,
      allow: [null],
      hide: [],
      limits: mergeLimits({}, config.limits),
      offered: run.tools.map((tool) => `${tool.tools}.${tool.tool}`),
      direct: true,
      max_result_bytes: run.job.defaults.max_tool_result_bytes,
      ...timeLeft(clock),
    }),
  );
  const waited = outcome.kind === 'result' ? (outcome.waited_ms ?? 0) : 0;
  clock.charge(Math.max(0, run.deps.now() - startedAt - waited));
  switch (outcome.kind) {
    case 'suspended':
      return outcome;
    case 'fatal':
      return failed(finalFailure(outcome.error.code, outcome.error.message));
    case 'finish':
      return lastReport(step, historyOf(step.input) ?? { messages: [] }, outcome);
    case 'result':
      return outcome.ok ? succeeded(step, outcome) : failed(refusal(step, name, outcome, stray));
  }
}

/**
 * The same for every resume of this visit, so that the gate knows the call again: a call with a recorded outcome is
 * never made twice, by no retry either (04 §15.1, 03 §11). After a call that did not run comes another call.
 */
function callId(step: Prepared): string {
  const run = step.run.job.run_id
    .replace(/^run_/, '')
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 80);
  return `call_${run}_${step.run.state.moves}_${step.run.state.callTries}`;
}

/** `tool_name`, or the provider's only tool, or its tool of the same name. */
function toolName(step: Prepared): string {
  const { tools } = step.task;
  if (tools === undefined) throw taskError('missing_tools_block', `task ${step.task.id} names no tool`);
  if (tools.tool_name !== undefined && tools.tool_name !== '') return `${tools.name}.${tools.tool_name}`;
  const own = step.run.tools.filter((tool) => tool.tools === tools.name);
  const only = own.length === 1 ? own[0] : own.find((tool) => tool.tool === tools.name);
  if (only !== undefined) return `${only.tools}.${only.tool}`;
  if (own.length === 0) {
    const mend = tools.name === 'local_shell' ? '; pass --shell' : '';
    throw taskError(
      'not_found',
      `task ${step.task.id} names the provider "${tools.name}", which is not available in this run${mend}`,
    );
  }
  throw taskError(
    'missing_tool_name',
    `task ${step.task.id} names the provider "${tools.name}", which has ${own.length} tools here; give tools.tool_name`,
  );
}

type Given = {
  readonly args: JsonObject;
  /** Names of those that are members of the input: the author has not written them, and the tool knows none of them. */
  readonly stray: ReadonlySet<string>;
};

/** The input, if it is an object, and over it the rendered `args`. */
async function argumentsOf(step: Prepared, name: string): Promise<Given> {
  const { input, run, task } = step;
  const spec = run.tools.find((tool) => `${tool.tools}.${tool.tool}` === name);
  const given = task.tools?.args ?? {};
  const variables = templateVariables(run);
  const render = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') {
      const { within } = run.deps;
      return renderTemplate(value, { field: 'tools.args', scope: step.scope, variables, within });
    }
    if (Array.isArray(value)) return Promise.all(value.map(render));
    if (!isObject(value)) return value;
    const members: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) members[key] = await render(member);
    return members;
  };
  const args: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const rendered = await render(value);
    args[key] = typeof value === 'string' && typeof rendered === 'string' ? convert(rendered, key, spec) : rendered;
  }
  const takesInput = spec !== undefined && propertyOf(spec, 'input') !== undefined;
  const object = objectOf(input, takesInput || Object.keys(args).length > 0);
  if (object !== null) {
    const unknown = (key: string) => spec !== undefined && propertyOf(spec, key) === undefined;
    const stray = new Set(Object.keys(object).filter((key) => !Object.hasOwn(args, key) && unknown(key)));
    return { args: { ...object, ...args }, stray };
  }
  const passed = takesInput && !Object.hasOwn(args, 'input') && input.type !== 'nil' ? { input: input.value } : {};
  return { args: { ...passed, ...args }, stray: new Set() };
}

/**
 * The object that an input is, or that its text is as JSON: what a model writes is text (04 §6.1).
 * @param asText a text stays one: the tool takes it as `input`, or the author has named the arguments, and a file that was
 * read before would add its members to them
 */
function objectOf({ type, value }: Value, asText: boolean): JsonObject | null {
  if (type === 'json') return isObject(value) ? value : null;
  if (type !== 'string' || asText || typeof value !== 'string' || !value.trimStart().startsWith('{')) return null;
  const read = readStrictJson(value, mostDepth);
  if (!read.ok || read.duplicates.length > 0 || !isObject(read.value)) return null;
  const exact = parseExactJson(value);
  return isObject(exact) ? exact : null;
}

/** Of arguments (04 §14.2.3). */
const mostDepth = 64;

function propertyOf(spec: ToolSpec, key: string): unknown {
  const properties = spec.input_schema['properties'];
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** A rendered text as the type that the tool's schema declares for it. */
function convert(text: string, key: string, spec: ToolSpec | undefined): unknown {
  const types = spec === undefined ? [] : typesOf(propertyOf(spec, key));
  const converted = types.filter((type) => Object.hasOwn(conversions, type));
  if (converted.length === 0 || types.includes('string')) return text;
  for (const type of converted) {
    const value = conversions[type]?.(text) ?? null;
    if (value !== null) return value;
  }
  const what = strictNumber(text) === null ? '' : ' that keeps all its digits';
  const message = `invalid_arguments: "${text.slice(0, 200)}" given for the argument "${key}" is no ${converted.join(' or ')}${what}`;
  throw new RuntimeError('tool_error', message);
}

/** A long integer that a number does not keep is none: another number names another thing. */
const exactNumber = (text: string): number | null =>
  inexactIntegers(text.trim()).length > 0 ? null : strictNumber(text);

const conversions: Readonly<Record<string, (text: string) => unknown>> = {
  boolean: (text) => (/^(?:true|false)$/.test(text.trim()) ? text.trim() === 'true' : null),
  integer: (text) => (Number.isInteger(exactNumber(text)) ? exactNumber(text) : null),
  number: exactNumber,
};

/** The types that a schema names: one, several, or those of its alternatives (`anyOf` a number and null). */
function typesOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  const { type, anyOf, oneOf } = schema;
  const alternatives = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const own = [type].flat().filter((each): each is string => typeof each === 'string');
  return [...own, ...alternatives.flatMap((each) => (isObject(each) ? [each['type']].flat().map(String) : []))];
}

type Result = Extract<ToolOutcome, { kind: 'result' }>;

async function succeeded(step: Prepared, outcome: Result): Promise<Handled> {
  const { run, task } = step;
  const value = narrow(outcome.value === undefined ? outcome.content : outcome.value, run.fresh);
  if (task.output_template !== undefined && task.output_template !== '') {
    const text = await renderTemplate(task.output_template, {
      field: 'output_template',
      scope: step.scope,
      variables: templateVariables(run),
      output: { value: value.value },
      within: run.deps.within,
    });
    return { kind: 'done', output: { type: 'string', value: text }, evalText: text };
  }
  const history = historyOf(value);
  if (history === null) return { kind: 'done', output: value, evalText: 'tools_executed' };
  // A tool may hand back a history; its messages are the run's from here on, but nobody said them in the session.
  const messages = history.messages.map(withoutAuthority);
  for (const message of run.ledger.unknown(messages)) recordMessage(run, step.at, message, true);
  return { kind: 'done', output: historyValue({ ...history, messages }), evalText: 'tools_executed' };
}

/** What a tool hands back is data: the system place of a request is the chain's alone. */
const withoutAuthority = (message: Message): Message =>
  message.role === 'system' ? { ...message, role: 'user' } : message;

/** Classes of 05 §11 whose call certainly did not run, so that another attempt repeats nothing. */
const didNotRun: ReadonlySet<string> = new Set([
  'busy',
  'unavailable',
  'network_error',
  'spawn_failed',
  'quarantined',
  'needs_auth',
  'missing_secret',
]);

function refusal(step: Prepared, name: string, outcome: Result, stray: ReadonlySet<string>): Failure {
  const error = outcome.error ?? 'tool_error';
  const origin = error === 'invalid_arguments' ? originOf(outcome.content, stray) : '';
  const message = `${name}: ${error}: ${messageOf(outcome.content)}${origin}`;
  if (error === 'denied') return failure('denied', message);
  if (step.clock.leftMs() <= 0) return timedOut(step);
  const retriable = didNotRun.has(error);
  if (retriable) step.run.state.callTries += 1;
  return { ...failure('tool_error', message), retriable };
}

/** Where a refused argument is from, if not from `tools.args`: whoever reads the chain does not find it there. */
function originOf(content: string, stray: ReadonlySet<string>): string {
  const path = readError(content)?.['path'];
  if (typeof path !== 'string' || !stray.has(path)) return '';
  return " It is a member of the task's input: those of an object are passed as arguments. Give input_var an input that is no object, or let the task before it have an output_template.";
}

/** The sentence of an error result, or its text. */
function messageOf(content: string): string {
  const message = readError(content)?.['message'];
  return typeof message === 'string' ? message : content.slice(0, 1000);
}

/** An error result; null where it is a tool's own words. */
function readError(content: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
