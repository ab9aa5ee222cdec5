import type { FinishReason, Image, Message, ToolCallPart, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import type { Origin } from './failure.ts';
import { argumentsObject, conversation, ownMeta, systemText, toolLoop } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { type WireNames, wireNames } from './names.ts';
import { failIncomplete, failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { count, textOr } from './shape.ts';
import { anthropicBudget, anthropicEffort, canThink, thinkNotices } from './think.ts';
import { argumentsSchema } from './tool-schema.ts';
import {
  createWireModel,
  type Decoder,
  levelRefused,
  type Prepared,
  type Repair,
  temperatureRepair,
  type Wire,
  type WireDeps,
} from './wire-model.ts';

/** From Claude Opus 4.7 on a model takes no budget: it chooses its own, by an effort. */
const budgetRepair: Repair = { field: 'budget', named: /adaptive/i };
const effortRepair: Repair = { field: 'effort', named: /effort/i, told: levelRefused };
const thinkRepair: Repair = { field: 'think', named: /thinking|budget_tokens/i, told: levelRefused };

/** Sent when neither the task nor the model says how long a reply may be (08 §5.5.1). */
const defaultMaxTokens = 8192;

/** A model of the Anthropic Messages API (08 §5.5). */
export function createAnthropic(route: Route, deps: WireDeps): Promise<Model> {
  // The version is a header like a registered one, which may replace it.
  const versioned = { ...route, headers: { 'anthropic-version': '2023-06-01', ...route.headers } };
  const wire: Wire = {
    framing: 'sse',
    auth: (key) => ({ name: 'x-api-key', value: key }),
    loadingNote: null,
    prepare: (request, refused) => prepare(route, request, refused),
  };
  return createWireModel(versioned, wire, deps);
}

async function prepare(route: Route, request: ModelRequest, refused: (field: string) => boolean): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const system = systemText(request);
  const messages = conversation(request.messages);
  const maxTokens = request.max_tokens ?? route.max_output ?? defaultMaxTokens;
  const loop = toolLoop(messages);
  const isWhole = loop.every((message) => message.role !== 'assistant' || blocksOf(message).length > 0);
  const thinking = refused('think') || !canThink(route) ? null : thinkingOf(request.think, maxTokens, isWhole, refused);
  const thinks = thinking !== null;
  // Some think unasked; what they thought goes back no less.
  const handsBack = thinks || (request.think === 'auto' && !refused('think'));
  const temperature = thinks || refused('temperature') ? undefined : request.temperature;
  return {
    path: '/v1/messages',
    body: {
      model: request.model,
      stream: true,
      max_tokens: maxTokens,
      ...(system === '' ? {} : { system }),
      messages: wireMessages(messages, new Set(handsBack ? loop : []), names),
      ...(request.tools.length === 0 ? {} : { tools: wireTools(request, names) }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(request.top_p === undefined ? {} : { top_p: request.top_p }),
      ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop_sequences: request.stop }),
      ...thinking?.fields,
    },
    notices: canThink(route) ? [] : thinkNotices(route, request.model, request.think),
    decoder: createDecoder(route, names),
    repairs: [...(thinking?.repairs ?? []), ...(temperature === undefined ? [] : [temperatureRepair])],
  };
}

type Thinking = { readonly fields: Readonly<Record<string, unknown>>; readonly repairs: readonly Repair[] };

/**
 * How a level is said; null where it is not.
 * @param isWhole whether all of the open loop holds its thinking: the service demands it with a budget, and a loop that
 *   another model began has none
 */
function thinkingOf(
  level: ModelRequest['think'],
  maxTokens: number,
  isWhole: boolean,
  refused: (field: string) => boolean,
): Thinking | null {
  if (level === 'auto' || level === 'off') return null;
  if (!refused('budget')) {
    const budget = anthropicBudget(level, maxTokens);
    if (budget === null || !isWhole) return null;
    return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, repairs: [budgetRepair, thinkRepair] };
  }
  const thinking = { type: 'adaptive', display: 'summarized' };
  if (refused('effort')) return { fields: { thinking }, repairs: [thinkRepair] };
  const fields = { thinking, output_config: { effort: anthropicEffort(level) } };
  return { fields, repairs: [effortRepair, thinkRepair] };
}

/** Thinking blocks that this service wrote into a message. */
function blocksOf(message: Message): readonly unknown[] {
  const blocks = ownMeta(message, 'anthropic')?.['blocks'];
  return Array.isArray(blocks) ? blocks : [];
}

/** How much of the text, in characters, and how many calls stood ahead of a thinking block. */
type Place = readonly [text: number, calls: number];

/** The places of those blocks; a message of an earlier version has none, and all of them stand at its head. */
function placesOf(message: Message): readonly Place[] {
  const places = ownMeta(message, 'anthropic')?.['places'];
  const list: readonly unknown[] = Array.isArray(places) ? places : [];
  return blocksOf(message).map((_, index) => {
    const place = list[index];
    return Array.isArray(place) ? [count(place[0]), count(place[1])] : [0, 0];
  });
}

const wireTools = (request: ModelRequest, names: WireNames): readonly unknown[] =>
  request.tools.map((tool) => ({
    name: names.toWire(`${tool.tools}.${tool.tool}`),
    description: tool.description,
    input_schema: argumentsSchema(tool.input_schema),
  }));

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly unknown[] };

/** @param thinking the messages whose thinking blocks are handed back */
function wireMessages(
  messages: readonly Message[],
  thinking: ReadonlySet<Message>,
  names: WireNames,
): readonly WireMessage[] {
  const merged: { role: WireMessage['role']; content: unknown[] }[] = [];
  const ids = createIds();
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content =
      role === 'assistant' ? assistantBlocks(message, thinking.has(message), ids, names) : userBlocks(message, ids);
    if (content.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content: [...content] });
  }
  if (merged[0]?.role !== 'user') merged.unshift({ role: 'user', content: [continued] });
  // A last word of the assistant would be gone on with, or refused, instead of being answered.
  if (merged.at(-1)?.role === 'assistant') merged.push({ role: 'user', content: [continued] });
  return merged;
}

const continued = { type: 'text', text: '(continued)' };

function assistantBlocks(
  message: Message,
  withThinking: boolean,
  ids: (id: string) => string,
  names: WireNames,
): readonly unknown[] {
  const { content, tool_calls: calls = [] } = message;
  const made: unknown[] = [];
  let text = 0;
  let call = 0;
  const upTo = ([toText, toCall]: Place): void => {
    made.push(...textBlocks(content.slice(text, toText)));
    made.push(...calls.slice(call, toCall).map((one) => useBlock(one, ids, names)));
    text = Math.max(text, toText);
    call = Math.max(call, toCall);
  };
  if (withThinking) {
    const places = placesOf(message);
    // What was thought between two pieces goes back between them: the service refuses blocks that were moved.
    for (const [index, block] of blocksOf(message).entries()) {
      upTo(places[index] ?? [text, call]);
      made.push(block);
    }
  }
  upTo([content.length, calls.length]);
  return made;
}

const useBlock = (call: ToolCallPart, ids: (id: string) => string, names: WireNames): unknown => ({
  type: 'tool_use',
  id: ids(call.id),
  name: names.toWire(call.function.name),
  input: argumentsObject(call.function.arguments),
});

/** Results stand before other content because they follow their assistant message directly in the history. */
function userBlocks(message: Message, ids: (id: string) => string): readonly unknown[] {
  const images = (message.images ?? []).map(imageBlock);
  if (message.role !== 'tool') {
    const content = [...textBlocks(message.content), ...images];
    return content.length === 0 ? [{ type: 'text', text: '(empty)' }] : content;
  }
  return [
    {
      type: 'tool_result',
      tool_use_id: ids(message.tool_call_id ?? ''),
      content: images.length === 0 ? message.content : [...textBlocks(message.content), ...images],
      ...(message.is_error === true ? { is_error: true } : {}),
    },
  ];
}

/** A text block of blanks is refused by the service. */
const textBlocks = (text: string): readonly unknown[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

const imageBlock = (image: Image): unknown => ({
  type: 'image',
  source: { type: 'base64', media_type: image.mime_type, data: image.data },
});

/** Call ids of other services may hold characters that this one refuses; the same id becomes the same id. */
function createIds(): (id: string) => string {
  const replaced = new Map<string, string>();
  return (id) => {
    if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
    const known = replaced.get(id) ?? `call_r${replaced.size}`;
    replaced.set(id, known);
    return known;
  };
}

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

function createDecoder(origin: Origin, names: WireNames): Decoder {
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
