import type { History, Message, ToolCallPart } from '../../schema/message.ts';
import type { CallRequest, ToolOutcome } from '../../schema/protocol.ts';
import { type Prepared, type ToolRules, toolRules } from '../expand.ts';
import { begunCalls, failed, failure, finalFailure, type Handled, handledError, stoppedBy } from '../failure.ts';
import { type Bound, lastReport } from '../finish.ts';
import { append, earlierResult, type OwnResult, ownResult, recordUnsent, resultMessage } from '../messages.ts';
import { callKey, checkRepetition, countRefused, countResult, fingerprint, repetitionNote } from '../repetition.ts';
import { notice } from '../step.ts';
import { timeLeft } from '../task-clock.ts';
import { resultCap } from '../window.ts';

/** Calls of one message beyond this many are refused (04 §14.3.5). */
const longestBatch = 64;

/** The calls of one assistant message that have no result yet, with their place in the message. */
export type Batch = {
  readonly message: Message;
  readonly size: number;
  readonly open: readonly { readonly call: ToolCallPart; readonly index: number }[];
};

/** What is to be done with the next call: the engine answers it itself, the gate is asked, or the run ends. */
export type Verdict =
  | { readonly kind: 'answer'; readonly result: OwnResult }
  /** Made before, in a history that has grown since from this one: it is not made twice (03 §11.5). */
  | { readonly kind: 'known'; readonly result: Message }
  | { readonly kind: 'ask_host' }
  | { readonly kind: 'loop'; readonly handled: Handled };

export type Sent = { readonly outcome: ToolOutcome } | { readonly error: unknown };

/** One round: the history with the results so far. `at` counts the open calls of the batch from 0. */
export type ToolRound = {
  history(): History;
  /** How the call at this place is met, before it is sent. */
  judge(at: number): Verdict;
  /** Gives the call a result that the engine writes itself. */
  answer(at: number, result: OwnResult): void;
  /** Gives the call the result again that it had. */
  repeat(at: number, result: Message): void;
  /** Gives every call from here on the result that it was not executed. */
  leave(from: number): void;
  /** The end of the calls that may be sent together with the one at `at` (04 §14.3.2). */
  groupEnd(at: number): number;
  requests(from: number, to: number): readonly CallRequest[];
  /** Appends what came back, in call order (04 §14.3.3). Not null: the round ends with this. */
  take(from: number, sent: readonly Sent[]): Promise<Handled | null>;
  /** Ends the round of an aborted run, whose calls from here on were not sent. */
  stop(from: number): Promise<Handled>;
};

export function openRound(step: Prepared, start: History, batch: Batch): ToolRound {
  const { run, config } = step;
  const rules = rulesOf(step, batch.message);
  const wasCut = start.finish_reason === 'length' && start.messages.at(-1) === batch.message;
  let history = start;

  const callAt = (at: number): ToolCallPart => {
    const open = batch.open[at];
    if (open === undefined) throw new RangeError(`the batch has no open call ${at}`);
    return open.call;
  };
  const keyAt = (at: number): string => {
    const { name, arguments: args } = callAt(at).function;
    return callKey(name, args);
  };
  const add = (result: Message): void => {
    history = append(step, history, result);
    run.state.working = history;
  };
  const addOwn = (at: number, kind: OwnResult): void => add(ownResult(run, callAt(at), kind));
  /** The result of a call that was not sent. */
  const addUnsent = (at: number, kind: OwnResult): void => {
    const result = ownResult(run, callAt(at), kind);
    if (kind !== 'cancelled') recordUnsent(run, callAt(at), batch.open[at]?.index ?? 0, result, step.startedAt);
    add(result);
  };
  const leave = (from: number): void => {
    for (let at = from; at < batch.open.length; at += 1) addUnsent(at, 'not_executed');
  };
  /** What is said of a call without an outcome when the run was aborted: one whose question was open has not begun. */
  const leftBy = (begun: ReturnType<typeof begunCalls>, at: number, wasSent: boolean): OwnResult =>
    (begun === null ? wasSent : begun.has(callAt(at).id)) ? 'cancelled' : 'not_executed';

  const addResult = (at: number, content: string, isError: boolean): void => {
    const call = callAt(at);
    run.state.repetition = countResult(run.state.repetition, keyAt(at), fingerprint(content));
    const note = repetitionNote(run.state.repetition);
    if (note !== null) notice(step, 'repetition', `${call.function.name}: ${note}`);
    add(resultMessage(run, call, note === null ? content : `${content}\n${note}`, isError));
  };

  const judge = (at: number): Verdict => {
    const known = earlierResult(run, batch.message, callAt(at));
    if (known !== undefined) return { kind: 'known', result: known };
    if ((batch.open[at]?.index ?? 0) >= longestBatch) return { kind: 'answer', result: 'too_many_calls' };
    const check = checkRepetition(run.state.repetition, keyAt(at));
    const { name, arguments: args } = callAt(at).function;
    if (check.kind === 'loop') {
      const message = `the same call of ${name} was made ${check.times} times with the same result`;
      return { kind: 'loop', handled: failed(failure('loop_detected', message)) };
    }
    if (check.kind === 'refuse') return { kind: 'answer', result: 'repeated_call' };
    if (wasCut && !isJson(args)) return { kind: 'answer', result: 'invalid_arguments' };
    return { kind: 'ask_host' };
  };

  const isReadOnly = (at: number): boolean => {
    const { name } = callAt(at).function;
    return run.tools.some((tool) => tool.read_only && `${tool.tools}.${tool.tool}` === name);
  };

  /** The results so far are in the checkpoint that the run rests at. */
  const rest = async (): Promise<Handled> => {
    // An aborted run may not be served any more; then it goes on from the checkpoint before.
    await run.checkpoint('rest').catch((error: unknown) => {
      if (!run.signal.aborted) throw error;
    });
    return { kind: 'suspended' };
  };

  const requests = (from: number, to: number): readonly CallRequest[] => {
    const common = {
      task_id: step.task.id,
      attempt: step.at.attempt,
      batch_size: batch.size,
      allow: [rules.allow, config.allow].map((list) => (list === null ? null : [...list])),
      hide: [...rules.hide, ...config.hide],
      limits: mergeLimits(rules.limits, config.limits),
      offered: rules.offered.map((tool) => `${tool.tools}.${tool.tool}`),
      direct: false,
      max_result_bytes: resultCap(run, history.messages),
      ...timeLeft(step.clock),
    };
    return batch.open.slice(from, to).map(({ call, index }) => ({
      ...common,
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      batch_index: index,
    }));
  };

  /** Everything that this batch will ask is asked before the run rests, so that a person can answer it at once (03 §10). */
  const askRest = async (from: number): Promise<void> => {
    for (let at = from; at < batch.open.length; at += 1) {
      if (judge(at).kind !== 'ask_host') continue;
      for (const request of requests(at, at + 1)) await run.host.callTool({ ...request, ask_only: true });
    }
  };

  const stop = async (from: number): Promise<Handled> => {
    const stopped = stoppedBy(run.signal);
    if (stopped.kind === 'suspended') return rest();
    const begun = begunCalls(run.signal);
    for (let at = from; at < batch.open.length; at += 1) addUnsent(at, leftBy(begun, at, false));
    return stopped;
  };

  return {
    history: () => history,
    judge,
    leave,
    stop,
    repeat: (at, { content, is_error }) => add(resultMessage(run, callAt(at), content, is_error === true)),

    answer(at, result) {
      if (result === 'repeated_call') run.state.repetition = countRefused(run.state.repetition);
      addUnsent(at, result);
    },

    groupEnd(at) {
      let end = at + 1;
      if (!isReadOnly(at)) return end;
      const most = Math.min(batch.open.length, at + Math.max(1, run.job.defaults.tool_parallelism));
      // A repetition of the call before must see that call's result first (04 §14.8.2).
      while (end < most && isReadOnly(end) && keyAt(end) !== keyAt(end - 1) && judge(end).kind === 'ask_host') end += 1;
      return end;
    },

    requests,

    async take(from, sent) {
      let bound: Bound | null = null;
      let end: Handled | null = null;
      for (const [offset, each] of sent.entries()) {
        const at = from + offset;
        if ('error' in each) {
          const handled = handledError(each.error, run.signal);
          if (handled.kind === 'suspended') return rest();
          addOwn(at, handled.kind === 'cancelled' ? leftBy(begunCalls(run.signal), at, true) : 'interrupted');
          end ??= handled;
          continue;
        }
        const { outcome } = each;
        switch (outcome.kind) {
          case 'result':
            addResult(at, outcome.content, !outcome.ok);
            break;
          case 'suspended':
            await askRest(from + sent.length);
            return rest();
          case 'finish':
            addOwn(at, 'not_executed');
            bound = outcome;
            break;
          case 'fatal':
            addOwn(at, 'not_executed');
            end ??= failed(finalFailure(outcome.error.code, outcome.error.message));
            break;
          default:
            outcome satisfies never;
        }
      }
      if (end === null && bound === null) return null;
      if (end?.kind === 'cancelled' && run.signal.aborted) return stop(from + sent.length);
      leave(from + sent.length);
      if (end !== null || bound === null) return end;
      return lastReport(step, history, bound);
    },
  };
}

/** The rules of the task that made the calls. A history from outside has none: then nothing is allowed. */
function rulesOf(step: Prepared, message: Message): ToolRules {
  const { run } = step;
  const id = run.state.producers[message.id];
  const task = id === undefined ? undefined : run.tasks.get(id);
  if (task === undefined) return { allow: [], hide: [], offered: [], limits: {} };
  const rules = toolRules(run, task, step.startedAt);
  // A task without an allowlist exposes nothing (04 §11), so its calls have nothing to rest on.
  return { ...rules, allow: rules.allow ?? [] };
}

/** The executing task's limits for each provider that it mentions, else the producer's (04 §5). */
export function mergeLimits(produced: ToolRules['limits'], executed: ToolRules['limits']): CallRequest['limits'] {
  const merged: CallRequest['limits'] = {};
  for (const [provider, limits] of Object.entries({ ...produced, ...executed })) merged[provider] = { ...limits };
  return merged;
}

/** Empty text stands for no arguments elsewhere; in a message that was cut it may be the start of some. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
