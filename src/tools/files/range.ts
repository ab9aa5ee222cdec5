import { createHash } from 'node:crypto';
import { blocks, readWhole } from './open.ts';
import { countLineEnds, countLines, decodeText, isBinary, mediaType, utf16Encoding } from './text.ts';
import { headBytes } from '../../text/utf8.ts';

/** UTF-16 is decoded as a whole. */
const maxUtf16Bytes = 16 * 1024 * 1024;

export type ScannedRange =
  | {
      readonly kind: 'text';
      /** The wanted lines, as far as they may be needed. */
      readonly text: string;
      /** Of the whole file. */
      readonly lines: number;
      readonly sha256: string;
    }
  | { readonly kind: 'binary'; readonly media: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'aborted' };

export type WantedRange = { readonly start: number; readonly end: number; readonly room: number };

/** Reads a file once, block by block: its digest, its number of lines, and of the wanted lines what may fit. */
export async function scanRange(
  fd: number,
  size: number,
  wanted: WantedRange,
  signal: AbortSignal,
): Promise<ScannedRange> {
  const hash = createHash('sha256');
  const ends = { lf: 0, crlf: 0 };
  const collect = createCollector(wanted);
  let first = true;
  let onlyMark = false;
  let last = 0x0a;
  for await (const block of blocks(fd)) {
    if (signal.aborted) return { kind: 'aborted' };
    if (first && utf16Encoding(block) !== null) return scanUtf16(fd, size, wanted);
    if (first && isBinary(block)) return { kind: 'binary', media: mediaType(block) };
    onlyMark = first && block.length === 3 && hasMark(block);
    first = false;
    hash.update(block);
    const counted = countLineEnds(block, last);
    ends.lf += counted.lf;
    ends.crlf += counted.crlf;
    last = block.at(-1) ?? last;
    collect.push(block);
  }
  const bytes = collect.bytes();
  const bom = wanted.start === 1 && hasMark(bytes);
  const raw = bytes.toString('utf8', bom ? 3 : 0);
  const text = ends.lf > 0 && ends.lf === ends.crlf ? raw.replaceAll('\r\n', '\n') : raw;
  const lines = ends.lf + (last === 0x0a || onlyMark ? 0 : 1);
  return { kind: 'text', text, lines, sha256: hash.digest('hex') };
}

const hasMark = (bytes: Buffer): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Keeps the bytes of the wanted lines: twice the room, because hidden carriage returns do not count. */
function createCollector({ start, end, room }: WantedRange) {
  const most = room * 2 + 4096;
  const parts: Buffer[] = [];
  let line = 1;
  let kept = 0;
  return {
    push(block: Buffer): void {
      for (let at = 0; at < block.length && line <= end && kept < most; ) {
        const feed = block.indexOf(0x0a, at);
        const stop = feed < 0 ? block.length : feed + 1;
        if (line >= start) {
          // The block is used again for the next read.
          parts.push(Buffer.from(block.subarray(at, Math.min(stop, at + most))));
          kept += stop - at;
        }
        if (feed >= 0) line += 1;
        at = stop;
      }
    },
    bytes: () => Buffer.concat(parts),
  };
}

async function scanUtf16(fd: number, size: number, { start, end }: WantedRange): Promise<ScannedRange> {
  const bytes = await readWhole(fd, size, maxUtf16Bytes);
  if (bytes === null) return { kind: 'too_large' };
  const decoded = decodeText(bytes);
  if (decoded.kind === 'binary') return decoded;
  const text = decoded.text
    .split(/(?<=\n)/)
    .slice(start - 1, end)
    .join('');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { kind: 'text', text, lines: countLines(decoded.text), sha256 };
}

/** The lines that fit into the room, and the number of the last whole one. */
export function renderRange(text: string, start: number, numbers: boolean, room: number) {
  let line = start;
  let out = '';
  let size = 0;
  for (let at = 0; at < text.length; line += 1) {
    const feed = text.indexOf('\n', at);
    const raw = feed < 0 ? text.slice(at) : text.slice(at, feed + 1);
    const shown = numbers ? `${line}: ${raw}` : raw;
    const length = Buffer.byteLength(shown);
    if (size + length > room) {
      return out === ''
        ? { text: headBytes(shown, room), last: line - 1, inside: true }
        : { text: out, last: line - 1, inside: false };
    }
    out += shown;
    size += length;
    at += raw.length;
  }
  return { text: out, last: line - 1, inside: false };
}
