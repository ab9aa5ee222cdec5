import type { Message } from '../schema/message.ts';
import { boundaryBefore, boundaryBehind, utf8Length } from '../text/utf8.ts';
import { units } from './history.ts';

const cutLine = (kept: number, total: number): string => `[cut: ${kept} of ${total} bytes]`;

/** The first `maxBytes` bytes at a character boundary, then the line that says so (04 §6.6). */
export function cutTail(text: string, maxBytes: number, totalBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  const end = boundaryBefore(bytes, maxBytes);
  return `${new TextDecoder().decode(bytes.subarray(0, end))}\n${cutLine(end, totalBytes)}`;
}

/** The last `maxBytes` bytes at a character boundary, behind the line that says so. */
export function cutHead(text: string, maxBytes: number, totalBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  const start = boundaryBehind(bytes, bytes.length - Math.max(0, maxBytes));
  const kept = bytes.length - start;
  return `${cutLine(kept, totalBytes)}\n${new TextDecoder().decode(bytes.subarray(start))}`;
}

/** Bytes of a message that count: its content, and the names and arguments of its calls. */
function messageBytes(message: Message): number {
  let bytes = utf8Length(message.content);
  for (const call of message.tool_calls ?? [])
    bytes += utf8Length(call.function.name) + utf8Length(call.function.arguments);
  return bytes;
}

type Cut = (text: string, maxBytes: number, totalBytes: number) => string;

/**
 * Newest units first until the budget is used; the oldest kept one loses the head of its text (04 §6.6). The newest
 * unit is always kept. Returns the same array when everything fits.
 */
export function capHistory(messages: readonly Message[], maxBytes: number, cut: Cut): readonly Message[] {
  let left = maxBytes;
  const parts = units(messages);
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const unit = parts[index];
    if (unit === undefined) break;
    const whole = messages.slice(unit.start, unit.end);
    const bytes = whole.reduce((sum, message) => sum + messageBytes(message), 0);
    if (bytes <= left) {
      left -= bytes;
      continue;
    }
    const newest = index === parts.length - 1;
    if (left === 0 && !newest) return messages.slice(unit.end);
    return [...cutUnit(whole, bytes - left, cut), ...messages.slice(unit.end)];
  }
  return messages;
}

/** Takes `excess` bytes of content from the front; arguments of calls stay whole. */
function cutUnit(unit: readonly Message[], excess: number, cut: Cut): Message[] {
  let left = excess;
  return unit.map((message) => {
    if (left <= 0) return message;
    const bytes = utf8Length(message.content);
    if (bytes === 0) return message;
    const taken = Math.min(left, bytes);
    left -= taken;
    return { ...message, content: cut(message.content, bytes - taken, bytes) };
  });
}
