/** Crockford base 32 in lower case: no i, l, o, u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type RandomBytes = (bytes: Uint8Array) => void;

/**
 * A lower-case ULID: 10 characters of time in milliseconds, 16 of randomness (80 bits, 11 §2.1).
 * @param now milliseconds since the epoch
 * @param random fills the given bytes; the platform's generator unless a test gives another
 */
export function ulid(
  now: number,
  random: RandomBytes = (bytes) => void globalThis.crypto.getRandomValues(bytes),
): string {
  let time = now;
  let head = '';
  for (let index = 0; index < 10; index += 1) {
    head = alphabet.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  const bytes = new Uint8Array(16);
  random(bytes);
  let tail = '';
  for (const byte of bytes) tail += alphabet.charAt(byte & 31);
  return head + tail;
}

/** An id with its kind in front, as people meet it: `run_`, `ask_`, `call_`. */
export const newId = (kind: 'run' | 'ask' | 'call', now: number): string => `${kind}_${ulid(now)}`;

/** Characters that an end or a beginning of an id must have to stand for it. */
const leastOfId = 4;

/** The id without its kind where it is long enough to look for (03 §1.1); else null. */
export function idPart(part: string): string | null {
  const text = part.replace(/^(?:run|ask|call)_/, '');
  return text.length < leastOfId ? null : text;
}

/** Why nothing was found by such a part. */
export const noSuch = (what: 'run' | 'ask', part: string): string =>
  `no such ${what}: ${part}${idPart(part) === null ? `; ${leastOfId} characters of an id are the least` : ''}`;
