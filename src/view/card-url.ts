import type { Preview } from '../schema/ask.ts';
import { formatBytes } from './format.ts';

/** What a request takes along beside its address: names of headers and the size of its body; null for neither. */
export function sendsLine({ headers = [], body_bytes: size = null }: NonNullable<Preview['url']>): string | null {
  const parts = [
    ...(headers.length === 0 ? [] : [`headers ${headers.join(', ')}`]),
    ...(size === null ? [] : [`body ${formatBytes(size)}`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/** How its host reads in letters other than ASCII, beside the spelling that is connected to; null where it has none. */
export const unicodeLine = ({ host_unicode: unicode }: NonNullable<Preview['url']>): string | null =>
  unicode === undefined ? null : `in Unicode: ${unicode}`;
