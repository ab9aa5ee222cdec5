import type { Message } from '../schema/message.ts';
import { keepEnds } from '../text/keep-ends.ts';
import { utf8Length } from '../text/utf8.ts';

/**
 * Shortens a tool result for one request: its two ends, with a line between them that says how much is left out
 * (04 §14.7). The stored message stays as it is.
 */
export function shorten(result: Message, maxBytes: number): Message {
  if (utf8Length(result.content) <= maxBytes) return result;
  const { first, left, last } = keepEnds(new TextEncoder().encode(result.content), maxBytes);
  return { ...result, content: `${first}[… ${left} bytes left out]\n${last}` };
}
