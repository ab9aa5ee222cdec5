import type { FinishReason, Message, Usage } from '../schema/message.ts';
import type { ProviderType } from '../schema/registry.ts';
import type { Route } from '../schema/protocol.ts';
import { bearer } from './connection.ts';
import { createListWriter, type WrittenList } from './encode.ts';
import type { Origin } from './failure.ts';
import { argumentsObject, conversation, resultText, systemText } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { functionTools, type WireNames, wireNames } from './names.ts';
import { failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { count, isObject } from './shape.ts';
import { canThink, isReasoningName, reasoningEffort, thinkNotices, wantsThinking } from './think.ts';
import { createWireModel, type Decoder, type Prepared, type Repair, type Wire, type WireDeps } from './wire-model.ts';

type Dialect = {
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** How a level is said: an effort word for reasoning models, or a switch of the chat template. */
  readonly think: 'effort' | 'template';
  /** Reasoning models of this service refuse `temperature` and `top_p`. */
  readonly fixedSampling: boolean;
  /** Fields that a server of this type may not know (08 §5.3). */
  readonly repairs: readonly Repair[];
};

const compatibilityRepairs: readonly Repair[] = [
  { field: 'stream_options', named: /stream_options/ },
  { field: 'max_tokens', named: /max_tokens|max_completion_tokens/ },
  { field: 'seed', named: /\bseed\b/ },
];
const effortRepair: Repair = { field: 'think', named: /reasoning_effort|reasoning\.effort/, think: true };
const templateRepair: Repair = { field: 'think', named: /chat_template_kwargs|enable_thinking/, think: true };

const dialects = {
  openai: { maxTokens: 'max_completion_tokens', think: 'effort', fixedSampling: true, repairs: [effortRepair] },
  vllm: {
    maxTokens: 'max_tokens',
    think: 'template',
    fixedSampling: false,
    repairs: [...compatibilityRepairs, templateRepair],
  },
  'openai-compatible': {
    maxTokens: 'max_tokens',
    think: 'effort',
    fixedSampling: false,
    repairs: [...compatibilityRepairs, effortRepair],
  },
} as const satisfies Partial<Record<ProviderType, Dialect>>;

/** A model of type `openai`, `vllm` or `openai-compatible` (08 §5.2, §5.3). */
export function createOpenAiCompatible(route: Route, deps: WireDeps): Promise<Model> {
  const dialect: Dialect = Object.hasOwn(dialects, route.type)
    ? // True: the line above looked the name up in the table.
      dialects[route.type as keyof typeof dialects]
    : dialects['openai-compatible'];
  const writeList = createListWriter(wireMessage);
  const written = (request: ModelRequest, names: WireNames): WrittenList => {
    const system = systemText(request);
    const head = system === '' ? [] : [{ role: 'system', content: system }];
    return writeList(head, conversation(request.messages), names);
  };
  const wire: Wire = {
    framing: 'sse',
    auth: bearer,
    loadingNote: null,
    prepare: (request, refused) => prepare(route, dialect, request, written, refused),
  };
  return createWireModel(route, wire, deps);
}

async function prepare(
  route: Route,
  dialect: Dialect,
  request: ModelRequest,
  written: (request: ModelRequest, names: WireNames) => WrittenList,
  refused: (field: string) => boolean,
): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const notices: { code: string; message: string }[] = [];
  const reasoning = isReasoningName(request.model);
  const sampling = !(dialect.fixedSampling && reasoning);
  if (!sampling && (request.temperature !== undefined || request.top_p !== undefined)) {
    const message = `reasoning model "${request.model}" takes no temperature and no top_p; they are left out`;
    notices.push({ code: 'parameter_ignored', message });
  }
  const think = refused('think') ? {} : thinkFields(route, dialect, request, reasoning);
  if (Object.keys(think).length === 0 && !refused('think') && !takesLevel(route, dialect, reasoning)) {
    notices.push(...thinkNotices(route, request.model, request.think));
  }
  const limit = refused('max_tokens') ? otherSpelling(dialect.maxTokens) : dialect.maxTokens;
  const body = {
    model: request.model,
    stream: true,
    ...(refused('stream_options') ? {} : { stream_options: { include_usage: true } }),
    messages: written(request, names),
    ...(request.tools.length === 0 ? {} : { tools: functionTools(request, names) }),
    ...(request.temperature === undefined || !sampling ? {} : { temperature: request.temperature }),
    ...(request.top_p === undefined || !sampling ? {} : { top_p: request.top_p }),
    ...(request.seed === undefined || refused('seed') ? {} : { seed: request.seed }),
    ...(request.max_tokens === undefined ? {} : { [limit]: request.max_tokens }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop: request.stop }),
    ...think,
  };
  const sent = { ...body, think: Object.keys(think).length > 0 || undefined, max_tokens: request.max_tokens };
  return {
    path: '/chat/completions',
    body,
    notices,
    decoder: createDecoder(route, names),
    repairs: dialect.repairs.filter((repair) => new Map(Object.entries(sent)).get(repair.field) !== undefined),
  };
}

const otherSpelling = (name: Dialect['maxTokens']): Dialect['maxTokens'] =>
  name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';

/** Nothing is known of the reasoning of a vLLM model; a template without the switch ignores it (08 §8). */
const takesLevel = (route: Route, dialect: Dialect, reasoning: boolean): boolean =>
  dialect.think === 'template' || reasoning || canThink(route);

function thinkFields(
  route: Route,
  dialect: Dialect,
  request: ModelRequest,
  reasoning: boolean,
): Readonly<Record<string, unknown>> {
  if (request.think === 'auto' || !takesLevel(route, dialect, reasoning)) return {};
  if (dialect.think === 'template') return { chat_template_kwargs: { enable_thinking: wantsThinking(request.think) } };
  const effort = reasoningEffort(request.model, request.think);
  return effort === null ? {} : { reasoning_effort: effort };
}

function wireMessage(message: Message, names: WireNames): object {
  switch (message.role) {
    case 'assistant': {
      if (message.tool_calls === undefined || message.tool_calls.length === 0) {
        return { role: 'assistant', content: message.content };
      }
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        tool_calls: message.tool_calls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: names.toWire(call.function.name), arguments: argumentsText(call.function.arguments) },
        })),
      };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.tool_call_id ?? '', content: resultText(message) };
    default: {
      if (message.images === undefined || message.images.length === 0) {
        return { role: message.role, content: message.content };
      }
      const images = message.images.map((image) => ({
        type: 'image_url',
        image_url: { url: `data:${image.mime_type};base64,${image.data}` },
      }));
      const text = message.content === '' ? [] : [{ type: 'text', text: message.content }];
      return { role: message.role, content: [...text, ...images] };
    }
  }
}

/** As the model wrote it; text that is no object would be refused by servers that parse the history. */
const argumentsText = (text: string): string =>
  text.startsWith('{') && text.endsWith('}') && Object.keys(argumentsObject(text)).length > 0 ? text : '{}';

function createDecoder(origin: Origin, names: WireNames): Decoder {
  const calls = new Map<number, { id: string; name: string }>();
  let lastIndex = -1;
  let reason: FinishReason | null = null;
  let usage: Usage | null = null;
  let refusedText = false;

  const readCall = (delta: unknown, parts: Parts): void => {
    if (!isObject(delta)) return;
    const id = typeof delta['id'] === 'string' ? delta['id'] : '';
    // Some servers leave the index out: a new id then begins a new call.
    const index =
      typeof delta['index'] === 'number'
        ? delta['index']
        : id !== '' && calls.get(lastIndex)?.id !== id
          ? lastIndex + 1
          : Math.max(lastIndex, 0);
    lastIndex = index;
    const given = isObject(delta['function']) ? delta['function'] : {};
    const name = typeof given['name'] === 'string' ? given['name'] : '';
    const args = given['arguments'];
    const known = calls.get(index) ?? { id: '', name: '' };
    if (
      (id !== '' && known.id !== '' && id !== known.id) ||
      (name !== '' && known.name !== '' && name !== known.name)
    ) {
      failMalformed(parts, origin, `a tool call that changes its id or name at index ${index}`);
      return;
    }
    calls.set(index, { id: known.id === '' ? id : known.id, name: known.name === '' ? name : known.name });
    const text = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
    parts.add({
      kind: 'tool_call',
      index,
      ...(id !== '' && known.id === '' ? { id } : {}),
      ...(name !== '' && known.name === '' ? { name: names.toEngine(name) } : {}),
      ...(text === '' ? {} : { arguments_delta: text }),
    });
  };

  const readDelta = (delta: Readonly<Record<string, unknown>>, parts: Parts): void => {
    const thinking = delta['reasoning_content'] ?? delta['reasoning'];
    if (typeof thinking === 'string') parts.thinking(thinking);
    const { content, refusal } = delta;
    if (typeof content === 'string') parts.text(content);
    else if (Array.isArray(content)) for (const piece of content) readPiece(piece, parts);
    if (typeof refusal === 'string' && refusal !== '') {
      refusedText = true;
      parts.text(refusal);
    }
    if (Array.isArray(delta['tool_calls'])) for (const call of delta['tool_calls']) readCall(call, parts);
  };

  return {
    read(payload, parts) {
      if (isObject(payload['error']) || typeof payload['error'] === 'string' || payload['object'] === 'error') {
        failStream(parts, origin, payload);
        return 'more';
      }
      if (isObject(payload['usage'])) usage = readUsage(payload['usage']);
      const choices = payload['choices'];
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      if (!isObject(choice)) return 'more';
      // A server that does not stream answers with one `message` of the same members.
      const delta = choice['delta'] ?? choice['message'];
      if (isObject(delta)) readDelta(delta, parts);
      if (typeof choice['finish_reason'] === 'string') reason = finishReason(choice['finish_reason']);
      return 'more';
    },
    end(parts) {
      if (reason === null) {
        failMalformed(parts, origin, 'a reply that ends without a finish reason');
        return;
      }
      if (usage !== null) parts.add({ kind: 'usage', usage });
      finishParts(parts, origin, refusedText ? 'content_filter' : reason);
    },
  };
}

/** Content as a list of typed pieces, which a few servers send. */
function readPiece(piece: unknown, parts: Parts): void {
  if (!isObject(piece)) return;
  if (typeof piece['text'] === 'string') parts.text(piece['text']);
  const { thinking } = piece;
  if (typeof thinking === 'string') parts.thinking(thinking);
  if (!Array.isArray(thinking)) return;
  for (const inner of thinking) if (isObject(inner) && typeof inner['text'] === 'string') parts.thinking(inner['text']);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
};
const finishReason = (word: string): FinishReason =>
  (Object.hasOwn(finishReasons, word) ? finishReasons[word] : undefined) ?? 'other';

/** Null when the server reports nothing: the engine then estimates (08 §9.5). */
function readUsage(value: Readonly<Record<string, unknown>>): Usage | null {
  const input = count(value['prompt_tokens']);
  const output = count(value['completion_tokens']);
  if (input === 0 && output === 0) return null;
  const inputDetails = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const outputDetails = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {};
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: count(outputDetails['reasoning_tokens']),
    cached_input_tokens: count(inputDetails['cached_tokens']),
    total_tokens: count(value['total_tokens']) || input + output,
    estimated: false,
  };
}
