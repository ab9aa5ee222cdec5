import type { FinishReason, Message, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject } from '../text/json-object.ts';
import { bearer } from './connection.ts';
import { createListWriter, type WrittenList } from './encode.ts';
import { estimateTokens } from '../text/tokens.ts';
import { argumentsObject, conversation, resultText, systemText } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { functionTools, type WireNames, wireNames } from './names.ts';
import { failIncomplete, failStream, finishParts, type Parts } from './parts.ts';
import { count, textOr } from './shape.ts';
import { canThink, ollamaThink, thinkNotices } from './think.ts';
import { thinkTagReader } from './think-tag.ts';
import {
  createWireModel,
  type Decoder,
  levelRefused,
  type Prepared,
  type Repair,
  type Wire,
  type WireDeps,
} from './wire-model.ts';
import { quote } from '../text/quote.ts';

/** Always said, because the server's own default is small; the engine chooses a larger one where it is needed (08 §9.1). */
const smallestContext = 8192;

const thinkRepair: Repair = { field: 'think', named: /think/i, told: levelRefused };

/** A model of an Ollama server over its own API (08 §5.1). */
export function createOllama(route: Route, deps: WireDeps): Promise<Model> {
  const writeList = createListWriter(wireMessage, estimateMessage);
  const written = (request: ModelRequest, names: WireNames): WrittenList => {
    const system = systemText(request);
    return writeList(system === '' ? [] : [{ role: 'system', content: system }], conversation(request.messages), names);
  };
  const wire: Wire = {
    framing: 'ndjson',
    auth: bearer,
    loadingNote: `backend "${route.backend}" has sent nothing yet; it may be loading the model`,
    prepare: (request, refused) => prepare(route, request, written, refused),
  };
  return createWireModel(route, wire, deps);
}

async function prepare(
  route: Route,
  request: ModelRequest,
  written: (request: ModelRequest, names: WireNames) => WrittenList,
  refused: (field: string) => boolean,
): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const messages = written(request, names);
  const tools = functionTools(request, names);
  const estimate = messages.weight + estimateTools(tools);
  const numCtx = request.num_ctx ?? route.num_ctx.fixed ?? smallestContext;
  const think = refused('think') || !canThink(route) ? null : ollamaThink(request.model, request.think);
  const options = {
    num_ctx: numCtx,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.top_p === undefined ? {} : { top_p: request.top_p }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop: request.stop }),
    ...(request.max_tokens === undefined ? {} : { num_predict: request.max_tokens }),
  };
  return {
    path: '/api/chat',
    body: {
      model: request.model,
      stream: true,
      messages,
      ...(tools.length === 0 ? {} : { tools }),
      ...(think === null ? {} : { think }),
      ...(route.keep_alive === '' ? {} : { keep_alive: keepAlive(route.keep_alive) }),
      options,
    },
    notices: canThink(route) || refused('think') ? [] : thinkNotices(route, request.model, request.think),
    decoder: createDecoder(route, names, numCtx, estimate),
    repairs: think === null ? [] : [thinkRepair],
  };
}

/** Ollama reads a bare number as seconds only where it is a JSON number (`-1` = for ever). */
const keepAlive = (text: string): string | number => (/^-?\d+$/.test(text) ? Number(text) : text);

type WireMessage = { readonly role: string; readonly content: string; readonly images?: readonly string[] };

function wireMessage(message: Message, names: WireNames): WireMessage {
  if (message.role === 'tool') {
    const name = { tool_name: names.toWire(message.tool_name ?? '') };
    return { role: 'tool', ...(message.tool_name === undefined ? {} : name), content: resultText(message) };
  }
  const images = message.images?.map((image) => image.data) ?? [];
  const calls = message.tool_calls?.map((call) => ({
    function: { name: names.toWire(call.function.name), arguments: argumentsObject(call.function.arguments) },
  }));
  return {
    role: message.role,
    content: message.content,
    ...(images.length === 0 ? {} : { images }),
    ...(calls === undefined || calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

const estimates = new WeakMap<object, number>();

/** Tools stay the same from request to request. */
function estimateTools(tools: readonly object[]): number {
  const known = estimates.get(tools) ?? (tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools)));
  estimates.set(tools, known);
  return known;
}

/** Our estimate of a message in a request (04 §13.2); an image counts 1000 (08 §9.1). */
function estimateMessage({ images, ...rest }: WireMessage): number {
  const { content, ...others } = rest;
  const calls = 'tool_calls' in others ? estimateTokens(JSON.stringify(others.tool_calls)) : 0;
  return 4 + estimateTokens(content) + (images?.length ?? 0) * 1000 + calls;
}

function createDecoder(route: Route, names: WireNames, numCtx: number, estimate: number): Decoder {
  const tags = thinkTagReader();
  let calls = 0;
  let done = false;
  let reason: FinishReason = 'other';
  let usage: Usage | null = null;

  const readMessage = (message: Readonly<Record<string, unknown>>, parts: Parts): void => {
    if (typeof message['thinking'] === 'string') parts.thinking(message['thinking']);
    if (typeof message['content'] === 'string') tags.read(message['content'], parts);
    if (!Array.isArray(message['tool_calls'])) return;
    for (const call of message['tool_calls']) {
      const given: unknown = isObject(call) ? call['function'] : undefined;
      if (!isObject(given)) continue;
      const args = given['arguments'];
      const id = isObject(call) ? textOr(call['id'], '') : '';
      // A call arrives whole, so order keeps calls apart; servers were seen that give every call the same index.
      parts.add({
        kind: 'tool_call',
        index: calls,
        ...(id === '' ? {} : { id }),
        name: names.toEngine(textOr(given['name'], '')),
        arguments_delta: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
      });
      calls += 1;
    }
  };

  return {
    read(payload, parts) {
      // A proxy may write the member into every line.
      if (payload['error'] != null && payload['error'] !== '') {
        failStream(parts, route, payload);
        return 'more';
      }
      if (isObject(payload['message'])) readMessage(payload['message'], parts);
      if (payload['done'] !== true) return 'more';
      done = true;
      const word = payload['done_reason'];
      // The server only loaded or unloaded the model: nothing was answered yet (08 §5.1.4).
      if ((word === 'load' || word === 'unload') && !parts.begun) return 'again';
      // Servers before done_reason simply stopped.
      reason = word === 'length' ? 'length' : word === 'stop' || word === undefined ? 'stop' : 'other';
      const input = count(payload['prompt_eval_count']);
      const output = count(payload['eval_count']);
      if (input > 0 || output > 0) {
        usage = {
          input_tokens: input,
          output_tokens: output,
          reasoning_tokens: 0,
          cached_input_tokens: 0,
          total_tokens: input + output,
          estimated: false,
        };
      }
      return 'done';
    },
    end(parts, _marked, heard) {
      tags.end(parts);
      if (!done) {
        failIncomplete(parts, route, 'a reply that ends without its last line', heard);
        return;
      }
      if (usage !== null && wasCut(usage, numCtx, estimate)) {
        const message = `${whatIsCut(usage, numCtx, estimate)}; raise it with reins model set-context ${quote(route.model)} --context <tokens>`;
        parts.add({ kind: 'notice', code: 'context_truncated', message });
      }
      if (usage !== null) parts.add({ kind: 'usage', usage });
      finishParts(parts, route, reason);
    },
  };
}

/** An answer that fills the rest of the window is cut itself, though its request had fitted. */
const whatIsCut = ({ input_tokens, output_tokens }: Usage, numCtx: number, estimate: number): string =>
  estimate < numCtx
    ? `the request and the answer (${input_tokens} and ${output_tokens} tokens) fill num_ctx ${numCtx}`
    : `the request of about ${estimate} tokens did not fit num_ctx ${numCtx}`;

/** Whether the server cut the history (08 §5.1.5). */
const wasCut = (usage: Usage, numCtx: number, estimate: number): boolean =>
  usage.input_tokens + usage.output_tokens >= numCtx - 1 ||
  (usage.input_tokens < estimate / 2 && usage.input_tokens >= numCtx / 2);
