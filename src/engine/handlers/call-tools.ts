import { taskError } from '../../chain/values.ts';
import type { History } from '../../schema/message.ts';
import type { CallRequest } from '../../schema/protocol.ts';
import type { Prepared } from '../expand.ts';
import { failed, failure, type Handled } from '../failure.ts';
import { historyOf, historyValue } from '../run-state.ts';
import { timedOut } from '../turn.ts';
import { type Batch, openRound, type Sent, type ToolRound } from './tool-round.ts';

/**
 * `execute_tool_calls` (04 §7.2, §14): the unanswered calls of the last assistant message that has any, in order. This
 * is also how a run goes on after an ask: what has a result is not called again. @throws RuntimeError task_error
 */
export async function callTools(step: Prepared): Promise<Handled> {
  const { run } = step;
  const given = historyOf(step.input);
  if (given === null) {
    throw taskError('bad_input_type', `execute_tool_calls takes a chat_history, not ${step.input.type}`);
  }
  const history = run.state.working ?? given;
  if (history.messages.length === 0) return { kind: 'done', output: step.input, evalText: 'noop' };
  const batch = openBatch(history);
  if (batch === null) return { kind: 'done', output: historyValue(history), evalText: 'no_calls_found' };

  step.record.toolNames = batch.open.map(({ call }) => call.function.name);
  const round = openRound(step, history, batch);
  const refused = countRound(step, batch, round);
  if (refused !== null) return refused;
  await run.checkpoint('call');
  const handled = await execute(step, batch, round);
  if (handled.kind === 'done') forgetProducer(step, batch);
  return handled;
}

/** The last assistant message with an unanswered call (04 §7.2). */
function openBatch(history: History): Batch | null {
  const answered = new Set<string>();
  for (let index = history.messages.length - 1; index >= 0; index -= 1) {
    const message = history.messages[index];
    if (message?.role === 'tool' && message.tool_call_id !== undefined) answered.add(message.tool_call_id);
    const calls = message?.tool_calls ?? [];
    const open = calls.map((call, at) => ({ call, index: at })).filter(({ call }) => !answered.has(call.id));
    if (message !== undefined && open.length > 0) return { message, size: calls.length, open };
  }
  return null;
}

/** Counts the round, once for each batch; a batch that was begun before goes on (04 §14.8.1). */
function countRound(step: Prepared, batch: Batch, round: ToolRound): Handled | null {
  const { run } = step;
  if (run.state.roundOf === batch.message.id) return null;
  const most = run.job.defaults.max_rounds;
  if (run.state.rounds >= most) {
    round.leave(0);
    const message = `the run has made ${most} tool rounds, the most that max-rounds allows`;
    return failed(failure('round_limit', message), historyValue(round.history()));
  }
  run.state.rounds += 1;
  run.state.roundOf = batch.message.id;
  return null;
}

async function execute(step: Prepared, batch: Batch, round: ToolRound): Promise<Handled> {
  const { run } = step;
  let at = 0;
  while (at < batch.open.length) {
    if (run.signal.aborted) return round.stop(at);
    const verdict = round.judge(at);
    if (verdict.kind === 'loop') {
      round.leave(at);
      return verdict.handled;
    }
    if (verdict.kind === 'known') {
      round.repeat(at, verdict.result);
      at += 1;
      continue;
    }
    if (verdict.kind === 'answer') {
      round.answer(at, verdict.result);
      at += 1;
      continue;
    }
    const end = round.groupEnd(at);
    const left = await round.take(at, await send(step, round.requests(at, end)));
    if (left !== null) return left;
    at = end;
    if (isOver(step)) return failed(timedOut(step), historyValue(round.history()));
    // The last one is covered by the write before the next request (03 §11).
    if (at < batch.open.length) await run.checkpoint('call');
  }
  return { kind: 'done', output: historyValue(round.history()), evalText: 'tools_executed' };
}

/** A timer may wake a little early; a call that was cut at the limit leaves no time for another. */
const timerSlackMs = 5;

const isOver = (step: Prepared): boolean => step.clock.leftMs() <= timerSlackMs;

/**
 * Sends calls that may run at the same time and waits for all of them; main decides them in order (04 §14.3). The time
 * that people took does not count for the task.
 */
async function send(step: Prepared, requests: readonly CallRequest[]): Promise<readonly Sent[]> {
  const { run, clock } = step;
  const startedAt = run.deps.now();
  const sent = await clock.outside(() =>
    Promise.all(
      requests.map(
        (request): Promise<Sent> =>
          run.host.callTool(request).then(
            (outcome) => ({ outcome }),
            (error: unknown) => ({ error }),
          ),
      ),
    ),
  );
  let waited = 0;
  for (const each of sent) {
    if ('outcome' in each && each.outcome.kind === 'result') waited = Math.max(waited, each.outcome.waited_ms ?? 0);
  }
  clock.charge(Math.max(0, run.deps.now() - startedAt - waited));
  return sent;
}

function forgetProducer(step: Prepared, batch: Batch): void {
  const { [batch.message.id]: _done, ...producers } = step.run.state.producers;
  step.run.state.producers = producers;
}
