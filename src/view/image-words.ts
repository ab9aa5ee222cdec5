import type { SessionMessage } from '../schema/session.ts';
import { formatBytes } from './format.ts';

export type ShownImage = NonNullable<SessionMessage['images']>[number];

/** What stands for an image that was sent with a message. Its name is foreign text. */
export function imageWords({ name, mime_type, bytes }: ShownImage): string {
  return `[image ${name ?? mime_type}${bytes === null ? '' : `, ${formatBytes(bytes)}`}]`;
}

/** An image of a stored message, as people see it. */
export const shownImage = (image: {
  readonly name?: string | undefined;
  readonly mime_type: string;
  readonly bytes?: number | undefined;
}): ShownImage => ({ name: image.name ?? null, mime_type: image.mime_type, bytes: image.bytes ?? null });
