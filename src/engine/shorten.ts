import { utf8Length } from '../text/utf8.ts';
import type { Message } from '../schema/message.ts';

const newline = 0x0a;

/**
 * Shortens a tool result for one request: its first 20 % and last 80 % of the cap, at line boundaries where a line ends
 * near, with a line between them that says how much is left out (04 §14.7). The stored message stays as it is.
 */
export function shorten(result: Message, maxBytes: number): Message {
  if (utf8Length(result.content) <= maxBytes) return result;
  const bytes = new TextEncoder().encode(result.content);
  const head = lineEnd(bytes, Math.floor(maxBytes * 0.2));
  const tail = lineStart(bytes, bytes.length - Math.floor(maxBytes * 0.8));
  const decoder = new TextDecoder();
  const before = decoder.decode(bytes.subarray(0, head));
  const after = decoder.decode(bytes.subarray(tail));
  const left = `[… ${tail - head} bytes left out]`;
  return { ...result, content: `${before}${before.endsWith('\n') ? '' : '\n'}${left}\n${after}` };
}

/** The last line end in the second half before `at`, else the last character boundary. */
function lineEnd(bytes: Uint8Array, at: number): number {
  for (let index = at; index > at / 2; index -= 1) {
    if (bytes[index - 1] === newline) return index;
  }
  let index = at;
  while (index > 0 && isContinuation(bytes[index])) index -= 1;
  return index;
}

/** The first line start in the first half behind `at`, else the next character boundary. */
function lineStart(bytes: Uint8Array, at: number): number {
  const stop = at + (bytes.length - at) / 2;
  for (let index = at; index < stop; index += 1) {
    if (bytes[index - 1] === newline) return index;
  }
  let index = at;
  while (index < bytes.length && isContinuation(bytes[index])) index += 1;
  return index;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
