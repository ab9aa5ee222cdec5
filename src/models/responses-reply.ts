import type { FinishReason, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import { failure } from './failure.ts';
import type { WireNames } from './names.ts';
import { failIncomplete, failMalformed, failStream, finishParts, type Parts } from './parts.ts';
import { betweenTexts, type OutputEntry } from './responses-input.ts';
import { argumentsText, count, textOr } from './shape.ts';
import type { Decoder } from './wire-model.ts';

type Bag = Readonly<Record<string, unknown>>;

type Place = number | string;

/** An item of the output while it arrives. `heard`: its text, or the arguments of its call. */
type Item = {
  readonly type: string;
  heard: string;
  /** Place among the calls; null for all others. */
  call: number | null;
  id: string;
  name: string;
  phase: string;
  sealed: Extract<OutputEntry, { readonly type: 'reasoning' }> | null;
};

/** Reads the replies of OpenAI's Responses API: events, or the response as a whole from a server that does not stream. */
export function createResponsesDecoder(route: Route, model: string, names: WireNames): Decoder {
  const output = createOutput(route, names);
  let reason: FinishReason | null = null;
  let usage: Usage | null = null;

  /** @param otherwise the status where the response itself names none */
  const close = (response: Bag, otherwise: string, parts: Parts): 'more' | 'done' => {
    // Behind a stream it says the same once more, and in a proxy's own order.
    const items = output.begun() ? [] : listOf(response['output']);
    for (const [index, item] of items.entries()) output.item(index, item, true, parts);
    usage = readUsage(response['usage']);
    const status = textOr(response['status'], otherwise);
    if (status === 'completed') reason = 'stop';
    else if (status === 'incomplete') reason = reasonOf(response['incomplete_details']);
    else {
      // What a failed call has used counts as well.
      if (usage !== null) parts.add({ kind: 'usage', usage });
      if (isObject(response['error'])) failStream(parts, route, response);
      else parts.fail(failure(route, 'server_error', `backend "${route.backend}" broke off its reply: ${status}`));
    }
    return parts.closed ? 'more' : 'done';
  };

  return {
    read(payload, parts) {
      const { type, response, item } = payload;
      const at = placeOf(payload);
      switch (type) {
        case 'response.output_item.added':
        case 'response.output_item.done':
          if (isObject(item)) {
            output.item(at === '' ? textOr(item['id'], '') : at, item, type === 'response.output_item.done', parts);
          }
          return 'more';
        case 'response.output_text.delta':
          output.text(at, payload['delta'], false, parts);
          return 'more';
        case 'response.refusal.delta':
          output.text(at, payload['delta'], true, parts);
          return 'more';
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          output.thought(at, payload, parts);
          return 'more';
        case 'response.function_call_arguments.delta':
          output.args(at, textOr(payload['delta'], ''), parts);
          return 'more';
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
        case 'response.cancelled':
          return close(isObject(response) ? response : {}, type.slice('response.'.length), parts);
        default:
      }
      if (payload['object'] === 'response') return close(payload, 'completed', parts);
      // Other events are of no use here; a proxy may leave the type of an error out.
      if (type === 'error' || payload['error'] != null || (type === undefined && isSaid(payload))) {
        failStream(parts, route, payload);
      }
      return 'more';
    },
    end(parts, _marked, heard) {
      if (reason === null) {
        failIncomplete(parts, route, 'a reply that ends without response.completed', heard);
        return;
      }
      if (usage !== null) parts.add({ kind: 'usage', usage });
      const kept = output.kept();
      if (kept.length > 0) {
        const own = { backend: route.backend, responses: { model, output: kept } };
        parts.add({ kind: 'meta', provider_meta: { [route.type]: own } });
      }
      finishParts(parts, route, output.refused() ? 'content_filter' : reason);
    },
  };
}

/** An error as the whole of what a proxy has to say. */
const isSaid = ({ message, detail }: Bag): boolean =>
  typeof message === 'string' || typeof detail === 'string' || Array.isArray(detail);

/** The item that an event belongs to: by its place in the output, by its id where a server leaves the place out. */
const placeOf = ({ output_index: index, item_id: id }: Bag): Place =>
  typeof index === 'number' ? index : textOr(id, '');

/** Puts events together by the item they belong to. Items may arrive interleaved. */
function createOutput(route: Route, names: WireNames) {
  const items = new Map<string, Item>();
  let calls = 0;
  let lastText: Item | null = null;
  let lastThought = '';
  let refused = false;

  const open = (at: Place, type: string): Item => {
    const known = items.get(`${type} ${at}`);
    if (known !== undefined) return known;
    const item: Item = { type, heard: '', call: null, id: '', name: '', phase: '', sealed: null };
    items.set(`${type} ${at}`, item);
    return item;
  };

  const say = (item: Item, text: string, parts: Parts): void => {
    if (text === '') return;
    if (lastText !== null && lastText !== item) parts.text(betweenTexts);
    lastText = item;
    item.heard += text;
    parts.text(text);
  };

  const think = (at: string, text: string, parts: Parts): void => {
    if (text === '') return;
    if (lastThought !== '' && lastThought !== at) parts.thinking(betweenTexts);
    lastThought = at;
    parts.thinking(text);
  };

  const argue = (item: Item, text: string, parts: Parts): void => {
    if (text === '' || item.call === null) return;
    item.heard += text;
    parts.add({ kind: 'tool_call', index: item.call, arguments_delta: text });
  };

  /** Opens a call where it is new. @returns false for one that changes */
  const call = (item: Item, given: Bag, parts: Parts): boolean => {
    const id = textOr(given['call_id'], '') || textOr(given['id'], '');
    const name = textOr(given['name'], '');
    if ((id !== '' && item.id !== '' && id !== item.id) || (name !== '' && item.name !== '' && name !== item.name)) {
      failMalformed(parts, route, `a tool call that changes its id or name at index ${item.call}`);
      return false;
    }
    const said = {
      ...(id !== '' && item.id === '' ? { id } : {}),
      ...(name !== '' && item.name === '' ? { name: names.toEngine(name) } : {}),
    };
    if (item.call === null || Object.keys(said).length > 0) {
      item.call ??= calls++;
      parts.add({ kind: 'tool_call', index: item.call, ...said });
    }
    item.id ||= id;
    item.name ||= name;
    return true;
  };

  return {
    /** @param whole the item holds all of it: what no event has said before is taken from it */
    item(at: Place, given: Bag, whole: boolean, parts: Parts): void {
      const type = textOr(given['type'], '');
      const item = open(at, type);
      switch (type) {
        case 'message':
          if (typeof given['phase'] === 'string') item.phase = given['phase'];
          if (whole && item.heard === '') for (const piece of listOf(given['content'])) readPiece(item, piece, parts);
          return;
        case 'reasoning':
          if (whole) readReasoning(at, item, given, parts);
          return;
        case 'function_call': {
          if (!call(item, given, parts) || !whole) return;
          const args = argumentsText(given['arguments']);
          if (args.startsWith(item.heard)) argue(item, args.slice(item.heard.length), parts);
          return;
        }
        default:
      }
    },
    text(at: Place, delta: unknown, refusal: boolean, parts: Parts): void {
      if (refusal) refused = true;
      say(open(at, 'message'), textOr(delta, ''), parts);
    },
    thought(at: Place, event: Bag, parts: Parts): void {
      const item = open(at, 'reasoning');
      const text = textOr(event['delta'], '');
      item.heard += text;
      think(`${at} ${count(event['summary_index'])}`, text, parts);
    },
    args(at: Place, delta: string, parts: Parts): void {
      const item = open(at, 'function_call');
      if (item.call === null && delta !== '')
        failMalformed(parts, route, 'arguments of a tool call that was not begun');
      else argue(item, delta, parts);
    },
    begun: () => items.size > 0,
    refused: () => refused,
    /** What is needed to hand the output back as it was; nothing where that is plain. */
    kept(): readonly OutputEntry[] {
      const entries = [...items.values()].flatMap((item): OutputEntry[] => {
        if (item.sealed !== null) return [item.sealed];
        if (item.call !== null) return [{ type: 'function_call' }];
        const phase = item.phase === '' ? {} : { phase: item.phase };
        return item.type === 'message' && item.heard !== ''
          ? [{ type: 'message', length: item.heard.length, ...phase }]
          : [];
      });
      const texts = entries.filter(({ type }) => type === 'message').length;
      const isPlain = texts < 2 && entries.every((entry) => entry.type !== 'reasoning' && !('phase' in entry));
      return isPlain ? [] : entries;
    },
  };

  function readPiece(item: Item, piece: Bag, parts: Parts): void {
    if (piece['type'] === 'refusal') refused = true;
    say(item, textOr(piece['text'], '') || textOr(piece['refusal'], ''), parts);
  }

  function readReasoning(at: Place, item: Item, given: Bag, parts: Parts): void {
    const { summary, encrypted_content: sealed } = given;
    if (item.heard === '') {
      for (const [index, piece] of [...listOf(summary), ...listOf(given['content'])].entries()) {
        const text = textOr(piece['text'], '');
        item.heard += text;
        think(`${at} ${index}`, text, parts);
      }
    }
    if (typeof sealed === 'string' && sealed !== '') {
      item.sealed = { type: 'reasoning', summary: listOf(summary), encrypted_content: sealed };
    }
  }
}

const listOf = (value: unknown): readonly Bag[] => (Array.isArray(value) ? value.filter(isObject) : []);

const incompleteReasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
};

const reasonOf = (details: unknown): FinishReason =>
  (isObject(details) ? ownMember(incompleteReasons, textOr(details['reason'], '')) : undefined) ?? 'other';

/** Null when the server reports nothing: the engine then estimates (08 §9.5). */
function readUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const input = count(value['input_tokens']);
  const output = count(value['output_tokens']);
  if (input === 0 && output === 0) return null;
  const { input_tokens_details: ofInput, output_tokens_details: ofOutput } = value;
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: isObject(ofOutput) ? count(ofOutput['reasoning_tokens']) : 0,
    cached_input_tokens: isObject(ofInput) ? count(ofInput['cached_tokens']) : 0,
    total_tokens: count(value['total_tokens']) || input + output,
    estimated: false,
  };
}
