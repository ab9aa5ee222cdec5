import { closeSync, constants, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { notKeptIn } from '../src/text/system-reason.ts';
import { codeOf } from '../src/text/thrown.ts';

/** 05 §2.5: what is beyond this is left out of the file, and the result says so. */
const spoolFileBytes = 8 * 1024 * 1024;
const headPart = 0.2;
const newline = 0x0a;
/** Room for the middle line of a cut stream. */
const markerBytes = 160;
const maxSameName = 1000;

export type StreamName = 'stdout' | 'stderr';

/** One output stream: all of it while it is small; later its beginning, its end, and a file with the whole. */
export type Capture = {
  readonly bytes: () => number;
  push(chunk: Buffer): void;
  /** The stream in at most `share` bytes: whole, or beginning and end around a line that says what is left out. */
  inline(share: number): { readonly text: string; readonly cut: boolean };
  /** Closes the file. @returns its spool name, or null when there is none. */
  close(): string | null;
  readonly spoolTruncated: () => boolean;
  readonly spoolFault: () => string | null;
};

type SpoolPlace = { readonly directory: string; readonly name: string } | null;

/** @param budget bytes that both streams may have inline; what is longer than this is kept in part only. */
export function createCapture(stream: StreamName, budget: number, place: SpoolPlace): Capture {
  const headBytes = Math.floor(budget * headPart);
  let total = 0;
  let lines = 0;
  let chunks: Buffer[] = [];
  let ends: { readonly head: Buffer; readonly tail: Tail } | null = null;
  const file = createSpoolFile(stream, place);

  /** From here on the whole is in the file alone. */
  const split = (): NonNullable<typeof ends> => {
    const whole = Buffer.concat(chunks);
    chunks = [];
    file.write(whole);
    const tail = createTail(budget - headBytes);
    tail.push(whole);
    return { head: whole.subarray(0, headBytes), tail };
  };

  return {
    bytes: () => total,
    push(chunk) {
      total += chunk.length;
      lines += countLines(chunk);
      if (ends !== null) {
        file.write(chunk);
        ends.tail.push(chunk);
        return;
      }
      chunks.push(chunk);
      if (total > budget) ends = split();
    },
    inline(share) {
      if (total <= share && ends === null) return { text: Buffer.concat(chunks).toString('utf8'), cut: false };
      ends ??= split();
      const room = Math.max(share - markerBytes, 0);
      const first = toLineEnd(ends.head.subarray(0, Math.floor(room * headPart)));
      const last = fromLineStart(ends.tail.last(Math.min(Math.floor(room * (1 - headPart)), total - first.length)));
      const leftBytes = total - first.length - last.length;
      const leftLines = lines - countLines(first) - countLines(last);
      const where = file.name() === null ? '' : `; full output: ${file.name()}`;
      const begin = first.toString('utf8');
      const gap = begin === '' || begin.endsWith('\n') ? '' : '\n';
      const middle = `[… ${leftBytes} bytes, ${leftLines} lines left out${where}]`;
      return { text: `${begin}${gap}${middle}\n${last.toString('utf8')}`, cut: true };
    },
    close: () => file.close(),
    spoolTruncated: () => file.truncated(),
    spoolFault: () => file.fault(),
  };
}

type Tail = { push(chunk: Buffer): void; last(count: number): Buffer };

/** The last `size` bytes of what was pushed; each byte is moved at most twice. */
function createTail(size: number): Tail {
  const buffer = Buffer.allocUnsafe(Math.max(size * 2, 1));
  let end = 0;
  return {
    push(chunk) {
      const part = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk;
      if (end + part.length > buffer.length) {
        buffer.copyWithin(0, end - size, end);
        end = size;
      }
      end += part.copy(buffer, end);
    },
    last: (count) => buffer.subarray(Math.max(end - Math.min(count, size), 0), end),
  };
}

/**
 * How much of the budget each stream gets (05 §3.6.4): stdout three quarters, stderr one quarter, and the room that one
 * does not use goes to the other.
 */
export function shares(budget: number, stdoutBytes: number, stderrBytes: number): readonly [number, number] {
  const out = Math.floor((budget * 3) / 4);
  const err = budget - out;
  if (stdoutBytes <= out) return [out, budget - stdoutBytes];
  if (stderrBytes <= err) return [budget - stderrBytes, err];
  return [out, err];
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}

/** A key has none of these in it. */
const separators: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n"\'`,;<>(){}[]'));
const longestWord = 512;

/**
 * Cuts behind the last line feed of the second half, else between two words: a half of a secret is not known for a part of
 * it (11 §5.3). Else between two characters.
 */
function toLineEnd(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(newline);
  if (end >= bytes.length / 2) return bytes.subarray(0, end + 1);
  const word = bytes.subarray(-longestWord).findLastIndex((byte) => separators.has(byte));
  if (word > 0) return bytes.subarray(0, Math.max(0, bytes.length - longestWord) + word + 1);
  let cut = bytes.length;
  // A character that began in the last three bytes may be incomplete.
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (length > back) cut = bytes.length - back;
    break;
  }
  return bytes.subarray(0, cut);
}

/** Starts behind the first line feed of the first half, else of a word, else of a character. */
function fromLineStart(bytes: Buffer): Buffer {
  const start = bytes.indexOf(newline);
  if (start >= 0 && start < bytes.length / 2) return bytes.subarray(start + 1);
  const word = bytes.subarray(0, longestWord).findIndex((byte) => separators.has(byte));
  if (word >= 0 && word < bytes.length / 2) return bytes.subarray(word + 1);
  let from = 0;
  while (from < 3 && from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from);
}

type SpoolFile = {
  write(chunk: Buffer): void;
  readonly name: () => string | null;
  readonly truncated: () => boolean;
  readonly fault: () => string | null;
  close(): string | null;
};

/** The file is made with the first byte: 0600, exclusively, never through a link (05 §2.5.1). Never throws. */
function createSpoolFile(stream: StreamName, place: SpoolPlace): SpoolFile {
  let opened: { readonly fd: number; readonly name: string } | null = null;
  let closed: string | null = null;
  let written = 0;
  let truncated = false;
  let fault: string | null = null;

  return {
    write(chunk) {
      if (place === null || fault !== null) return;
      try {
        opened ??= openSpool(place.directory, place.name, stream);
        const part = chunk.subarray(0, spoolFileBytes - written);
        if (part.length < chunk.length) truncated = true;
        for (let at = 0; at < part.length; ) at += writeSync(opened.fd, part, at);
        written += part.length;
      } catch (error) {
        // A full disk loses the copy, not the call (05 §2.5.2).
        fault = notKeptIn(dirname(place.directory), error);
      }
    },
    name: () => (fault !== null ? null : (opened?.name ?? null)),
    truncated: () => truncated,
    fault: () => fault,
    close() {
      if (opened !== null) {
        closeSync(opened.fd);
        closed = fault !== null ? null : opened.name;
        opened = null;
      }
      return closed;
    },
  };
}

function openSpool(directory: string, base: string, stream: StreamName): { fd: number; name: string } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!lstatSync(directory).isDirectory()) throw new Error('not a directory');
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  for (let count = 1; count <= maxSameName; count += 1) {
    const file = `${count === 1 ? base : `${base}-${count}`}.${stream}`;
    try {
      return {
        fd: openSync(join(directory, file), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600),
        name: `@output/${file}`,
      };
    } catch (error) {
      // Ids of calls are unique in one round only: a taken name gets a number.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
  throw new Error('too many results of one name');
}
