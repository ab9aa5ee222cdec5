import type { History, Message, ToolCallPart } from '../schema/message.ts';
import { isObject, type JsonObject } from '../text/json-object.ts';

/** What makes up for members that a given history leaves out (04 §6.3). */
export type Fresh = { messageId(): string; callId(): string; readonly timestamp: string };

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** Each call of a message has its result, its row and its events, also one that is not made; nobody means this many. */
export const mostCalls = 1024;

/** A call id that may be kept as the model gave it (04 §6.3.2), apart from its being unique. */
export const isCallId = (id: string): boolean => /^[A-Za-z0-9_-]{1,128}$/.test(id);

/**
 * Reads a value as a chat history (04 §6.3); null when it is none. Aliases are accepted, unknown members dropped,
 * missing and repeated ids replaced; a result follows its call when the call's id is replaced.
 */
export function readHistory(value: unknown, fresh: Fresh): History | null {
  if (!isObject(value) || !Array.isArray(value['messages'])) return null;
  const ids = uniqueIds(fresh);
  const messages: Message[] = [];
  for (const item of value['messages']) {
    const message = readMessage(item, ids, fresh);
    if (message === null) return null;
    messages.push(message);
  }
  const inputTokens = either(value, 'input_tokens', 'inputTokens');
  const outputTokens = either(value, 'output_tokens', 'outputTokens');
  const finishReason = either(value, 'finish_reason', 'finishReason');
  return {
    messages: withToolNames(messages),
    ...(typeof value['model'] === 'string' ? { model: value['model'] } : {}),
    ...(typeof inputTokens === 'number' ? { input_tokens: inputTokens } : {}),
    ...(typeof outputTokens === 'number' ? { output_tokens: outputTokens } : {}),
    ...(typeof finishReason === 'string' ? { finish_reason: finishReason } : {}),
  };
}

/** A result that does not say which tool it is of: its call does, and some wires want the name (08 §5.1.3, §5.4.2). */
function withToolNames(messages: readonly Message[]): Message[] {
  const names = new Map(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function.name] as const)),
  );
  return messages.map((message) => {
    const name =
      message.role === 'tool' && message.tool_name === undefined ? names.get(message.tool_call_id ?? '') : undefined;
    return name === undefined ? message : { ...message, tool_name: name };
  });
}

const either = (bag: JsonObject, name: string, alias: string): unknown => bag[name] ?? bag[alias];

type Ids = { message(given: unknown): string; call(given: unknown): string; result(given: string): string };

/** Keeps message and call ids unique in one history. */
function uniqueIds(fresh: Fresh): Ids {
  const messages = new Set<string>();
  const calls = new Set<string>();
  /** Given call id -> the id that stands for it now, for the results that follow. */
  const renamed = new Map<string, string>();
  return {
    message(given) {
      const kept = typeof given === 'string' && given !== '' && !messages.has(given);
      const id = kept ? given : fresh.messageId();
      messages.add(id);
      return id;
    },
    call(given) {
      const kept = typeof given === 'string' && isCallId(given) && !calls.has(given);
      const id = kept ? given : fresh.callId();
      calls.add(id);
      if (typeof given === 'string') renamed.set(given, id);
      return id;
    },
    result: (given) => renamed.get(given) ?? given,
  };
}

function readMessage(value: unknown, ids: Ids, fresh: Fresh): Message | null {
  if (!isObject(value) || !roles.has(value['role'])) return null;
  // The set above holds exactly the roles.
  const role = value['role'] as Message['role'];
  const content = value['content'] ?? '';
  if (typeof content !== 'string') return null;
  const calls = readCalls(either(value, 'tool_calls', 'callTools'), role, ids);
  const images = readImages(value['images'], role);
  const answered = value['tool_call_id'];
  if (calls === null || images === null || (role === 'tool' && typeof answered !== 'string')) return null;
  return {
    id: ids.message(value['id']),
    role,
    content,
    timestamp: typeof value['timestamp'] === 'string' ? value['timestamp'] : fresh.timestamp,
    ...(typeof value['thinking'] === 'string' ? { thinking: value['thinking'] } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(role === 'tool' && typeof answered === 'string' ? { tool_call_id: ids.result(answered) } : {}),
    ...(role === 'tool' && typeof value['tool_name'] === 'string' ? { tool_name: value['tool_name'] } : {}),
    ...(role === 'tool' && typeof value['is_error'] === 'boolean' ? { is_error: value['is_error'] } : {}),
    ...(value['interrupted'] === true ? { interrupted: true } : {}),
    ...(isObject(value['provider_meta']) ? { provider_meta: value['provider_meta'] } : {}),
  };
}

/** Calls of an assistant message; null when they are malformed, too many, or stand on another role. */
function readCalls(value: unknown, role: Message['role'], ids: Ids): ToolCallPart[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > mostCalls) return null;
  if (value.length > 0 && role !== 'assistant') return null;
  const calls: ToolCallPart[] = [];
  for (const item of value) {
    const called: unknown = isObject(item) ? item['function'] : undefined;
    if (!isObject(item) || !isObject(called)) return null;
    const { name, arguments: text } = called;
    if (typeof name !== 'string' || typeof text !== 'string') return null;
    const meta = item['provider_meta'];
    calls.push({
      id: ids.call(item['id']),
      type: 'function',
      function: { name, arguments: text },
      ...(isObject(meta) ? { provider_meta: meta } : {}),
    });
  }
  return calls;
}

/** Images of a user message; null when they are malformed or stand on another role (04 §6.3.6). */
function readImages(value: unknown, role: Message['role']): NonNullable<Message['images']> | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  if (value.length > 0 && role !== 'user') return null;
  const images: NonNullable<Message['images']> = [];
  for (const item of value) {
    if (!isObject(item)) return null;
    const { data, mime_type, sha256, name } = item;
    if (typeof data !== 'string' || typeof mime_type !== 'string' || typeof sha256 !== 'string') return null;
    images.push({ data, mime_type, sha256, ...(typeof name === 'string' ? { name } : {}) });
  }
  return images;
}
