import { isUtf8 } from 'node:buffer';

/** How a file's text is kept: what is hidden on reading comes back on writing (05 §4.4). */
export type TextForm = {
  readonly bom: boolean;
  /** All line ends are CRLF: shown and edited as LF. */
  readonly crlf: boolean;
};

export type Decoded =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly form: TextForm;
      /** False for UTF-16 and for text with bytes that are no UTF-8: read, not edited. */
      readonly editable: boolean;
    }
  | { readonly kind: 'binary'; readonly media: string };

const sniffBytes = 8192;
/** Of the first 8,192 bytes: above this part of invalid sequences a file is binary. */
const maxInvalid = 0.3;
const newline = 0x0a;
const carriageReturn = 0x0d;

export const plainForm: TextForm = { bom: false, crlf: false };

/** Reads bytes as text, or says what they are instead. Pure. */
export function decodeText(bytes: Buffer): Decoded {
  const utf16 = utf16Encoding(bytes);
  if (utf16 !== null) {
    const text = new TextDecoder(utf16).decode(bytes);
    return { kind: 'text', text: fromCrlf(text).text, form: plainForm, editable: false };
  }
  if (isBinary(bytes)) return { kind: 'binary', media: mediaType(bytes) };
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const shown = fromCrlf(bytes.toString('utf8', bom ? 3 : 0));
  return { kind: 'text', text: shown.text, form: { bom, crlf: shown.crlf }, editable: isUtf8(bytes) };
}

/** The bytes of an edited text in the form of the file that it was read from. */
export function encodeText(text: string, form: TextForm): Buffer {
  const body = form.crlf ? text.replaceAll('\n', '\r\n') : text;
  return Buffer.from(form.bom ? `\ufeff${body}` : body);
}

function fromCrlf(text: string): { readonly text: string; readonly crlf: boolean } {
  if (!text.includes('\r\n')) return { text, crlf: false };
  const mixed = /(?:^|[^\r])\n/.test(text);
  return mixed ? { text, crlf: false } : { text: text.replaceAll('\r\n', '\n'), crlf: true };
}

export function utf16Encoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  // With two zeros behind it the mark is that of UTF-32, and no text of UTF-16 begins so.
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? null : 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

/** By the first 8,192 bytes: U+0000, or more than 30 % that is no UTF-8. */
export function isBinary(bytes: Buffer): boolean {
  const start = bytes.subarray(0, sniffBytes);
  if (start.includes(0)) return true;
  if (isUtf8(start)) return false;
  let invalid = 0;
  for (const character of start.toString('utf8')) if (character === '\ufffd') invalid += 1;
  return invalid > start.length * maxInvalid;
}

/** A line ends with LF; a last line without one counts. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return text === '' || text.endsWith('\n') ? count : count + 1;
}

/** Line feeds, and whether each of them stands behind a carriage return. */
export function countLineEnds(bytes: Buffer, before: number): { readonly lf: number; readonly crlf: number } {
  let lf = 0;
  let crlf = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) {
    lf += 1;
    if ((at === 0 ? before : bytes[at - 1]) === carriageReturn) crlf += 1;
  }
  return { lf, crlf };
}

/** Names of files are a file system's text: control characters would look like lines or hide what follows. */
export const showName = (name: string): string =>
  name.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const magic: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
  ['1f8b', 'application/gzip'],
  ['28b52ffd', 'application/zstd'],
  ['fd377a585a00', 'application/x-xz'],
  ['425a68', 'application/x-bzip2'],
  ['377abcaf271c', 'application/x-7z-compressed'],
  ['7f454c46', 'application/x-executable'],
  ['53514c69746520666f726d6174203300', 'application/vnd.sqlite3'],
  ['0061736d', 'application/wasm'],
  ['4f676753', 'application/ogg'],
  ['494433', 'audio/mpeg'],
];

export function mediaType(bytes: Buffer): string {
  const start = bytes.toString('hex', 0, 16);
  return magic.find(([signature]) => start.startsWith(signature))?.[1] ?? 'application/octet-stream';
}
