import type { Asks } from '../asks/asks.ts';
import { exitOf } from '../schema/errors.ts';
import { addUsage, noUsage, type Usage } from '../schema/message.ts';
import type { RunEnd } from '../schema/protocol.ts';
import type { PermissionDenial, RunAsk, RunFailure, RunResult, RunStatus } from '../schema/run.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import type { LiveRun } from './live-run.ts';
import type { Supervised } from './supervisor.ts';

export type FinishDeps = {
  readonly feed: Feed;
  readonly runs: Runs;
  readonly calls: Calls;
  readonly asks: Asks;
  readonly now: () => number;
  readonly mask: <T>(value: T) => T;
  /** The text of an output that is no history, for a session (06 §8.1). */
  readonly outputText: (type: string, value: unknown) => string;
};

type Outcome = { readonly status: RunStatus; readonly exit_code: number; readonly error: RunFailure | null };

/** What the end of the thread and the reason of a stop make of the run. A stop stands before what came after it. */
function outcomeOf(live: LiveRun, end: RunEnd): Outcome {
  const { stopped } = live;
  if (stopped?.kind === 'rest') {
    return stopped.reason === 'interrupted'
      ? { status: 'interrupted', exit_code: 143, error: null }
      : { status: 'suspended', exit_code: 4, error: null };
  }
  if (stopped?.kind === 'timeout') {
    return failed({ class: 'timeout', message: 'the time limit of this invocation (--timeout) has passed' });
  }
  if (stopped?.kind === 'cancel')
    return { status: 'cancelled', exit_code: stopped.by === 'operator:cli' ? 130 : 1, error: null };
  switch (end.kind) {
    case 'completed':
      return { status: end.status, exit_code: end.status === 'exhausted' ? 6 : 0, error: null };
    case 'suspended':
      return { status: 'suspended', exit_code: 4, error: null };
    case 'cancelled':
      return { status: 'cancelled', exit_code: 1, error: null };
    case 'failed':
      return failed(end.error);
  }
}

const failed = (error: RunFailure): Outcome => ({ status: 'failed', exit_code: exitOf(error.class), error });

/**
 * Writes the end of a run, its last event and what it owes its session in one transaction (04 §18.4), and gives the
 * result that every output format is made from.
 */
export function finishRun(deps: FinishDeps, live: LiveRun, supervised: Supervised): RunResult {
  const { gate, turn } = live;
  const runId = gate.ref.run_id;
  const { end } = supervised;
  const outcome = outcomeOf(live, end);
  const at = deps.now();
  const usage: Usage = addUsage(noUsage, supervised.usage);
  const output = end.kind === 'completed' ? deps.mask(end.output) : null;
  const outputType = end.kind === 'completed' ? end.output_type : null;
  const duration = live.clock.active();
  const rests = outcome.status === 'suspended' || outcome.status === 'interrupted';
  if (!rests) deps.asks.cancelOfRun(runId);

  deps.feed.commit('full', (record) => {
    deps.runs.finish(runId, {
      status: outcome.status,
      // A history is the run's transcript: it is not stored a second time.
      output: outputType === 'chat_history' ? { type: outputType } : { type: outputType, value: output },
      error: outcome.error,
      exit_code: outcome.exit_code,
      ...live.chosen,
      usage,
      counters: gate.counters,
      ended_at: rests ? null : at,
    });
    if (rests) deps.runs.releaseLease(runId);
    else deps.runs.deleteState(runId);
    if (turn !== null) {
      if (outcome.error !== null) turn.note(`failed (${outcome.error.class}): ${outcome.error.message}`, at);
      else if (outcome.status === 'cancelled' || outcome.status === 'interrupted') turn.note('interrupted', at);
      else if (outputType !== null && outputType !== 'chat_history')
        turn.output(deps.outputText(outputType, output), at);
    }
    lastEvent(record, live, outcome, { output, outputType, usage, duration, askIds: deps.asks.pendingOfRun(runId) });
  });

  const asks = deps.asks.ofRun(runId);
  const counters = gate.counters;
  return {
    run_id: runId,
    status: outcome.status,
    exit_code: outcome.exit_code,
    error: outcome.error,
    output_type: outputType,
    output,
    session_id: gate.ref.session_id,
    session_name: turn?.session_name ?? null,
    chain: live.started.chain,
    model: live.chosen.model ?? live.started.model,
    provider: live.chosen.provider ?? live.started.provider,
    backend: live.chosen.backend,
    policy: live.started.policy,
    num_turns: counters.turns,
    num_tool_calls: counters.tool_calls,
    executed_tool_calls: deps.calls.executed(runId),
    duration_ms: at - live.startedAt,
    duration_api_ms: counters.api_ms,
    waited_ms: live.clock.waited(),
    usage,
    asks: asks.map(askLine),
    permission_denials: deps.calls.denials(runId).map(denial),
    steps: deps.runs.steps(runId).map(({ index, task_id, task_handler, duration_ms, eval: value, error }) => ({
      index,
      task_id,
      task_handler,
      duration_ms,
      eval: value,
      error,
    })),
    warnings: live.warnings,
  };
}

type LastEvent = {
  readonly output: unknown;
  readonly outputType: string | null;
  readonly usage: Usage;
  readonly duration: number;
  readonly askIds: readonly string[];
};

function lastEvent(record: Record, live: LiveRun, outcome: Outcome, last: LastEvent): void {
  const { gate } = live;
  const numbers = {
    usage: last.usage,
    num_turns: gate.counters.turns,
    num_tool_calls: gate.counters.tool_calls,
    duration_ms: last.duration,
  };
  switch (outcome.status) {
    case 'completed':
    case 'exhausted':
      record(gate.ref, {
        kind: 'chain_completed',
        status: outcome.status,
        exit_code: outcome.exit_code,
        output_type: last.outputType ?? 'nil',
        output: last.outputType === 'chat_history' ? lastMessage(last.output) : last.output,
        ...numbers,
      });
      return;
    case 'suspended':
    case 'interrupted':
      record(gate.ref, {
        kind: 'chain_suspended',
        reason: live.stopped?.kind === 'rest' ? live.stopped.reason : 'ask',
        ask_ids: last.askIds,
        checkpoint_seq: 0,
      });
      return;
    case 'cancelled': {
      const by = live.stopped?.kind === 'cancel' ? live.stopped : { by: 'system:cancelled', reason: 'cancelled' };
      record(gate.ref, { kind: 'chain_cancelled', reason: by.reason, by: by.by, duration_ms: last.duration });
      return;
    }
    default: {
      const error = outcome.error ?? { class: 'internal' as const, message: 'the run ended without saying why' };
      record(gate.ref, {
        kind: 'chain_failed',
        error: {
          class: error.class,
          message: error.message,
          ...(error.root === undefined ? {} : { root: error.root }),
        },
        exit_code: outcome.exit_code,
        ...numbers,
      });
    }
  }
}

/** The event carries the answer, not the transcript, which its `message` events have given already. */
function lastMessage(history: unknown): unknown {
  if (typeof history !== 'object' || history === null) return null;
  const messages: unknown = Reflect.get(history, 'messages');
  return Array.isArray(messages) ? (messages.at(-1) ?? null) : null;
}

const askLine = (ask: ReturnType<Asks['ofRun']>[number]): RunAsk => ({
  id: ask.id,
  kind: ask.kind,
  state: ask.state,
  tools: ask.tools,
  tool: ask.tool,
  summary: ask.summary,
  rule: ask.record.matched_rule,
  created_at: ask.created_at,
  expires_at: ask.expires_at,
  by: ask.verdict?.by ?? null,
  respond: ask.state === 'pending' ? `reins approvals respond ${ask.id} --approve` : null,
});

const denial = (row: ReturnType<Calls['denials']>[number]): PermissionDenial => ({
  tools: row.tools,
  tool: row.tool,
  call_id: row.call_id,
  args: row.args,
  by: row.by,
  rule: row.record?.matched_rule ?? null,
  reason: row.record?.reason ?? row.by,
});
