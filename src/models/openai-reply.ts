import type { FinishReason, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import { failure } from './failure.ts';
import type { ProviderErrorClass } from './model.ts';
import type { WireNames } from './names.ts';
import { failIncomplete, failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { argumentsText, count, createChoice, textOr } from './shape.ts';
import { createSigned } from './signed-reasoning.ts';
import { thinkTagReader } from './think-tag.ts';
import type { Decoder } from './wire-model.ts';

type Bag = Readonly<Record<string, unknown>>;

/** Reads the replies of `openai`, `vllm` and `openai-compatible` servers (08 §5.2, §5.3). */
export function createReplyDecoder(route: Route, names: WireNames): Decoder {
  const calls = createCalls(route, names);
  const details = createSigned();
  // OpenAI itself never sends `<think>` marks as text.
  const tags = route.type === 'openai' ? null : thinkTagReader();
  const write = (content: string, parts: Parts): void =>
    tags === null ? parts.text(content) : tags.read(content, parts);
  const choose = createChoice();
  let reason: FinishReason | null = null;
  let usage: Usage | null = null;
  let refusedText = false;

  const readDelta = (delta: Bag, whole: boolean, parts: Parts): void => {
    parts.thinking(firstText(delta, thinkingNames));
    const { content, refusal, reasoning_details: thoughts } = delta;
    if (typeof content === 'string') write(content, parts);
    else if (Array.isArray(content)) for (const piece of content) readPiece(piece, write, parts);
    if (typeof refusal === 'string' && refusal !== '') {
      refusedText = true;
      parts.text(refusal);
    }
    if (Array.isArray(thoughts)) for (const one of thoughts) if (isObject(one)) details.read(one);
    // Text Generation Inference leaves the list around a call out.
    const given = isObject(delta['tool_calls']) ? [delta['tool_calls']] : delta['tool_calls'];
    if (!Array.isArray(given)) return;
    for (const call of given) if (isObject(call)) calls.read(call, whole, parts);
  };

  const readFinish = (word: string, choice: Bag, parts: Parts): void => {
    const known = word.toLowerCase();
    // A router may call the end of a failed provider an ordinary one, and say beside it what that had said.
    const native = textOr(choice['native_finish_reason'], '').toLowerCase();
    const broken = ownMember(brokenReasons, known) ?? ownMember(brokenReasons, native);
    if (broken === undefined) reason = ownMember(finishReasons, known) ?? 'other';
    else if (choice['error'] !== undefined) failStream(parts, route, choice);
    else parts.fail(failure(route, broken, `backend "${route.backend}" broke off its reply: ${native || word}`));
  };

  return {
    read(payload, parts) {
      if (isError(payload)) {
        failStream(parts, route, payload);
        return 'more';
      }
      // Groq says here why it stopped a stream early.
      const stopped = isObject(payload['x_groq']) ? payload['x_groq']['error'] : undefined;
      if (typeof stopped === 'string' && stopped !== '') {
        failStream(parts, route, { error: stopped });
        return 'more';
      }
      const choice = choose(payload['choices']);
      usage = reportedUsage(payload, choice ?? {}) ?? usage;
      if (choice === null) return 'more';
      // A server that does not stream answers with one `message` of the same members.
      const { delta, message, finish_reason: word } = choice;
      if (isObject(delta)) readDelta(delta, false, parts);
      // A whole message behind the deltas of a stream says the same once more.
      else if (isObject(message) && !parts.begun) readDelta(message, true, parts);
      if (typeof word === 'string' && word !== '') readFinish(word, choice, parts);
      return 'more';
    },
    // What may follow is usage and the end mark: a connection that is lost there has lost nothing of the answer.
    get settled() {
      return reason !== null;
    },
    end(parts, marked, heard) {
      tags?.end(parts);
      // After the end mark the reply is whole, even if no reason was given.
      if (reason === null && marked && parts.begun) reason = 'stop';
      if (reason === null) {
        failIncomplete(parts, route, 'a reply that ends without a finish reason', heard);
        return;
      }
      if (usage !== null) parts.add({ kind: 'usage', usage });
      const signed = details.all();
      if (signed.length > 0) {
        const own = { backend: route.backend, reasoning_details: signed };
        parts.add({ kind: 'meta', provider_meta: { [route.type]: own } });
      }
      finishParts(parts, route, refusedText ? 'content_filter' : reason);
    },
  };
}

/** Names under which servers stream reasoning; some send two of them, one empty or both the same. */
const thinkingNames = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'] as const;

function firstText(holder: Bag, names: readonly string[]): string {
  for (const name of names) {
    const value = holder[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

/** An error object, under its usual name, of the older form, or as the whole of what a proxy has to say. */
function isError(payload: Bag): boolean {
  const { error, object, choices, message, detail } = payload;
  if (isObject(error) || (typeof error === 'string' && error !== '') || object === 'error') return true;
  return choices === undefined && (typeof message === 'string' || typeof detail === 'string' || Array.isArray(detail));
}

/** What a delta says of its call. */
type Named = { readonly id: string; readonly name: string; readonly text: string };

type OpenCall = { readonly index: number; id: string; name: string; text: string };

/** Puts deltas of calls together by their index (08 §5.2.4). */
function createCalls(route: Route, names: WireNames) {
  const calls: OpenCall[] = [];
  /** The call that a delta of this wire index belongs to. */
  const byIndex = new Map<number, OpenCall>();

  const open = (wanted: number): OpenCall => {
    const taken = calls.some((call) => call.index === wanted);
    const call = {
      index: taken ? Math.max(...calls.map(({ index }) => index)) + 1 : wanted,
      id: '',
      name: '',
      text: '',
    };
    calls.push(call);
    return call;
  };

  /** The call of a delta without an index: the one that is named, a new one, or the newest. */
  const unnumbered = (delta: Named): OpenCall => {
    const { id, name } = delta;
    const last = calls.at(-1);
    if (id !== '') {
      const known = calls.findLast((call) => call.id === id);
      return known === undefined || follows(delta, known) ? open(calls.length) : known;
    }
    const begins =
      last === undefined || (name !== '' && last.name !== '' && (name !== last.name || isWhole(last.text)));
    return begins ? open(calls.length) : last;
  };

  const numbered = (index: number, delta: Named): OpenCall => {
    const known = byIndex.get(index);
    // Many servers give every call of a reply the same index.
    if (known !== undefined && (route.type === 'openai' || !follows(delta, known))) return known;
    const call = open(index);
    byIndex.set(index, call);
    return call;
  };

  return {
    /** @param whole the delta is a call, not a piece of one */
    read(delta: Bag, whole: boolean, parts: Parts): void {
      const id = textOr(delta['id'], '');
      // A few leave the object around name and arguments out.
      const given = isObject(delta['function']) ? delta['function'] : delta;
      const name = textOr(given['name'], '');
      const text = argumentsText(given['arguments']);
      const number = delta['index'];
      const call = whole
        ? open(calls.length)
        : typeof number === 'number'
          ? numbered(number, { id, name, text })
          : unnumbered({ id, name, text });
      if (route.type !== 'openai' && repeats({ id, name, text }, call)) return;
      if (conflicts(call, id, name, route)) {
        failMalformed(parts, route, `a tool call that changes its id or name at index ${call.index}`);
        return;
      }
      const extra = delta['extra_content'];
      parts.add({
        kind: 'tool_call',
        index: call.index,
        ...(id !== '' && call.id === '' ? { id } : {}),
        ...(name !== '' && call.name === '' ? { name: names.toEngine(name) } : {}),
        ...(text === '' ? {} : { arguments_delta: text }),
        ...(isObject(extra)
          ? { provider_meta: { [route.type]: { backend: route.backend, extra_content: extra } } }
          : {}),
      });
      call.id ||= id;
      call.name ||= name;
      call.text += text;
    },
  };
}

/** Some servers make a new id for every piece; one without a name belongs to the call at its index all the same. */
const conflicts = (call: OpenCall, id: string, name: string, route: Route): boolean =>
  (id !== '' && call.id !== '' && id !== call.id && (name !== '' || route.type === 'openai')) ||
  (name !== '' && call.name !== '' && name !== call.name);

/** Whether a delta says once more what a call with this id holds already. */
const repeats = ({ id, name, text }: Named, call: OpenCall): boolean =>
  id !== '' && id === call.id && name === call.name && text === call.text && isWhole(text);

/**
 * Whether a named delta behind a call that is complete begins the next one: by its id, or with arguments of its own where
 * ids are missing or the same.
 */
function follows(delta: Named, call: OpenCall): boolean {
  const { id, name, text } = delta;
  if (name === '' || !isWhole(call.text) || repeats(delta, call)) return false;
  return (id !== '' && call.id !== '' && id !== call.id) || text.trim() !== '';
}

/** Whether arguments are complete: nothing can follow a JSON object. */
function isWhole(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Content as a list of typed pieces, which a few servers send. */
function readPiece(piece: unknown, write: (content: string, parts: Parts) => void, parts: Parts): void {
  if (typeof piece === 'string') write(piece, parts);
  if (!isObject(piece)) return;
  if (typeof piece['text'] === 'string') write(piece['text'], parts);
  const { thinking } = piece;
  if (typeof thinking === 'string') parts.thinking(thinking);
  if (!Array.isArray(thinking)) return;
  for (const inner of thinking) if (isObject(inner) && typeof inner['text'] === 'string') parts.thinking(inner['text']);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
};

/** Reasons that say that the reply is not complete. */
const brokenReasons: Readonly<Record<string, ProviderErrorClass>> = {
  error: 'server_error',
  abort: 'server_error',
  network_error: 'server_error',
  insufficient_system_resource: 'overloaded',
};

/** Usage where servers put it: beside the choices, inside the choice, or under a name of their own. */
function reportedUsage(payload: Bag, choice: Bag): Usage | null {
  const own = payload['x_groq'];
  for (const value of [payload['usage'], choice['usage'], isObject(own) ? own['usage'] : undefined]) {
    const usage = isObject(value) ? readUsage(value) : null;
    if (usage !== null) return usage;
  }
  return null;
}

/** Null when the server reports nothing: the engine then estimates (08 §9.5). */
function readUsage(value: Bag): Usage | null {
  const input = count(value['prompt_tokens']);
  const said = count(value['completion_tokens']);
  if (input === 0 && said === 0) return null;
  const inputDetails = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const outputDetails = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {};
  const reasoning = count(outputDetails['reasoning_tokens']);
  const total = count(value['total_tokens']);
  // Some count reasoning beside the answer; ours is in it (08 §9.5).
  const output = reasoning > 0 && total === input + said + reasoning ? said + reasoning : said;
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_input_tokens: count(inputDetails['cached_tokens']) || count(value['prompt_cache_hit_tokens']),
    total_tokens: total || input + output,
    estimated: false,
  };
}
