import { imageLimits } from '../schema/image-limits.ts';
import type { Image, Message } from '../schema/message.ts';
import { isDeeperThan, mostLevels } from '../text/json-depth.ts';
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
  withinImageBytes(
    messages.filter(
      (message) =>
        message.role !== 'system' &&
        !(message.role === 'assistant' && message.content === '' && (message.tool_calls?.length ?? 0) === 0),
    ),
  );

const bytesOf = (image: Image): number => Math.floor((image.data.length * 3) / 4);

/** The newest images that one request may hold; a note stands for each older one. */
function withinImageBytes(messages: readonly Message[]): readonly Message[] {
  let left: number = imageLimits.requestBytes;
  const fits = (image: Image): boolean => {
    left -= bytesOf(image);
    return left >= 0;
  };
  const sent = new Set(
    messages
      .flatMap(({ images }) => images ?? [])
      .reverse()
      .filter(fits),
  );
  if (left >= 0) return messages;
  return messages.map((message) => {
    const gone = message.images?.filter((image) => !sent.has(image)) ?? [];
    if (gone.length === 0) return message;
    const { images = [], content, ...rest } = message;
    const text = [content, ...gone.map((image) => imageNote(image, 'left out of a long talk'))];
    const kept = images.filter((image) => sent.has(image));
    return { ...rest, content: withoutEmpty(text), ...(kept.length === 0 ? {} : { images: kept }) };
  });
}

const withoutEmpty = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');

/**
 * Arguments as an object. A call that was stored with others was answered with an error; the wire gets none, and none
 * of what is nested too deep to be written again.
 */
export function argumentsObject(text: string): Readonly<Record<string, unknown>> {
  if (text.length > mostLevels && isDeeperThan(text, mostLevels)) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Stands for an image that is not sent, such as that of a tool result where the wire has no place for it (08 §10). */
const imageNote = (image: Image, why: string): string =>
  `[image ${image.name ?? image.mime_type}, ${bytesOf(image)} bytes, ${why}]`;

/** Text of a tool result on a wire without images in results. */
export const resultText = ({ content, images }: Message): string =>
  images === undefined
    ? content
    : withoutEmpty([content, ...images.map((image) => imageNote(image, 'not shown to the model'))]);

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
