import type { FinishReason, Usage } from '../schema/message.ts';
import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import type { Place } from './anthropic-messages.ts';
import type { Origin } from './failure.ts';
import type { WireNames } from './names.ts';
import { failIncomplete, failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { count, textOr } from './shape.ts';
import type { Decoder } from './wire-model.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** A thinking block while it arrives; handed back later exactly like this. */
type ThinkingBlock = { type: 'thinking'; thinking: string; signature: string } | { type: string; data: unknown };

/** Reads the events of a reply. */
export function createDecoder(origin: Origin, names: WireNames): Decoder {
  const thinking = new Map<number, ThinkingBlock>();
  const places = new Map<number, Place>();
  /** The call that a block is. */
  const calls = new Map<number, number>();
  /** Blocks of kinds that nobody asked for, such as tools that a service runs by itself. */
  const others = new Set<number>();
  let begun = 0;
  let written = 0;
  /** Blocks whose input came whole where it usually begins empty: deltas say it again. */
  const whole = new Set<number>();
  const tokens = { input: 0, cached: 0, output: 0 };
  let reason: FinishReason | null = null;
  let stopped = false;

  const readUsage = (value: unknown): void => {
    if (!isObject(value)) return;
    const cached = count(value['cache_read_input_tokens']);
    const input = count(value['input_tokens']) + cached + count(value['cache_creation_input_tokens']);
    // The last report counts; `message_delta` often repeats the output alone.
    if (input > 0) Object.assign(tokens, { input, cached });
    tokens.output = count(value['output_tokens']) || tokens.output;
  };

  const write = (text: string, parts: Parts): void => {
    written += text.length;
    parts.text(text);
  };

  const startBlock = (index: number, block: Readonly<Record<string, unknown>>, parts: Parts): void => {
    switch (block['type']) {
      case 'text':
        if (typeof block['text'] === 'string') write(block['text'], parts);
        return;
      case 'thinking': {
        const text = textOr(block['thinking'], '');
        const signature = textOr(block['signature'], '');
        thinking.set(index, { type: 'thinking', thinking: text, signature });
        places.set(index, [written, begun]);
        parts.thinking(text);
        return;
      }
      case 'redacted_thinking':
        thinking.set(index, { type: 'redacted_thinking', data: block['data'] });
        places.set(index, [written, begun]);
        return;
      case 'tool_use': {
        // A proxy may give every block the same index.
        calls.set(index, begun);
        begun += 1;
        const { id, name, input } = block;
        const given = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
        if (given === '') whole.delete(index);
        else whole.add(index);
        parts.add({
          kind: 'tool_call',
          index: begun - 1,
          ...(typeof id === 'string' && id !== '' ? { id } : {}),
          name: names.toEngine(textOr(name, '')),
          ...(given === '' ? {} : { arguments_delta: given }),
        });
        return;
      }
      default:
        calls.delete(index);
        others.add(index);
    }
  };

  const readDelta = (index: number, delta: Readonly<Record<string, unknown>>, parts: Parts): void => {
    const { text, partial_json: json, thinking: thought, signature } = delta;
    if (typeof text === 'string') write(text, parts);
    else if (typeof json === 'string') {
      const call = calls.get(index);
      if (call === undefined && others.has(index)) return;
      if (call === undefined) failMalformed(parts, origin, 'arguments of a tool call that was not begun');
      else if (json !== '' && !whole.has(index)) parts.add({ kind: 'tool_call', index: call, arguments_delta: json });
    }
    const block = thinking.get(index);
    if (typeof thought === 'string') {
      parts.thinking(thought);
      if (block !== undefined && 'thinking' in block) block.thinking += thought;
    }
    if (typeof signature === 'string' && block !== undefined && 'signature' in block) block.signature += signature;
  };

  return {
    read(payload, parts) {
      const index = typeof payload['index'] === 'number' ? payload['index'] : 0;
      switch (payload['type']) {
        case 'message_start':
          if (isObject(payload['message'])) readUsage(payload['message']['usage']);
          return 'more';
        case 'content_block_start':
          if (isObject(payload['content_block'])) startBlock(index, payload['content_block'], parts);
          return 'more';
        case 'content_block_delta':
          if (isObject(payload['delta'])) readDelta(index, payload['delta'], parts);
          return 'more';
        case 'message_delta': {
          readUsage(payload['usage']);
          const word = isObject(payload['delta']) ? payload['delta']['stop_reason'] : undefined;
          if (typeof word === 'string') {
            reason = ownMember(finishReasons, word) ?? 'other';
          }
          return 'more';
        }
        case 'message_stop':
          stopped = true;
          return 'done';
        // A proxy that does not stream answers with the message as a whole.
        case 'message': {
          const { content, stop_reason: word, usage } = payload;
          const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
          for (const [at, block] of blocks.entries()) if (isObject(block)) startBlock(at, block, parts);
          readUsage(usage);
          if (typeof word === 'string') reason = ownMember(finishReasons, word) ?? 'other';
          stopped = true;
          return 'done';
        }
        default:
          // `ping`, `content_block_stop`, and events of later versions; a proxy may leave the type of an error out.
          if (payload['type'] === 'error' || payload['error'] != null) failStream(parts, origin, payload);
          return 'more';
      }
    },
    // Behind the reason comes the end mark alone.
    get settled() {
      return reason !== null;
    },
    end(parts, marked, heard) {
      // A proxy may end the stream with the mark of another service.
      if (!stopped && !(marked && reason !== null)) {
        failIncomplete(parts, origin, 'a reply that ends without message_stop', heard);
        return;
      }
      if (tokens.input > 0 || tokens.output > 0) {
        const usage: Usage = {
          input_tokens: tokens.input,
          output_tokens: tokens.output,
          reasoning_tokens: 0,
          cached_input_tokens: tokens.cached,
          total_tokens: tokens.input + tokens.output,
          estimated: false,
        };
        parts.add({ kind: 'usage', usage });
      }
      const sorted = [...thinking].sort((a, b) => a[0] - b[0]);
      const blocks = sorted.map(([, block]) => block);
      // At the head of the message, as nearly always, there is nothing to say of it.
      const positions = sorted.map(([index]) => places.get(index) ?? [0, 0]);
      const placed = positions.some(([text, before]) => text > 0 || before > 0) ? { places: positions } : {};
      if (blocks.length > 0) parts.add({ kind: 'meta', provider_meta: { anthropic: { blocks, ...placed } } });
      finishParts(parts, origin, reason ?? 'other');
    },
  };
}
