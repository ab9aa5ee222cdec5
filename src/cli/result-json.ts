import { shownClass } from '../schema/errors.ts';
import type { RunEvent } from '../schema/event.ts';
import { noUsage } from '../schema/message.ts';
import type { RunResult, RunStarted } from '../schema/run.ts';
import type { Failure } from './report-error.ts';

/** The object of 06 §8.4, keys in their fixed order. */
export type ResultObject = Readonly<Record<string, unknown>>;

/** A turn as `chat --last` gives it with a JSON format (07 §2.5). */
export type Turn = {
  readonly user: string;
  readonly assistant: string;
  readonly at: string;
  readonly status: string;
  readonly run_id: string | null;
};

export type ResultExtras = {
  readonly exit: number;
  /** Why the exit code is not that of the run, when it is not. */
  readonly error: { readonly class: string; readonly message: string } | null;
  /** The next step after a failure, as a command; null when there is none to give. */
  readonly hint: string | null;
  readonly warnings: readonly string[];
  /** The compute bound that was hit last, as events name it. */
  readonly bound: string | null;
  readonly turns?: readonly Turn[];
};

/** @param result of `awaitRun` with `full` */
export function resultObject(result: RunResult, extras: ResultExtras): ResultObject {
  const failure = result.error ?? extras.error;
  const usage = result.usage;
  return {
    schema_version: 1,
    type: 'result',
    subtype: subtypeOf(result, extras),
    is_error: extras.exit !== 0 && extras.exit !== 4,
    result: result.text,
    output_type: result.output_type,
    output: result.output ?? null,
    run_id: result.run_id,
    session_id: result.session_id,
    session_name: result.session_name,
    plan: result.plan,
    chain: result.chain,
    model: result.model,
    provider: result.provider,
    backend: result.backend,
    policy: policyObject(result.policy),
    num_turns: result.num_turns,
    num_tool_calls: result.num_tool_calls,
    duration_ms: result.duration_ms,
    duration_api_ms: result.duration_api_ms,
    waited_ms: result.waited_ms,
    usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      reasoning_tokens: usage.reasoning_tokens,
      cached_input_tokens: usage.cached_input_tokens,
      total_tokens: usage.total_tokens,
      estimated: usage.estimated,
    },
    asks: result.asks,
    permission_denials: result.permission_denials,
    steps: result.steps,
    warnings: extras.warnings,
    error:
      failure === null ? null : { ...errorObject(failure), ...(extras.hint === null ? {} : { hint: extras.hint }) },
    exit_code: extras.exit,
    ...(extras.turns === undefined ? {} : { turns: extras.turns }),
  };
}

const policyObject = (policy: RunResult['policy']) => ({
  name: policy.name,
  source: policy.source,
  path: policy.path,
  sha256: policy.sha256,
  state: policy.state,
});

export type ShownError = {
  readonly class: string;
  readonly message: string;
  readonly task_id?: string;
  readonly root?: string;
};

/** What failed, behind what first went wrong where that was something else (04 §15.4). */
export const wholeMessage = ({ message, root }: ShownError): string =>
  root === undefined || message.includes(root) ? message : `${root}; then ${message}`;

const errorObject = (error: ShownError) => ({
  class: shownClass(error.class),
  message: wholeMessage(error),
  ...(error.task_id === undefined ? {} : { task_id: error.task_id }),
});

/** The same object for what failed before there was a run. */
export function failedObject(failure: Failure): ResultObject {
  const empty = { name: null, source: null, path: null, sha256: null, state: null };
  return {
    schema_version: 1,
    type: 'result',
    subtype: subtypeOfExit(failure.exit, null),
    is_error: true,
    result: '',
    output_type: null,
    output: null,
    run_id: null,
    session_id: null,
    session_name: null,
    plan: null,
    chain: { id: null, path: null, sha256: null },
    model: null,
    provider: null,
    backend: null,
    policy: empty,
    num_turns: 0,
    num_tool_calls: 0,
    duration_ms: 0,
    duration_api_ms: 0,
    waited_ms: 0,
    usage: noUsage,
    asks: [],
    permission_denials: [],
    steps: [],
    warnings: [],
    error: {
      ...errorObject({ class: failure.code, message: [failure.message, ...failure.findings].join('\n') }),
      ...(failure.hints[0] === undefined ? {} : { hint: failure.hints[0] }),
    },
    exit_code: failure.exit,
  };
}

function subtypeOf(result: RunResult, extras: ResultExtras): string {
  if (result.status === 'suspended') return 'suspended';
  if (result.status === 'interrupted') return 'interrupted';
  if (result.status === 'cancelled') return 'cancelled';
  return subtypeOfExit(extras.exit, extras.bound);
}

function subtypeOfExit(exit: number, bound: string | null): string {
  switch (exit) {
    case 0:
      return 'success';
    case 2:
    case 3:
      return 'error_invalid';
    case 4:
      return 'suspended';
    case 5:
      return 'error_denied';
    case 6:
      return bound === 'maxTurns' ? 'error_max_turns' : 'error_bound';
    case 7:
      return 'error_provider';
    case 124:
      return 'error_timeout';
    case 130:
      return 'cancelled';
    case 143:
      return 'interrupted';
    default:
      return 'error_during_execution';
  }
}

/** One line of `stream-json`: JSON text is safe for readers that split at U+2028 too (06 §8.5). */
export const streamLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;

/** The first line of `stream-json`. `started` is null when nothing could be started. */
export function initObject(started: RunStarted | null, timestamp: string, cwd: string): ResultObject {
  const servers = started?.servers ?? [];
  return {
    type: 'init',
    seq: 1,
    timestamp,
    run_id: started?.run_id ?? null,
    schema_version: 1,
    session_id: started?.session_id ?? null,
    ...(started?.plan == null ? {} : { plan: started.plan }),
    chain: started === null ? null : { id: started.chain.id, sha256: started.chain.sha256 },
    model: started?.model ?? null,
    provider: started?.provider ?? null,
    backend: started?.backend ?? null,
    policy:
      started === null
        ? null
        : {
            name: started.policy.name,
            source: started.policy.source,
            sha256: started.policy.sha256,
            state: started.policy.state,
          },
    cwd: started?.cwd ?? cwd,
    tools: started?.tools ?? [],
    mcp_servers: servers.map(({ name, status }) => ({ name, status })),
    mcp_server_errors: servers.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }])),
    capabilities: ['asks'],
  };
}

/** An event as a line of `stream-json`; `seq` counts lines, a stored event carries its own number as `event_seq`. */
export function eventObject(event: RunEvent, seq: number): ResultObject {
  const { v: _version, kind, seq: stored, timestamp, run_id, session_id: _session, chain_id: _chain, ...own } = event;
  return { type: kind, seq, ...(stored > 0 ? { event_seq: stored } : {}), timestamp, run_id, ...own };
}
