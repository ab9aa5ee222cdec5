import type { FinishReason } from '../schema/message.ts';
import { excerpt, failure, type Origin, streamFailure } from './failure.ts';
import type { ModelFailure, ModelPart } from './model.ts';

/**
 * Collects the parts of one network chunk. Neighbouring texts become one part, a surrogate pair that was cut between
 * two deltas is put together, and nothing is taken after `finish` or an error.
 */
export type Parts = {
  text(delta: string): void;
  thinking(delta: string): void;
  add(part: Exclude<ModelPart, { kind: 'text' | 'thinking' | 'error' | 'finish' }>): void;
  finish(reason: FinishReason): void;
  fail(error: ModelFailure): void;
  /** Everything collected since the last call. */
  take(): readonly ModelPart[];
  /** Whether `finish` or an error was collected. */
  readonly closed: boolean;
  /** Whether any text, thinking or call was collected: an answer has begun. */
  readonly begun: boolean;
  /** Whether any call was collected. */
  readonly called: boolean;
};

export function createParts(): Parts {
  let parts: ModelPart[] = [];
  let kind: 'text' | 'thinking' = 'text';
  let held = '';
  let closed = false;
  let begun = false;
  let called = false;

  const flush = (final: boolean): void => {
    const cut = !final && endsInsidePair(held) ? held.length - 1 : held.length;
    if (cut > 0) parts.push({ kind, text: held.slice(0, cut).toWellFormed() });
    held = held.slice(cut);
  };
  const write = (next: 'text' | 'thinking', delta: string): void => {
    if (closed || delta === '') return;
    begun = true;
    if (next !== kind) {
      flush(true);
      kind = next;
    }
    held = held === '' ? delta : held + delta;
  };
  const push = (part: ModelPart): void => {
    if (closed) return;
    flush(true);
    parts.push(part);
  };
  return {
    text: (delta) => write('text', delta),
    thinking: (delta) => write('thinking', delta),
    add(part) {
      push(part);
      if (part.kind === 'tool_call') {
        begun = true;
        called = true;
      }
    },
    finish(reason) {
      push({ kind: 'finish', reason });
      closed = true;
    },
    fail(error) {
      push({ kind: 'error', error });
      closed = true;
    },
    take() {
      flush(closed);
      const taken = parts;
      parts = [];
      return taken;
    },
    get closed() {
      return closed;
    },
    get begun() {
      return begun;
    },
    get called() {
      return called;
    },
  };
}

function endsInsidePair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/**
 * Ends a reply whose stream was complete: a refusal that said nothing is an error, and a stop with calls is a call.
 * Nothing at all is left to the engine, which owns `empty_reply` (08 §1 rule 6).
 */
export function finishParts(parts: Parts, origin: Origin, reason: FinishReason): void {
  if (reason === 'content_filter' && !parts.begun) {
    parts.fail(
      failure(origin, 'content_filter', `backend "${origin.backend}" refused to answer: its filter stopped the reply`),
    );
  } else parts.finish(reason === 'stop' && parts.called ? 'tool_calls' : reason);
}

export function failMalformed(parts: Parts, origin: Origin, what: string): void {
  parts.fail(failure(origin, 'malformed', `backend "${origin.backend}" sent ${what}`));
}

/**
 * A body that ended before the reply did. One that holds nothing of an answer is shown: it is the page or the message of
 * something that stands where the model server should be.
 * @param heard the beginning of the body
 */
export function failIncomplete(parts: Parts, origin: Origin, what: string, heard: string): void {
  const body = heard.trim();
  if (parts.begun) failMalformed(parts, origin, what);
  else if (body === '') failMalformed(parts, origin, 'an empty reply');
  else failMalformed(parts, origin, `something that is no reply: ${excerpt(origin, body, 200)}`);
}

/** An error object inside a stream (08 §5). */
export function failStream(parts: Parts, origin: Origin, error: unknown): void {
  parts.fail(streamFailure(origin, error));
}
