import { createParser } from 'eventsource-parser';
import type { Body } from './exchange.ts';
import type { ModelFailure } from './model.ts';

/** Cuts decoded text into payloads, one JSON text each. */
export type Framer = {
  /** Hands over every payload that this text completes. @returns false when a line is longer than allowed */
  feed(text: string, onPayload: (payload: string) => void): boolean;
  /** Hands over what a clean end completes. */
  end(onPayload: (payload: string) => void): void;
};

/** Longest line, and longest reply (08 §5). */
const maxLine = 8 * 1024 * 1024;
const maxReply = 32 * 1024 * 1024;

/** `json`: the whole body is one payload, which is how a server answers that does not stream. */
export type Framing = 'sse' | 'ndjson' | 'json';

export function createFramer(framing: Framing): Framer {
  if (framing === 'sse') return sseFramer();
  return framing === 'ndjson' ? lineFramer() : wholeFramer();
}

function sseFramer(): Framer {
  let give: (payload: string) => void = () => {};
  let fits = true;
  const parser = createParser({
    onEvent: ({ data }) => {
      // Lines without a blank line between them arrive joined; our payloads are one line each (08 §5.2.4).
      if (data.includes('\n')) for (const line of data.split('\n')) give(line);
      else give(data);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') fits = false;
    },
    maxBufferSize: maxLine,
  });
  return {
    feed(text, onPayload) {
      give = onPayload;
      parser.feed(text);
      return fits;
    },
    end(onPayload) {
      give = onPayload;
      // A last event without its blank line still counts.
      if (fits) parser.feed('\n\n');
    },
  };
}

function lineFramer(): Framer {
  /** Pieces of a line that is not complete yet; joined once, so that a long line costs no more than its length. */
  let pieces: string[] = [];
  let held = 0;
  const take = (tail: string): string => {
    const line = pieces.length === 0 ? tail : pieces.join('') + tail;
    pieces = [];
    held = 0;
    return line;
  };
  return {
    feed(text, onPayload) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        if (held + at - from > maxLine) return false;
        const line = take(text.slice(from, at)).trim();
        if (line !== '') onPayload(line);
        from = at + 1;
      }
      if (from < text.length) {
        pieces.push(text.slice(from));
        held += text.length - from;
      }
      return held <= maxLine;
    },
    end(onPayload) {
      const line = take('').trim();
      if (line !== '') onPayload(line);
    },
  };
}

function wholeFramer(): Framer {
  const pieces: string[] = [];
  let held = 0;
  return {
    feed(text) {
      pieces.push(text);
      held += text.length;
      return held <= maxLine;
    },
    end(onPayload) {
      const text = pieces.join('').trim();
      if (text !== '') onPayload(text);
    },
  };
}

export type Frames =
  /** Payloads of everything that has arrived since the last call; may be empty. */
  | { readonly kind: 'payloads'; readonly payloads: readonly string[]; readonly last: boolean }
  | { readonly kind: 'failure'; readonly failure: ModelFailure }
  | { readonly kind: 'too_long'; readonly what: string };

/** Reads a body as payloads; `last` marks those of the clean end. Never throws. */
export function readFrames(body: Body, framer: Framer): () => Promise<Frames> {
  let bytes = 0;
  return async () => {
    const read = await body.read();
    if (read.kind === 'failure') return read;
    const payloads: string[] = [];
    const take = (payload: string): void => void payloads.push(payload);
    if (read.kind === 'end') {
      framer.end(take);
      return { kind: 'payloads', payloads, last: true };
    }
    bytes += read.bytes;
    if (bytes > maxReply) return { kind: 'too_long', what: 'a reply of more than 32 MiB' };
    if (!framer.feed(read.text, take)) return { kind: 'too_long', what: 'a line of more than 8 MiB' };
    return { kind: 'payloads', payloads, last: false };
  };
}

/** Reads a whole body as text, up to `limit` characters; what was read so far when the connection breaks. */
export async function readText(
  body: Body,
  limit: number,
): Promise<{ readonly text: string; readonly failure: ModelFailure | null }> {
  const pieces: string[] = [];
  let length = 0;
  for (;;) {
    const read = await body.read();
    if (read.kind === 'failure') return { text: pieces.join(''), failure: read.failure };
    if (read.kind === 'end') return { text: pieces.join(''), failure: null };
    pieces.push(read.text);
    length += read.text.length;
    if (length > limit) return { text: pieces.join('').slice(0, limit), failure: null };
  }
}
