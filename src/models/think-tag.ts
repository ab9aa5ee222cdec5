import type { Parts } from './parts.ts';

const opening = '<think>';
const closing = '</think>';

/** Takes the content of one reply, delta by delta; `end` hands over what is still held back. */
export type ContentReader = { read(delta: string, parts: Parts): void; end(parts: Parts): void };

/**
 * Takes a `<think>` element in front of an answer for reasoning: servers that do not know the marks of their model leave
 * it there. The same element further on belongs to the answer.
 */
export function thinkTagReader(): ContentReader {
  let place: 'start' | 'inside' | 'behind' | 'answer' = 'start';
  /** What cannot be told yet: the beginning of a mark, or blanks before one. */
  let held = '';

  const read = (delta: string, parts: Parts): void => {
    if (place === 'answer') {
      parts.text(delta);
      return;
    }
    const text = held + delta;
    held = '';
    if (place === 'start') {
      const seen = text.trimStart();
      if (seen.length < opening.length && opening.startsWith(seen)) {
        held = text;
        return;
      }
      place = seen.startsWith(opening) ? 'inside' : 'answer';
      read(place === 'inside' ? seen.slice(opening.length) : text, parts);
      return;
    }
    if (place === 'inside') {
      const end = text.indexOf(closing);
      if (end < 0) {
        const kept = heldAtEnd(text);
        held = text.slice(text.length - kept);
        parts.thinking(text.slice(0, text.length - kept));
        return;
      }
      parts.thinking(text.slice(0, end));
      place = 'behind';
      read(text.slice(end + closing.length), parts);
      return;
    }
    const answer = text.trimStart();
    if (answer === '') return;
    place = 'answer';
    parts.text(answer);
  };

  return {
    read,
    end(parts) {
      if (place === 'inside') parts.thinking(held);
      else parts.text(held);
      held = '';
    },
  };
}

/** How many characters at the end of a text may be the beginning of the closing mark. */
function heldAtEnd(text: string): number {
  for (let length = Math.min(closing.length - 1, text.length); length > 0; length -= 1) {
    if (closing.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
