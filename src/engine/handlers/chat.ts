import { toolsTokens } from '../../chain/tokens.ts';
import { taskError } from '../../chain/values.ts';
import type { History, Message } from '../../schema/message.ts';
import { estimateTokens } from '../../text/tokens.ts';
import { compact } from '../compaction.ts';
import type { Prepared } from '../expand.ts';
import { type Failure, failed, type Handled, type Stopped } from '../failure.ts';
import { lastReport } from '../finish.ts';
import { append, assistantMessage, interruptedMessage, repaired } from '../messages.ts';
import { prefaceTokens, withPreface } from '../preface.ts';
import type { Reply } from '../read-stream.ts';
import { newMessage, type Run } from '../run.ts';
import { historyOf, historyValue } from '../run-state.ts';
import { notice } from '../step.ts';
import { spellsToolCall } from '../text-call.ts';
import { hasImages, takeTurn, type TurnEnd } from '../turn.ts';
import { fitRequest, limitOf, ratioOf, reserveOf } from '../window.ts';

const noToolsLine = 'No tools are available this turn.';

/** `chat_completion` (04 §7.1): one model turn appended to the history. @throws RuntimeError task_error */
export async function chat(step: Prepared): Promise<Handled> {
  const { run, config } = step;
  let history = repaired(step, startingHistory(step));
  keepWorking(step, history);
  await run.checkpoint('model');
  const tools = config.offered;
  const system = systemText(step, history);
  const systemTokens = estimateTokens(system) + prefaceTokens(step);
  const toolTokens = toolsTokens(tools);
  let compacted = 0;
  let madeRoom = false;
  let compactionFault: string | null = null;
  const load = (shrink: number): Parameters<typeof fitRequest>[1] => ({
    messages: spoken(run, history),
    systemTokens,
    prefaceTokens: prefaceTokens(step),
    toolTokens,
    maxTokens: config.maxTokens,
    shift: config.shift,
    refused: config.shift && shrink < 1 && !madeRoom,
  });
  const end = await takeTurn(step, {
    purpose: 'turn',
    models: config.models,
    providers: config.providers,
    tools,
    needsVision: run.ledger.hasImages && hasImages(history.messages),
    // Shift and compaction make a request fit, so the host must not drop a candidate for its size.
    tokenNeed:
      config.shift || config.compact !== null
        ? 0
        : run.ledger.tokens(history.messages) + systemTokens + toolTokens + (config.maxTokens ?? 0),
    system,
    settings: {
      think: config.think,
      ...(config.temperature === null ? {} : { temperature: config.temperature }),
      ...(config.maxTokens === null ? {} : { max_tokens: config.maxTokens }),
    },
    retry: config.retry,
    streams: true,
    canShrink: config.shift || config.compact !== null,
    fit: (route, shrink) => withPreface(step, fitRequest(step, load(shrink), route, shrink)),
    async makeRoom(route, shrink) {
      const wanted = shrink < 1 ? 2 : 1;
      if (compacted >= wanted) return 'ready';
      compacted = wanted;
      const result = await compact(step, history, route, systemTokens + toolTokens, shrink < 1);
      if (result.kind === 'unchanged') {
        compactionFault = result.fault ?? null;
        return 'ready';
      }
      if (result.kind !== 'compacted') return result;
      madeRoom = shrink < 1;
      history = result.history;
      keepWorking(step, history);
      await run.checkpoint('model');
      return 'again';
    },
  });
  switch (end.kind) {
    case 'reply':
      return answered(step, history, end, systemTokens + toolTokens);
    case 'finish':
      return lastReport(step, history, end);
    case 'suspended':
      return end;
    case 'cancelled':
      keepReceived(step, history, end.received);
      return { kind: 'cancelled' } satisfies Stopped;
    case 'failed':
      return failed(unshortened(end.failure, compactionFault), historyValue(keepReceived(step, history, end.received)));
  }
}

/** A request may be too long because what was to shorten it failed: that is what needs to be mended. */
const unshortened = (failure: Failure, compactionFault: string | null): Failure =>
  failure.code === 'capacity' && compactionFault !== null
    ? { ...failure, message: `${failure.message}; compaction failed: ${compactionFault}` }
    : failure;

/** The history that this visit goes on from: what it made of it already, else its input. */
function startingHistory(step: Prepared): History {
  const { state } = step.run;
  const given = historyOf(step.input);
  const text = step.input.type === 'string' ? String(step.input.value) : '';
  if (given !== null) {
    const history = state.working ?? given;
    if (history.messages.some((message) => message.role === 'user' || message.role === 'tool')) return history;
  } else if (step.input.type === 'string' && text.trim() !== '') {
    const [only, second] = state.working?.messages ?? [];
    if (state.working !== null && second === undefined && only?.content === text) return state.working;
    return append(step, { messages: [] }, newMessage(step.run, { role: 'user', content: text }));
  } else if (step.input.type !== 'string' && step.input.type !== 'nil') {
    throw taskError('bad_input_type', `chat_completion takes a chat_history or a string, not ${step.input.type}`);
  }
  if (state.entered !== null) {
    // A recovering task must have something to answer (04 §15.3).
    const content = `Task ${state.entered.task_id} failed: "${state.entered.message}"`;
    return append(step, given ?? { messages: [] }, newMessage(step.run, { role: 'user', content }));
  }
  throw taskError('empty_history', `task ${step.task.id} has no user or tool message to answer`);
}

/** Remembers the history of this visit, so that a retry or a resume goes on from it. */
function keepWorking(step: Prepared, history: History): void {
  if (step.run.state.working === history) return;
  if (step.run.state.working === null && historyOf(step.input) === history) return;
  step.run.state.working = history;
  step.run.changed();
}

/** Messages that are sent as such; system messages go into the system place (08 §1 rule 4). */
const spoken = (run: Run, history: History): readonly Message[] =>
  run.ledger.hasSystem ? history.messages.filter((message) => message.role !== 'system') : history.messages;

/** The task's instruction, then the system messages of the history, without a repetition of it (04 §7.1.2). */
function systemText(step: Prepared, history: History): string {
  const { system, config } = step;
  const own = step.run.ledger.hasSystem
    ? history.messages.filter((message) => message.role === 'system' && message.content !== system)
    : [];
  const wantsTools = (config.allow?.length ?? 0) > 0;
  const parts = [system, ...own.map((message) => message.content)];
  if (wantsTools && config.offered.length === 0) parts.push(noToolsLine);
  return parts.filter((part) => part !== '').join('\n\n');
}

type Answer = Extract<TurnEnd, { kind: 'reply' }>;

function answered(step: Prepared, history: History, end: Answer, overhead: number): Handled {
  const { run, config } = step;
  const { reply, route, usage } = end;
  const message = assistantMessage(run, reply);
  const calls = message.tool_calls ?? [];
  if (end.reason === 'length') {
    notice(step, 'output_cut', 'The answer was cut by the output limit; raise max_tokens for a longer one.');
  }
  if (end.reason === 'content_filter') {
    notice(step, 'output_cut', "The provider's filter ended the answer; it may not be all of it.");
  }
  if (calls.length === 0 && !run.state.textCallNoted && spellsToolCall(reply.content, config.offered)) {
    run.state.textCallNoted = true;
    const text = `${route.model} wrote a tool call as text, which is never executed; use a model with tool support.`;
    notice(step, 'text_tool_call', text);
  }
  const limit = limitOf(run, route);
  run.state.window = {
    limit,
    reserve: reserveOf(limit, config.maxTokens),
    overhead: Math.ceil(overhead * ratioOf(run, route.model)),
  };
  if (calls.length > 0) run.state.producers = { ...run.state.producers, [message.id]: step.task.id };
  step.record.toolNames = calls.map((call) => call.function.name);
  const { messages } = append(step, history, message);
  const output = historyValue({
    messages,
    model: route.model,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    finish_reason: end.reason,
  });
  return { kind: 'done', output, evalText: calls.length > 0 ? 'tool_call' : 'executed' };
}

/** What had arrived before a failure or a cancellation stays as a message that says so (08 §7, 04 §15.7). */
function keepReceived(step: Prepared, history: History, received: Reply | null): History {
  const message = interruptedMessage(step.run, received);
  if (message === null) return history;
  step.record.partial = message.content;
  return append(step, history, message);
}
