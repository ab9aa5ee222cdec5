import { boundaryBefore, boundaryBehind } from './utf8.ts';

/** What is kept of a long text, and how many bytes stood between. */
export type Ends = {
  /** Empty, or ends with a line end; one that was not in the text is added. */
  readonly first: string;
  readonly left: number;
  readonly last: string;
};

const headPart = 0.2;
const newline = 0x0a;

/**
 * The first 20 % and last 80 % of `maxBytes` of a longer text in UTF-8 (04 §14.7), cut at a line end where one is near,
 * else between two characters.
 */
export function keepEnds(bytes: Uint8Array, maxBytes: number): Ends {
  const head = lineEnd(bytes, Math.floor(maxBytes * headPart));
  const tail = lineStart(bytes, bytes.length - Math.floor(maxBytes * (1 - headPart)));
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const first = decoder.decode(bytes.subarray(0, head));
  const gap = first === '' || first.endsWith('\n') ? '' : '\n';
  return { first: `${first}${gap}`, left: tail - head, last: decoder.decode(bytes.subarray(tail)) };
}

/** The last line end in the second half before `at`, else the last character boundary. */
function lineEnd(bytes: Uint8Array, at: number): number {
  for (let index = at; index > at / 2; index -= 1) {
    if (bytes[index - 1] === newline) return index;
  }
  return boundaryBefore(bytes, at);
}

/** The first line start in the first half behind `at`, else the next character boundary. */
function lineStart(bytes: Uint8Array, at: number): number {
  const stop = at + (bytes.length - at) / 2;
  for (let index = at; index < stop; index += 1) {
    if (bytes[index - 1] === newline) return index;
  }
  return boundaryBehind(bytes, at);
}
