import type { FinishReason, Image, Message, ToolCallPart, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject, readObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import type { Origin } from './failure.ts';
import { reduceSchema } from './gemini-schema.ts';
import { argumentsObject, conversation, ownMeta, systemText } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { type WireNames, wireNames } from './names.ts';
import { failIncomplete, failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { count, createChoice, textOr } from './shape.ts';
import { canThink, geminiThinking, geminiVersion, thinkNotices } from './think.ts';
import { argumentsSchema } from './tool-schema.ts';
import {
  createWireModel,
  type Decoder,
  levelRefused,
  type Prepared,
  type Repair,
  type Wire,
  type WireDeps,
} from './wire-model.ts';

const thinkRepair: Repair = { field: 'think', named: /think/i, told: levelRefused };

/** The open models of this service (Gemma) take no system instruction. */
const instructionRepair: Repair = { field: 'without_system', named: /developer instruction is not enabled/i };

/** What stands between may not know the ids of calls. */
const idRepair: Repair = { field: 'call_ids', named: /unknown name "id"/i };

/** The service's documented value for a call that has no signature of its own (08 §5.4.5). */
const skipSignature = 'skip_thought_signature_validator';

/** A model of the Gemini API (08 §5.4). */
export function createGemini(route: Route, deps: WireDeps): Promise<Model> {
  const wire: Wire = {
    framing: 'sse',
    auth: (key) => ({ name: 'x-goog-api-key', value: key }),
    loadingNote: null,
    prepare: (request, refused) => prepare(route, request, refused),
  };
  return createWireModel(route, wire, deps);
}

async function prepare(route: Route, request: ModelRequest, refused: (field: string) => boolean): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const system = systemText(request);
  const thinks = canThink(route) && !refused('think');
  const config = {
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.top_p === undefined ? {} : { topP: request.top_p }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.max_tokens === undefined ? {} : { maxOutputTokens: request.max_tokens }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stopSequences: request.stop }),
    ...(thinks ? { thinkingConfig: geminiThinking(request.model, request.think) } : {}),
  };
  const model = request.model.replace(/^models\//, '');
  const ids = refused('call_ids') ? new Map<string, string>() : givenIds(request.messages);
  const contents = wireContents(request.messages, { names, ids, demandsSignature: signs(model) });
  const folded = system !== '' && refused('without_system');
  return {
    path: `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    body: {
      ...(system === '' || folded ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      contents: folded ? instructed(system, contents) : contents,
      ...(request.tools.length === 0 ? {} : { tools: [{ functionDeclarations: wireTools(request, names) }] }),
      ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    },
    notices: canThink(route) ? [] : thinkNotices(route, request.model, request.think),
    decoder: createDecoder(route, names),
    repairs: [
      ...(thinks ? [thinkRepair] : []),
      ...(system === '' || folded ? [] : [instructionRepair]),
      ...(ids.size === 0 ? [] : [idRepair]),
    ],
  };
}

const wireTools = (request: ModelRequest, names: WireNames): readonly unknown[] =>
  request.tools.map((tool) => {
    const parameters = reduceSchema(argumentsSchema(tool.input_schema));
    // An object without properties is refused; a function without parameters is not.
    const empty = !isObject(parameters['properties']) || Object.keys(parameters['properties']).length === 0;
    return {
      name: names.toWire(`${tool.tools}.${tool.tool}`),
      description: tool.description,
      ...(empty ? {} : { parameters }),
    };
  });

type Part = Readonly<Record<string, unknown>>;
type Content = { readonly role: 'user' | 'model'; readonly parts: readonly Part[] };

type Form = {
  readonly names: WireNames;
  /** The service's own ids of calls; calls and results go back with them. */
  readonly ids: ReadonlyMap<string, string>;
  /** Whether the model refuses a message whose first call has no signature. */
  readonly demandsSignature: boolean;
};

/** Ids that this service gave to calls, by ours. It is known to give one twice in a long talk, which pairs nothing. */
function givenIds(messages: readonly Message[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const seen = new Map<string, number>();
  for (const call of messages.flatMap((message) => message.tool_calls ?? [])) {
    const id = ownMeta(call, 'gemini')?.['id'];
    if (typeof id !== 'string') continue;
    ids.set(call.id, id);
    seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  return new Map([...ids].filter(([, id]) => seen.get(id) === 1));
}

function wireContents(messages: readonly Message[], form: Form): readonly Content[] {
  const contents: { role: Content['role']; parts: Part[] }[] = [];
  for (const message of conversation(messages)) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = wireParts(message, form);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts: [...parts] });
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [{ text: '(continued)' }] });
  // The service wants somebody to answer: a person or a result.
  if (contents.at(-1)?.role !== 'user') contents.push({ role: 'user', parts: [{ text: '(continued)' }] });
  return contents;
}

/** The instruction in front of what the person says first; contents begin with a person. */
const instructed = (system: string, [first, ...rest]: readonly Content[]): readonly Content[] => [
  { role: 'user', parts: [{ text: system }, ...(first?.parts ?? [])] },
  ...rest,
];

function wireParts(message: Message, { names, ids, demandsSignature }: Form): readonly Part[] {
  const idOf = (id: string | undefined): Part => {
    const given = ids.get(id ?? '');
    return given === undefined ? {} : { id: given };
  };
  const images = (message.images ?? []).map(imagePart);
  if (message.role === 'tool') {
    const name = names.toWire(message.tool_name ?? '');
    const id = idOf(message.tool_call_id);
    return [{ functionResponse: { ...id, name, response: responseOf(message.content) } }, ...images];
  }
  if (message.role !== 'assistant') {
    if (message.content !== '') return [{ text: message.content }, ...images];
    // A part of empty text is refused.
    return images.length > 0 ? images : [{ text: '(empty)' }];
  }
  const own = ownMeta(message, 'gemini');
  const signature = own?.['text_signature'];
  const signed = typeof signature === 'string' ? { thoughtSignature: signature } : {};
  const text = message.content === '' && !('thoughtSignature' in signed) ? [] : [{ text: message.content, ...signed }];
  const calls = (message.tool_calls ?? []).map((call, index) => ({
    functionCall: {
      ...idOf(call.id),
      name: names.toWire(call.function.name),
      args: argumentsObject(call.function.arguments),
    },
    ...callSignature(call, own !== null && !(index === 0 && demandsSignature)),
  }));
  return [...text, ...calls];
}

/** From version 3 on a first call without a signature is refused, also one that an older model of the service made. */
const signs = (model: string): boolean => geminiVersion(model) >= 3;

/** A signature goes back unchanged; in a message that this service wrote, a call without one had none (08 §5.4.5). */
function callSignature(call: ToolCallPart, ours: boolean): Part {
  const signature = ownMeta(call, 'gemini')?.['thoughtSignature'];
  if (typeof signature === 'string') return { thoughtSignature: signature };
  return ours ? {} : { thoughtSignature: skipSignature };
}

const imagePart = (image: Image): Part => ({ inlineData: { mimeType: image.mime_type, data: image.data } });

/** A result that is not an object is wrapped (08 §5.4.2). */
const responseOf = (content: string): unknown => readObject(content) ?? { content };

const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  BLOCKLIST: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
};

/** Reasons of a model that wrote what the service could not read; asked again, it writes it better. */
const miswritten: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'MALFORMED_RESPONSE',
]);

function createDecoder(origin: Origin, names: WireNames): Decoder {
  let calls = 0;
  const choose = createChoice();
  let reason: FinishReason | null = null;
  /** Whether a piece came without a reason, so that the reason is not one that stands in every piece. */
  let open = false;
  let usage: Usage | null = null;
  let textSignature: string | null = null;

  const readPart = (part: unknown, parts: Parts): void => {
    if (!isObject(part)) return;
    const { text, functionCall: call, thoughtSignature } = part;
    const signature = typeof thoughtSignature === 'string' ? thoughtSignature : null;
    if (isObject(call)) {
      const id = textOr(call['id'], '');
      const own = { ...(id === '' ? {} : { id }), ...(signature === null ? {} : { thoughtSignature: signature }) };
      if (typeof text === 'string' && part['thought'] !== true) parts.text(text);
      parts.add({
        kind: 'tool_call',
        index: calls,
        ...(id === '' ? {} : { id }),
        name: names.toEngine(textOr(call['name'], '')),
        arguments_delta: JSON.stringify(call['args'] ?? {}),
        ...(Object.keys(own).length === 0 ? {} : { provider_meta: { gemini: own } }),
      });
      calls += 1;
      return;
    }
    if (signature !== null && part['thought'] !== true) textSignature = signature;
    if (typeof text !== 'string') return;
    if (part['thought'] === true) parts.thinking(text);
    else parts.text(text);
  };

  return {
    read(payload, parts) {
      if (payload['error'] != null) {
        failStream(parts, origin, payload);
        return 'more';
      }
      if (isObject(payload['usageMetadata'])) usage = readUsage(payload['usageMetadata']) ?? usage;
      const feedback = payload['promptFeedback'];
      if (isObject(feedback) && typeof feedback['blockReason'] === 'string') reason = 'content_filter';
      const candidate = choose(payload['candidates']);
      if (candidate === null) return 'more';
      const content = candidate['content'];
      if (isObject(content) && Array.isArray(content['parts'])) {
        for (const part of content['parts']) readPart(part, parts);
      }
      const word = candidate['finishReason'];
      if (typeof word === 'string' && miswritten.has(word)) {
        const why = textOr(candidate['finishMessage'], '');
        const what =
          word === 'MALFORMED_FUNCTION_CALL' ? 'a malformed function call' : `a reply that ends with ${word}`;
        failMalformed(parts, origin, why === '' ? what : `${what}: ${why}`);
      } else if (typeof word === 'string') {
        reason = ownMember(finishReasons, word) ?? 'other';
      } else open = true;
      return 'more';
    },
    // The last piece has come: a connection that is lost behind it has lost nothing of the answer.
    get settled() {
      return open && reason !== null;
    },
    end(parts, _marked, heard) {
      if (reason === null) {
        failIncomplete(parts, origin, 'a reply that ends without a finish reason', heard);
        return;
      }
      if (usage !== null) parts.add({ kind: 'usage', usage });
      // Also without a signature: it marks the calls as made by this service (see `callSignature`).
      if (calls > 0 || textSignature !== null) {
        const own = textSignature === null ? {} : { text_signature: textSignature };
        parts.add({ kind: 'meta', provider_meta: { gemini: own } });
      }
      finishParts(parts, origin, reason);
    },
  };
}

/** Thinking is reported beside the answer; our output counts both (08 §9.5). */
function readUsage(value: Readonly<Record<string, unknown>>): Usage | null {
  const input = count(value['promptTokenCount']) + count(value['toolUsePromptTokenCount']);
  const reasoning = count(value['thoughtsTokenCount']);
  const output = count(value['candidatesTokenCount']) + reasoning;
  if (input === 0 && output === 0) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_input_tokens: count(value['cachedContentTokenCount']),
    total_tokens: count(value['totalTokenCount']) || input + output,
    estimated: false,
  };
}
