import { noResultRecorded, repairHistory } from '../chain/history.ts';
import { isCallId } from '../chain/read-history.ts';
import type { History, Message, ToolCallPart } from '../schema/message.ts';
import type { Reply } from './read-stream.ts';
import { adopt, newMessage, type Run, recordMessage } from './run.ts';
import { historyValue } from './run-state.ts';
import type { Step } from './step.ts';

/** The history plus one message, which is reported as new. */
export function append(step: Step, history: History, message: Message): History {
  recordMessage(step.run, step.at, message);
  return step.run.ledger.append(history, message);
}

/** A complete reply as a message. Call ids that cannot stand are replaced (04 §6.3.2). */
export function assistantMessage(run: Run, reply: Reply): Message {
  const taken = new Set<string>();
  const calls = reply.calls.map((call): ToolCallPart => {
    const kept = isCallId(call.id) && !taken.has(call.id) && !run.ledger.hasCallId(call.id);
    const id = kept ? call.id : run.deps.newId('call');
    taken.add(id);
    return {
      id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
      ...(call.provider_meta === undefined ? {} : { provider_meta: call.provider_meta }),
    };
  });
  return newMessage(run, {
    role: 'assistant',
    content: reply.content,
    ...(reply.thinking === '' ? {} : { thinking: reply.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reply.provider_meta === null ? {} : { provider_meta: reply.provider_meta }),
  });
}

/**
 * What had arrived of a reply that broke off, marked as such; null when it holds no text. Its calls are dropped: they
 * may be half written, and nothing will answer them.
 */
export function interruptedMessage(run: Run, received: Reply | null): Message | null {
  if (received === null || received.content.trim() === '') return null;
  return newMessage(run, {
    role: 'assistant',
    content: received.content,
    ...(received.thinking === '' ? {} : { thinking: received.thinking }),
    interrupted: true,
  });
}

/** Content of a result that reports an error (04 §14.4). */
const errorContent = (error: string, message: string): string => JSON.stringify({ ok: false, error, message });

export const resultMessage = (run: Run, call: ToolCallPart, content: string, isError: boolean): Message =>
  newMessage(run, {
    role: 'tool',
    content,
    tool_call_id: call.id,
    tool_name: call.function.name,
    is_error: isError,
  });

/** Results that the engine writes itself, because the call never reached the gate or nothing came back from it. */
const ownResults = {
  interrupted: noResultRecorded,
  not_executed: 'the call was not run: the run went on or ended without executing it',
  cancelled: 'the run was cancelled before the call had a result; it may have run in part or not at all',
  too_many_calls: 'the call was not run: a message may hold at most 64 calls; send fewer at once',
  repeated_call:
    'the call was not run: it was made with the same arguments and the same result several times already; do something else',
  invalid_arguments:
    'the call was not run: the output limit cut the message, so the arguments are incomplete; send a shorter call',
} as const;
export type OwnResult = keyof typeof ownResults;

const leftContents: ReadonlySet<string> = new Set(
  (['interrupted', 'not_executed'] as const).map((kind) => errorContent(kind, ownResults[kind])),
);

/**
 * Why a call has no result (04 §14.6): a message that a task of this run made was left behind by the chain; one that
 * came in, with an earlier run or as input, may have been executed before.
 */
export const leftOpen = (run: Run, message: Message): 'interrupted' | 'not_executed' =>
  Object.hasOwn(run.state.producers, message.id) ? 'not_executed' : 'interrupted';

/**
 * What a call came to that was executed in another history of this run; undefined for one that was not. Results that
 * stand for one that is missing say nothing of that.
 */
export const earlierResult = (run: Run, message: Message, call: ToolCallPart): Message | undefined =>
  Object.hasOwn(run.state.producers, message.id)
    ? undefined
    : run.ledger.resultsOf(call.id).find(({ content }) => !leftContents.has(content));

export const ownResult = (run: Run, call: ToolCallPart, kind: OwnResult): Message =>
  resultMessage(run, call, errorContent(kind, ownResults[kind]), true);

/**
 * Puts a call that never left the engine on the record of the run's calls (03 §1.3), with what the model was told.
 * @param at when the step began that it stands in, in milliseconds since the epoch
 */
export function recordUnsent(run: Run, call: ToolCallPart, index: number, { content }: Message, at: number): void {
  run.host.emit({ kind: 'unsent_call', call_id: call.id, ...call.function, batch_index: index, content, at });
}

/** The history with exactly one result for every call (04 §14.6); results that had to be made are reported. */
export function repaired(step: Step, history: History): History {
  const { run } = step;
  const { ledger } = run;
  const { messages } = history;
  // Histories grow at their end: what was in order at the last turn still is.
  const head = ledger.sharedHead(messages, run.orderly.messages);
  const tail = head === 0 ? messages : messages.slice(head);
  const result = repairHistory(tail, (call, assistant) => ownResult(run, call, leftOpen(run, assistant)));
  const fixed = result.changed ? { ...history, messages: [...messages.slice(0, head), ...result.messages] } : history;
  if (result.changed) adopt(run, step.at, historyValue(fixed));
  run.orderly = fixed;
  return fixed;
}
