import { createParser } from 'eventsource-parser';
import type { Body } from './exchange.ts';
import type { ModelFailure } from './model.ts';

/** Cuts decoded text into payloads, one JSON text each. */
export type Framer = {
  /** Hands over every payload that this text completes. @returns false when a line is longer than allowed */
  feed(text: string, onPayload: (payload: string) => void): boolean;
  /** Hands over what a clean end completes. */
  end(onPayload: (payload: string) => void): void;
  /** Whether the body turned out to be one JSON text, which is complete where it ends. */
  readonly whole: boolean;
};

/** Longest line, and longest reply (08 §5). */
const maxLine = 8 * 1024 * 1024;
const maxReply = 32 * 1024 * 1024;
/** How many characters of the beginning of a body are kept, to show what came in place of a reply. */
const mostHeard = 4096;

export type Framing = 'sse' | 'ndjson';

export function createFramer(framing: Framing): Framer {
  return framing === 'sse' ? sseOrWholeFramer() : lineFramer();
}

/**
 * Events, or one JSON text. Which of them it is, the first character tells and not the content type: servers that do not
 * stream, or report an error, send JSON under any type, and some streams are announced as JSON.
 */
function sseOrWholeFramer(): Framer {
  let framer: Framer | null = null;
  return {
    feed(text, onPayload) {
      if (framer === null) {
        const first = text.trimStart().charAt(0);
        if (first === '') return true;
        framer = first === '{' || first === '[' ? wholeFramer() : sseFramer();
      }
      return framer.feed(text, onPayload);
    },
    end: (onPayload) => framer?.end(onPayload),
    get whole() {
      return framer?.whole ?? false;
    },
  };
}

function sseFramer(): Framer {
  let give: (payload: string) => void = () => {};
  let fits = true;
  const parser = createParser({
    onEvent: ({ data }) => {
      for (const payload of payloadsOf(data)) give(payload);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') fits = false;
      // Servers were seen that put an error into a field of that name, or into the stream as it is.
      else if (error.type === 'unknown-field' && error.field === 'error') give(error.value ?? '');
      else if (error.type === 'unknown-field' && isJson(error.line ?? '')) give(error.line ?? '');
    },
    maxBufferSize: maxLine,
  });
  const into =
    (onPayload: (payload: string) => void) =>
    (payload: string): void => {
      // An event without data keeps a connection alive.
      const text = payload.trim();
      if (text !== '') onPayload(text);
    };
  return {
    feed(text, onPayload) {
      give = into(onPayload);
      parser.feed(text);
      return fits;
    },
    end(onPayload) {
      give = into(onPayload);
      // A last event without its blank line still counts.
      if (fits) parser.feed('\n\n');
    },
    whole: false,
  };
}

/**
 * Lines of one event: parts of one payload, as the format has it, or payloads without a blank line between them, as
 * servers were seen to send (08 §5.2.4).
 */
const payloadsOf = (data: string): readonly string[] =>
  !data.includes('\n') || isJson(data) ? [data] : data.split('\n');

function isJson(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
    whole: false,
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
    whole: true,
  };
}

export type Frames =
  /** Payloads of everything that has arrived since the last call; may be empty. `heard`: the beginning of the body. */
  | { readonly kind: 'payloads'; readonly payloads: readonly string[]; readonly last: boolean; readonly heard: string }
  /** The body begins like a web page, under whatever type it is announced. */
  | { readonly kind: 'page' }
  | { readonly kind: 'failure'; readonly failure: ModelFailure }
  | { readonly kind: 'too_long'; readonly what: string };

/** Reads a body as payloads; `last` marks those of the clean end. Never throws. */
export function readFrames(body: Body, framer: Framer): () => Promise<Frames> {
  let bytes = 0;
  let heard = '';
  return async () => {
    const read = await body.read();
    if (read.kind === 'failure') return read;
    if (read.kind === 'text' && heard.length < mostHeard) {
      heard = (heard + read.text).trimStart().slice(0, mostHeard);
      if (heard.startsWith('<')) return { kind: 'page' };
    }
    const payloads: string[] = [];
    const take = (payload: string): void => void payloads.push(payload);
    if (read.kind === 'end') {
      framer.end(take);
      return { kind: 'payloads', payloads, last: true, heard };
    }
    bytes += read.bytes;
    if (bytes > maxReply) return { kind: 'too_long', what: 'a reply of more than 32 MiB' };
    if (!framer.feed(read.text, take)) return { kind: 'too_long', what: 'a line of more than 8 MiB' };
    return { kind: 'payloads', payloads, last: false, heard };
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
