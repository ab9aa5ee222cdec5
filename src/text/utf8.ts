/** Bytes of a text in UTF-8; an unpaired surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    // A pair is four bytes: two units, and one more for each.
    if (code >= 0xd800 && code < 0xdc00) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) index += 1;
    }
  }
  return bytes;
}

/** Whether a text is longer in UTF-8 than `limit` bytes; looks at no more of it than it must. */
export const exceedsBytes = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && utf8Length(text) > limit);

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The last place between two characters at or before `at`; `at` is cut to the length of the bytes. */
export function boundaryBefore(bytes: Uint8Array, at: number): number {
  let place = Math.max(0, Math.min(at, bytes.length));
  while (place > 0 && isContinuation(bytes[place])) place -= 1;
  return place;
}

/** The first place between two characters at or behind `at`; `at` is cut to the length of the bytes. */
export function boundaryBehind(bytes: Uint8Array, at: number): number {
  let place = Math.max(0, Math.min(at, bytes.length));
  while (isContinuation(bytes[place])) place += 1;
  return place;
}

/** The longest beginning of at most `max` bytes that ends between two characters. */
export function headBytes(text: string, max: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= max) return text;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, boundaryBefore(bytes, max)));
}
