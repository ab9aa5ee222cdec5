import type { Message } from '../schema/message.ts';
import { estimateTokens } from '../text/tokens.ts';
import { utf8Length } from '../text/utf8.ts';
import { cutHead } from './cap.ts';

/**
 * A history as text (04 §9.3): one block per message, `role: content`; calls as `assistant calls <name> <arguments>`,
 * results as `tool <name>: …`. The newest blocks are kept within `maxBytes`; of a newest one that is larger its end.
 */
export function transcript(messages: readonly Message[], maxBytes: number): string {
  const names = callNames(messages);
  const blocks: string[] = [];
  let left = maxBytes;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined) break;
    const block = blockOf(message, names);
    if (block === '') continue;
    const bytes = utf8Length(block) + (blocks.length > 0 ? separator.length : 0);
    if (bytes > left) {
      if (blocks.length === 0) blocks.push(cutHead(block, left, bytes));
      break;
    }
    left -= bytes;
    blocks.push(block);
  }
  return blocks.reverse().join(separator);
}

/** The same within a number of estimated tokens: the newest blocks that fit. Infinity = all of them. */
export function transcriptWithin(messages: readonly Message[], maxTokens: number): string {
  // A token is four bytes of ASCII and fewer of anything else.
  let maxBytes = Math.max(0, Math.floor(maxTokens * 4));
  for (;;) {
    const text = transcript(messages, maxBytes);
    if (estimateTokens(text) <= maxTokens || maxBytes < leastBytes) return text;
    maxBytes = Math.floor(maxBytes * 0.8);
  }
}

/** What is shorter than this says nothing; the caller is refused for its size then. */
const leastBytes = 256;

const separator = '\n\n';

function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
  }
  return names;
}

function blockOf(message: Message, names: ReadonlyMap<string, string>): string {
  if (message.role === 'tool') {
    const name = message.tool_name ?? names.get(message.tool_call_id ?? '') ?? 'unknown';
    return `tool ${name}: ${message.content}`;
  }
  const calls = (message.tool_calls ?? []).map(
    ({ function: called }) => `assistant calls ${called.name} ${called.arguments}`,
  );
  const text = message.content === '' && calls.length > 0 ? [] : [`${message.role}: ${message.content}`];
  return [...text, ...calls].join('\n');
}

/** Content of the last assistant message that has content, else empty. */
export const lastAssistant = (messages: readonly Message[]): string =>
  messages.findLast((message) => message.role === 'assistant' && message.content !== '')?.content ?? '';
