import { mostCalls } from '../chain/read-history.ts';
import { wellFormed } from '../chain/values.ts';
import type { ModelFailure, ModelPart } from '../models/model.ts';
import type { FinishReason, Usage } from '../schema/message.ts';
import { isObject } from '../text/json-object.ts';
import { messageOf } from '../text/thrown.ts';

/** A call as its deltas left it; complete only when the stream finished. */
export type ReplyCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly provider_meta?: Readonly<Record<string, unknown>>;
};

/** Everything that arrived in one stream. */
export type Reply = {
  readonly content: string;
  readonly thinking: string;
  readonly calls: readonly ReplyCall[];
  readonly usage: Usage | null;
  readonly provider_meta: Readonly<Record<string, unknown>> | null;
};

export type StreamEnd =
  | { readonly kind: 'finished'; readonly reply: Reply; readonly reason: FinishReason }
  | { readonly kind: 'broken'; readonly received: Reply; readonly error: ModelFailure };

/** Where deltas go while they arrive. */
export type StreamSink = {
  text(delta: string): void;
  thinking(delta: string): void;
  notice(code: string, message: string): void;
};

type Meta = Readonly<Record<string, unknown>>;

type OpenCall = { id: string; name: string; arguments: string; meta: Meta };

/**
 * Puts the parts of one model call together; the one assembler for all adapters (08 §1 rule 1).
 * Never throws: an adapter that throws, or ends without `finish` and `error`, is a broken stream. On abort it returns
 * at once with class `cancelled`, whether the adapter noticed or not.
 */
export async function readStream(
  parts: AsyncIterable<ModelPart>,
  sink: StreamSink,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const calls = new Map<number, OpenCall>();
  let content = '';
  let thinking = '';
  let usage: Usage | null = null;
  let meta: Meta = {};
  const collect = (): Reply => ({
    content: wellFormed(content),
    thinking: wellFormed(thinking),
    calls: [...calls].sort((a, b) => a[0] - b[0]).map(([, call]) => closeCall(call)),
    usage,
    provider_meta: orNull(meta),
  });
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextOrAbort(iterator, signal);
      if (next === 'aborted') return { kind: 'broken', received: collect(), error: cancelled };
      if (next.done === true) return { kind: 'broken', received: collect(), error: cutOff };
      const part = next.value;
      switch (part.kind) {
        case 'text':
          content += part.text;
          if (part.text !== '') sink.text(part.text);
          break;
        case 'thinking':
          thinking += part.text;
          if (part.text !== '') sink.thinking(part.text);
          break;
        case 'tool_call': {
          const call = calls.get(part.index) ?? { id: '', name: '', arguments: '', meta: {} };
          if (calls.size >= mostCalls && !calls.has(part.index)) {
            return { kind: 'broken', received: collect(), error: tooManyCalls };
          }
          calls.set(part.index, call);
          if (call.id === '') call.id = part.id ?? '';
          if (call.name === '') call.name = part.name ?? '';
          call.arguments += part.arguments_delta ?? '';
          call.meta = mergeMeta(call.meta, part.provider_meta ?? {});
          break;
        }
        case 'usage':
          usage = part.usage;
          break;
        case 'meta':
          meta = mergeMeta(meta, part.provider_meta);
          break;
        case 'notice':
          sink.notice(part.code, part.message);
          break;
        case 'finish':
          return { kind: 'finished', reply: collect(), reason: part.reason };
        case 'error':
          return { kind: 'broken', received: collect(), error: part.error };
        default:
          part satisfies never;
      }
    }
  } catch (error) {
    const message = messageOf(error);
    return { kind: 'broken', received: collect(), error: { class: 'permanent', message: message.slice(0, 1000) } };
  } finally {
    // Not awaited: a generator that hangs in its source would hold the cancellation back.
    void iterator.return?.()?.then(undefined, () => {});
  }
}

const tooManyCalls: ModelFailure = {
  class: 'malformed',
  message: `the reply holds more than ${mostCalls} tool calls`,
  futile: true,
};
const cancelled: ModelFailure = { class: 'cancelled', message: 'the model call was cancelled' };
const cutOff: ModelFailure = { class: 'malformed', message: 'the reply ended before it was complete' };

function closeCall(call: OpenCall): ReplyCall {
  const closed = { id: call.id, name: wellFormed(call.name), arguments: wellFormed(call.arguments) };
  const meta = orNull(call.meta);
  return meta === null ? closed : { ...closed, provider_meta: meta };
}

const orNull = (meta: Meta): Meta | null => (Object.keys(meta).length === 0 ? null : meta);

/** Members of one provider type join; anything else is replaced by what came later. */
function mergeMeta(before: Meta, added: Meta): Meta {
  const merged: Record<string, unknown> = { ...before };
  for (const [type, value] of Object.entries(added)) {
    const known = merged[type];
    merged[type] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
  return merged;
}

/** The next part, or `aborted` as soon as the signal says so. Keeps no listener behind. */
function nextOrAbort(
  iterator: AsyncIterator<ModelPart>,
  signal: AbortSignal,
): Promise<IteratorResult<ModelPart> | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve('aborted');
    signal.addEventListener('abort', stop, { once: true });
    iterator.next().then(
      (result) => {
        signal.removeEventListener('abort', stop);
        resolve(result);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(error);
      },
    );
  });
}
