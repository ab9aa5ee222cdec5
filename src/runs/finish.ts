import type { Asks } from '../asks/asks.ts';
import { verdictFor } from '../schema/ask.ts';
import { exitOf, shownClass } from '../schema/errors.ts';
import type { Usage } from '../schema/message.ts';
import type { HistoryRanges, RunEnd } from '../schema/protocol.ts';
import type { PermissionDenial, RunAsk, RunFailure, RunResult, RunStatus } from '../schema/run.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Plans } from '../store/plans.ts';
import { takenOverText } from '../store/run-leases.ts';
import type { StoredOutput } from '../store/run-output.ts';
import type { Runs } from '../store/runs.ts';
import type { LiveRun } from './live-run.ts';
import { lastAnswer, materialise, outputText, type RunMessages, runMessages } from './output.ts';
import type { Supervised } from './supervisor.ts';

export type FinishDeps = {
  readonly feed: Feed;
  readonly runs: Runs;
  readonly calls: Calls;
  readonly asks: Asks;
  readonly plans: Pick<Plans, 'rests' | 'settles'>;
  readonly now: () => number;
  readonly mask: <T>(value: T) => T;
};

export type Finished = {
  readonly result: RunResult;
  /** The whole output; a history is read from its rows. */
  output(): unknown;
};

type Outcome = { readonly status: RunStatus; readonly exit_code: number; readonly error: RunFailure | null };

/** What the end of the thread and the reason of a stop make of the run. A stop stands before what came after it. */
function outcomeOf(live: LiveRun, end: RunEnd, held: boolean): Outcome {
  const { stopped } = live;
  if (!held) return failed({ class: 'storage', message: takenOverText });
  if (stopped?.kind === 'rest') {
    return stopped.reason === 'interrupted'
      ? { status: 'interrupted', exit_code: 143, error: null }
      : { status: 'suspended', exit_code: 4, error: null };
  }
  if (stopped?.kind === 'timeout') {
    const before = live.retried === null ? '' : `; before that: ${live.retried}`;
    return failed({ class: 'timeout', message: `the time limit of this invocation (--timeout) has passed${before}` });
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

/** An output as faces get it: its text, the value for the last event, its row, and the whole of it on demand. */
type Output = {
  readonly type: string | null;
  readonly text: string;
  readonly shown: unknown;
  readonly stored: StoredOutput | null;
  whole(): unknown;
};

const nothing: Output = { type: null, text: '', shown: null, stored: null, whole: () => null };

function outputOf(deps: FinishDeps, live: LiveRun, { end, last }: Supervised): Output {
  if (end.kind !== 'completed') return nothing;
  const type = end.output_type;
  if (type !== 'chat_history') {
    const value = deps.mask(end.output);
    const text = outputText(type, value);
    return { type, text, shown: value, stored: { type, text }, whole: () => value };
  }
  // The engine ends a history as ranges of the run's message numbers.
  const ranges = end.output as HistoryRanges;
  let read: RunMessages | undefined;
  const messages = (): RunMessages => {
    read ??= runMessages(live.job.base_messages, deps.runs.messages(live.gate.ref.run_id));
    return read;
  };
  // Mostly the answer was stored last; it is not read again then.
  const answer = lastAnswer(ranges, {
    at: (number) => (number === last?.number ? last.message : messages().at(number)),
  });
  const whole = (): unknown => materialise(ranges, messages());
  const text = answer?.message.content ?? outputText('json', whole());
  const own = answer !== null && answer.number === last?.number;
  // The run's own message is not stored a second time.
  return {
    type,
    text,
    shown: answer?.message ?? null,
    stored: own ? { type, message: last.number } : { type, text },
    whole,
  };
}

/** How a run ended, and what came of it. */
type Ending = {
  readonly live: LiveRun;
  readonly outcome: Outcome;
  readonly output: Output;
  readonly usage: Usage;
  /** It may go on: its row keeps its calls, its asks and its state. */
  readonly rests: boolean;
};

/**
 * Writes the end of a run, its last event and what it owes its session in one transaction (04 §18.4), and gives the
 * result that every output format is made from.
 */
export function finishRun(deps: FinishDeps, live: LiveRun, supervised: Supervised): Finished {
  const { gate } = live;
  const runId = gate.ref.run_id;
  // Whoever lost the lease writes nothing more for the run (11 §2.9).
  const held = deps.runs.holdsLease(runId, gate.owner);
  const outcome = deps.mask(outcomeOf(live, supervised.end, held));
  const at = deps.now();
  const { usage } = supervised;
  const output =
    outcome.status === 'completed' || outcome.status === 'exhausted' ? outputOf(deps, live, supervised) : nothing;
  const rests = outcome.status === 'suspended' || outcome.status === 'interrupted';
  const ending: Ending = { live, outcome, output, usage, rests };
  if (held && !rests) deps.asks.cancelOfRun(runId);

  deps.feed.commit('full', (record) => {
    if (!deps.runs.holdsLease(runId, gate.owner)) return;
    if (!rests) deps.calls.settleOpen(runId, at);
    deps.runs.finish(runId, {
      status: outcome.status,
      output: output.stored,
      error: outcome.error,
      exit_code: outcome.exit_code,
      ...(gate.chosen ?? { model: null, provider: null, backend: null }),
      usage,
      counters: gate.counters,
      ended_at: rests ? null : at,
    });
    if (rests) deps.runs.releaseLease(runId);
    else deps.runs.deleteState(runId);
    if (live.kind === 'plan_step') {
      if (outcome.status === 'suspended') deps.plans.rests(runId);
      else if (!rests) deps.plans.settles(runId, gate.owner, at);
    }
    tellSession(deps, ending, at);
    lastEvent(record, ending, () => ({
      ask_ids: deps.asks.pendingOfRun(runId),
      checkpoint_seq: deps.runs.checkpointSeq(runId),
    }));
  });

  return { result: resultOf(deps, ending), output: output.whole };
}

function tellSession(deps: FinishDeps, { live, outcome, output, rests }: Ending, at: number): void {
  const { turn, gate } = live;
  if (turn === null) return;
  const { status, error } = outcome;
  // A thread that was ended could not say what became of them.
  if (!rests && output.type === null) turn.closeCalls(deps.calls.results(gate.ref.run_id), deps.mask, at);
  if (error !== null) turn.note(error, at);
  else if (status === 'cancelled' || status === 'interrupted') turn.note(null, at);
  else if (output.type !== null && (status === 'completed' || status === 'exhausted')) {
    turn.output({ status, type: output.type, text: output.text }, at);
  }
}

/** What every output format is made from (06 §8.4). */
function resultOf(deps: FinishDeps, { live, outcome, output, usage }: Ending): RunResult {
  const { ref, counters } = live.gate;
  const runId = ref.run_id;
  return {
    run_id: runId,
    status: outcome.status,
    exit_code: outcome.exit_code,
    error: outcome.error,
    output_type: output.type,
    text: output.text,
    output: output.type === 'chat_history' ? null : output.shown,
    session_id: ref.session_id,
    session_name: live.turn?.session_name ?? null,
    plan: live.started.plan,
    chain: live.started.chain,
    model: live.gate.chosen?.model ?? live.started.model,
    provider: live.gate.chosen?.provider ?? live.started.provider,
    backend: live.gate.chosen?.backend ?? null,
    policy: live.started.policy,
    num_turns: counters.turns,
    num_tool_calls: counters.tool_calls,
    executed_tool_calls: deps.calls.executed(runId),
    duration_ms: live.clock.active() + live.clock.waited(),
    duration_api_ms: counters.api_ms,
    waited_ms: live.clock.waited(),
    usage,
    asks: deps.asks.ofRun(runId).map(askLine),
    permission_denials: deps.calls.denials(runId).map(denial),
    steps: deps.runs.steps(runId).map(({ task_id, task_handler, duration_ms, eval: value, error }, place) => ({
      // From 1, as people and programs read it (06 §8.4).
      index: place + 1,
      task_id,
      task_handler,
      duration_ms,
      eval: value,
      error,
    })),
    warnings: live.warnings,
  };
}

function lastEvent(
  record: Record,
  { live, outcome, output, usage }: Ending,
  rest: () => { readonly ask_ids: readonly string[]; readonly checkpoint_seq: number },
): void {
  const { gate } = live;
  const duration_ms = live.clock.active();
  const numbers = { usage, num_turns: gate.counters.turns, num_tool_calls: gate.counters.tool_calls, duration_ms };
  switch (outcome.status) {
    case 'completed':
    case 'exhausted':
      record(gate.ref, {
        kind: 'chain_completed',
        status: outcome.status,
        exit_code: outcome.exit_code,
        output_type: output.type ?? 'nil',
        // The answer; the transcript has been given by the `message` events.
        output: output.shown,
        ...numbers,
      });
      return;
    case 'suspended':
    case 'interrupted':
      record(gate.ref, {
        kind: 'chain_suspended',
        reason: live.stopped?.kind === 'rest' ? live.stopped.reason : live.resting ? 'shutdown' : 'ask',
        ...rest(),
      });
      return;
    case 'cancelled': {
      const by = live.stopped?.kind === 'cancel' ? live.stopped : { by: 'system:cancelled', reason: 'cancelled' };
      record(gate.ref, { kind: 'chain_cancelled', reason: by.reason, by: by.by, duration_ms });
      return;
    }
    default: {
      const error = outcome.error ?? { class: 'internal' as const, message: 'the run ended without saying why' };
      record(gate.ref, {
        kind: 'chain_failed',
        error: {
          class: shownClass(error.class),
          message: error.message,
          ...(error.root === undefined ? {} : { root: error.root }),
        },
        exit_code: outcome.exit_code,
        ...numbers,
      });
    }
  }
}

/** An ask as a result lists it (06 §8.4). */
export const askLine = (ask: ReturnType<Asks['ofRun']>[number]): RunAsk => ({
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
  respond: ask.state === 'pending' ? `reins approvals respond ${ask.id} ${verdictFor(ask.kind)}` : null,
});

/** A denied call as a result lists it (06 §8.4). */
export const denial = (row: ReturnType<Calls['denials']>[number]): PermissionDenial => ({
  tools: row.tools,
  tool: row.tool,
  call_id: row.call_id,
  args: row.args,
  by: row.by,
  rule: row.record?.matched_rule ?? null,
  reason: row.record?.reason ?? row.by,
});
