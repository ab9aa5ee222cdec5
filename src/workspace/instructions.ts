import { isUtf8 } from 'node:buffer';
import { headBytes } from '../text/utf8.ts';
import { type DocumentFile, type DocumentPlace, readDocument } from './files.ts';

/** As much of a file with instructions is given to a model: they are in every request. */
const maxBytes = 32 * 1024;

export type InstructionsFile =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unfit'; readonly reason: string }
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly cut: boolean;
      readonly file: DocumentFile & { readonly ok: true };
    };

/**
 * Reads a file with instructions for agents: UTF-8, the first 32 KiB, the end of which says that it was cut. A blank file
 * counts as missing. Never throws.
 */
export function readInstructions(path: string, place: DocumentPlace, uid: number | null): InstructionsFile {
  const file = readDocument(path, place, uid);
  if (!file.ok) return file.fault === 'missing' ? { kind: 'missing' } : { kind: 'unfit', reason: file.message };
  const bytes = Buffer.from(file.bytes);
  if (!isUtf8(bytes) || bytes.includes(0)) return { kind: 'unfit', reason: 'it is not text in UTF-8' };
  const whole = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n');
  if (whole.trim() === '') return { kind: 'missing' };
  const text = firstLines(whole);
  return { kind: 'text', text, cut: text !== whole, file };
}

/** Cut at a line end, where there is one. */
function firstLines(whole: string): string {
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const head = headBytes(whole, maxBytes);
  const end = head.lastIndexOf('\n') + 1;
  const kept = end > 0 ? head.slice(0, end) : `${head}\n`;
  return `${kept}[cut after ${maxBytes / 1024} KiB; the file goes on]`;
}
