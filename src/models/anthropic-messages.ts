import type { Image, Message, ToolCallPart } from '../schema/message.ts';
import { argumentsObject, ownMeta } from './history.ts';
import type { ModelRequest } from './model.ts';
import type { WireNames } from './names.ts';
import { count } from './shape.ts';
import { argumentsSchema } from './tool-schema.ts';

/** Thinking blocks that this service wrote into a message. */
export function blocksOf(message: Message): readonly unknown[] {
  const blocks = ownMeta(message, 'anthropic')?.['blocks'];
  return Array.isArray(blocks) ? blocks : [];
}

/** How much of the text, in characters, and how many calls stood ahead of a thinking block. */
export type Place = readonly [text: number, calls: number];

/** The places of those blocks; a message of an earlier version has none, and all of them stand at its head. */
function placesOf(message: Message): readonly Place[] {
  const places = ownMeta(message, 'anthropic')?.['places'];
  const list: readonly unknown[] = Array.isArray(places) ? places : [];
  return blocksOf(message).map((_, index) => {
    const place = list[index];
    return Array.isArray(place) ? [count(place[0]), count(place[1])] : [0, 0];
  });
}

export const wireTools = (request: ModelRequest, names: WireNames): readonly unknown[] =>
  request.tools.map((tool) => ({
    name: names.toWire(`${tool.tools}.${tool.tool}`),
    description: tool.description,
    input_schema: argumentsSchema(tool.input_schema),
  }));

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly unknown[] };

/** @param thinking the messages whose thinking blocks are handed back */
export function wireMessages(
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
