import type { Image, Message } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import { isObject } from '../text/json-object.ts';
import { createListWriter, type WrittenList } from './encode.ts';
import { argumentsText, ownOf } from './openai-messages.ts';
import { conversation, resultText } from './history.ts';
import type { ModelRequest } from './model.ts';
import type { WireNames } from './names.ts';
import { count } from './shape.ts';

/**
 * What one reply consisted of, in order, kept with its message: reasoning as it came (sealed), and where the text of a
 * message and a call stood between it.
 */
export type OutputEntry =
  | { readonly type: 'reasoning'; readonly summary: unknown; readonly encrypted_content: string }
  | { readonly type: 'message'; readonly length: number; readonly phase?: string }
  | { readonly type: 'function_call' };

/** Stands between the texts of two messages of one reply. */
export const betweenTexts = '\n\n';

/** What a service was found to want of a history. */
export type InputForm = {
  /** Images of tool results are written. */
  readonly images: boolean;
  /** The reasoning up to this message, and in it, is left out; null: none of it. */
  readonly unreadable: Message | null;
};

/** Writes the items of a request; what earlier requests have written is not written again. */
export async function createInputWriter(
  route: Route,
): Promise<(request: ModelRequest, names: WireNames, form: InputForm) => WrittenList> {
  const { createHash } = await import('node:crypto');
  const id: IdForm = (known) =>
    known.length <= longestId ? known : `call_${createHash('sha256').update(known).digest('hex').slice(0, 32)}`;
  const lists = new Map<string, ReturnType<typeof createListWriter<WireNames, object>>>();
  /** Messages whose reasoning is left out in the list that is being written. */
  let without: ReadonlySet<Message> = new Set();

  return (request, names, { images, unreadable }) => {
    const messages = conversation(request.messages);
    without = new Set(unreadable === null ? [] : messages.slice(0, messages.indexOf(unreadable) + 1));
    const key = JSON.stringify([request.model, images, unreadable?.id]);
    const make = (message: Message, known: WireNames): readonly object[] => {
      if (message.role === 'assistant') {
        return spokenItems(message, known, id, outputOf(message, route, request.model), !without.has(message));
      }
      return [message.role === 'tool' ? resultItem(message, id, images) : userItem(message)];
    };
    const write = lists.get(key) ?? createListWriter(make);
    lists.set(key, write);
    return write([], messages, names);
  };
}

type IdForm = (id: string) => string;

/** The service refuses a call id that is longer, which another may have made. */
const longestId = 64;

/** Whether a message holds reasoning that this model of this backend wrote, and so can read. */
export const hasReasoning = (message: Message, route: Route, model: string): boolean =>
  message.provider_meta !== undefined &&
  (outputOf(message, route, model)?.some((entry) => entry['type'] === 'reasoning') ?? false);

/** What this very model of this backend wrote; another could not open it. */
function outputOf(message: Message, route: Route, model: string): readonly Readonly<Record<string, unknown>>[] | null {
  const own = ownOf(message, route)?.['responses'];
  if (!isObject(own) || own['model'] !== model || !Array.isArray(own['output'])) return null;
  return own['output'].filter(isObject);
}

/** Nothing has an id: nothing is stored, so that the service would look for what it never kept. */
function spokenItems(
  message: Message,
  names: WireNames,
  id: IdForm,
  output: ReturnType<typeof outputOf>,
  reasons: boolean,
): readonly object[] {
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'function_call',
    call_id: id(call.id),
    name: names.toWire(call.function.name),
    arguments: argumentsText(call.function.arguments),
  }));
  if (output === null) return [...textItem(message.content), ...calls];
  const texts = cutTexts(message.content, output);
  const items: object[] = texts === null ? [...textItem(message.content)] : [];
  for (const entry of output) {
    if (entry['type'] === 'reasoning' && reasons) items.push(entry);
    else if (entry['type'] === 'message') items.push(...textItem(texts?.shift() ?? '', entry['phase']));
    else if (entry['type'] === 'function_call') items.push(...calls.splice(0, 1));
  }
  items.push(...calls);
  // Reasoning that nothing follows is refused.
  while (isReasoning(items.at(-1))) items.pop();
  return items;
}

const isReasoning = (item: object | undefined): boolean =>
  item !== undefined && 'type' in item && item.type === 'reasoning';

const textItem = (text: string, phase?: unknown): readonly object[] =>
  text === ''
    ? []
    : [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text }],
          ...(typeof phase === 'string' ? { phase } : {}),
        },
      ];

/** The texts of the messages of a reply; null where the content is not what was counted. */
function cutTexts(content: string, output: readonly Readonly<Record<string, unknown>>[]): string[] | null {
  const texts: string[] = [];
  let at = 0;
  for (const entry of output) {
    if (entry['type'] !== 'message') continue;
    if (texts.length > 0) {
      if (!content.startsWith(betweenTexts, at)) return null;
      at += betweenTexts.length;
    }
    const end = at + count(entry['length']);
    texts.push(content.slice(at, end));
    at = end;
  }
  return at === content.length ? texts : null;
}

const imageItem = (image: Image): object => ({
  type: 'input_image',
  detail: 'auto',
  image_url: `data:${image.mime_type};base64,${image.data}`,
});

const inputText = (text: string): object => ({ type: 'input_text', text });

function userItem({ role, content, images = [] }: Message): object {
  const text = content === '' && images.length > 0 ? [] : [inputText(content)];
  return { type: 'message', role, content: [...text, ...images.map(imageItem)] };
}

function resultItem(message: Message, id: IdForm, withImages: boolean): object {
  const { content, images = [] } = message;
  const shown = withImages && images.length > 0;
  return {
    type: 'function_call_output',
    call_id: id(message.tool_call_id ?? ''),
    output: shown ? [...(content === '' ? [] : [inputText(content)]), ...images.map(imageItem)] : resultText(message),
  };
}
