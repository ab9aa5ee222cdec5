import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { imageLimits } from '../schema/image-limits.ts';
import type { Image, Message } from '../schema/message.ts';

/** Images of a message: bytes are stored once by their hash, a stored message names them (08 §10). */
export type BlobStore = {
  /** @returns the SHA-256 of the bytes. */
  putBlob(bytes: Uint8Array, now: number): string;
  blob(sha256: string): Uint8Array | null;
};

export type LoadedImage = { readonly bytes: Uint8Array; readonly mime_type: string; readonly name: string };

/** Kinds by content, never by name: offset of the mark, the mark, the media type. */
const kinds: readonly (readonly [number, string, string])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
];

/** @throws RuntimeError usage for too many, and for a file that cannot be read, is no image, or is too large. */
export function readImages(images: readonly { readonly path: string }[]): readonly LoadedImage[] {
  if (images.length > imageLimits.inMessage) {
    throw new RuntimeError('usage', `--image: ${images.length} images, more than ${imageLimits.inMessage}`);
  }
  const loaded = images.map(({ path }): LoadedImage => {
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      throw new RuntimeError('usage', `--image: ${path} cannot be read`, { cause: error });
    }
    const head = bytes.subarray(0, 12).toString('latin1');
    const kind = kinds.find(([offset, mark]) => head.startsWith(mark, offset));
    if (kind === undefined) throw new RuntimeError('usage', `--image: ${path} is not a PNG, JPEG, GIF or WebP image`);
    if (bytes.length > imageLimits.bytes) throw new RuntimeError('usage', `--image: ${path} is larger than 10 MiB`);
    return { bytes, mime_type: kind[2], name: basename(path) };
  });
  const total = loaded.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > imageLimits.requestBytes)
    throw new RuntimeError('usage', `--image: ${total} bytes of images, more than 20 MiB`);
  return loaded;
}

/** Stores the bytes; in the caller's transaction. The result has no data: `withImageData` fills it in. */
export const storeImages = (blobs: BlobStore, images: readonly LoadedImage[], now: number): Image[] =>
  images.map(({ bytes, mime_type, name }) => {
    const sha256 = blobs.putBlob(bytes, now);
    return { data: '', mime_type, name, sha256, bytes: bytes.length };
  });

/** The user's message of a run that starts with images. */
export const imageMessage = (id: string, content: string, images: readonly Image[], at: number): Message => ({
  id,
  role: 'user',
  content,
  timestamp: new Date(at).toISOString(),
  ...(images.length === 0 ? {} : { images: [...images] }),
});

/** JSON array text of messages with the bytes of their images; the same text when there are none. */
export function withImageData(messages: string, blobs: BlobStore): string {
  if (!messages.includes('"images":[')) return messages;
  // Rows of our own.
  const parsed = JSON.parse(messages) as Message[];
  const filled = parsed.map((message) =>
    message.images === undefined
      ? message
      : { ...message, images: message.images.map((image) => withData(image, blobs)) },
  );
  return JSON.stringify(filled);
}

function withData(image: Image, blobs: BlobStore): Image {
  if (image.data !== '') return image;
  const bytes = blobs.blob(image.sha256);
  return bytes === null ? image : { ...image, data: Buffer.from(bytes).toString('base64') };
}
