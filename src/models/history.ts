import type { Image, Message } from '../schema/message.ts';
import { isObject } from '../text/json-object.ts';
import type { ModelRequest } from './model.ts';

/** All system text, in order, joined with a blank line (08 §1 rule 4). */
export function systemText(request: ModelRequest): string {
  const texts = [request.system];
  for (const message of request.messages) if (message.role === 'system') texts.push(message.content);
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The messages of the conversation: no system messages, no assistant message that is empty (08 §1 rule 3). */
export const conversation = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(
    (message) =>
      message.role !== 'system' &&
      !(message.role === 'assistant' && message.content === '' && (message.tool_calls?.length ?? 0) === 0),
  );

/** Arguments as an object. A call that was stored with others was answered with an error; the wire gets none. */
export function argumentsObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Stands for an image of a tool result where the wire has no place for it (08 §10). */
const imageNote = (image: Image): string =>
  `[image ${image.name ?? image.mime_type}, ${Math.floor((image.data.length * 3) / 4)} bytes, not shown to the model]`;

/** Text of a tool result on a wire without images in results. */
export const resultText = ({ content, images }: Message): string =>
  images === undefined ? content : [content, ...images.map(imageNote)].filter((text) => text !== '').join('\n');

/** What a backend type wrote into `provider_meta`; null for a message of another type or without any. */
export function ownMeta(
  holder: { readonly provider_meta?: Readonly<Record<string, unknown>> | undefined },
  type: string,
): Readonly<Record<string, unknown>> | null {
  const meta = holder.provider_meta?.[type];
  return isObject(meta) ? meta : null;
}

/** The messages behind the last one that a person wrote: the tool loop that is still open. */
export const toolLoop = (messages: readonly Message[]): readonly Message[] =>
  messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1);
