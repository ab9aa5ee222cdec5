import type { Preview } from '../../schema/ask.ts';
import { type Preimage, sha256Of } from './commit.ts';
import { isBinary } from './text.ts';
import { headBytes } from '../../text/utf8.ts';

/** How much is compared, and how much of it is shown (05 §4.7). */
const maxDiffBytes = 1024 * 1024;
const maxSourceBytes = 5 * 1024 * 1024;
const timeoutMs = 200;
const contextLines = 3;
const noEnd = '\\ No newline at end of file';

type Hunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
};

/** One side of a diff; null = there is no such file. */
type Side = Pick<NonNullable<Preimage>, 'bytes' | 'sha256'> | null;

/** The unified diff of two versions of a file; null when it was cut or cannot be made. */
export async function wholeDiff(name: string, before: Uint8Array, after: Uint8Array): Promise<string | null> {
  const old = { bytes: Buffer.from(before), sha256: sha256Of(before) };
  const { diff, diff_note } = await diffOf(name, old, Buffer.from(after));
  return diff_note === undefined ? (diff ?? null) : null;
}

/** A unified diff of the very bytes that would be replaced and written; every line end is kept as it is. */
export async function diffOf(name: string, before: Side, after: Buffer): Promise<Pick<Preview, 'diff' | 'diff_note'>> {
  const old = before?.bytes ?? Buffer.alloc(0);
  if (before !== null && old.equals(after)) return { diff: '(no changes)' };
  if (Math.max(old.length, after.length) > maxSourceBytes || isBinary(old) || isBinary(after)) {
    return { diff_note: `no diff: ${sizes(before, after)}` };
  }
  const hunks = await hunksOf(old.toString('utf8'), after.toString('utf8'));
  // A file outside the workspace is named by its whole path.
  const side = (word: string) => (name.startsWith('/') ? `${word}${name}` : `${word}/${name}`);
  const head = `--- ${before === null ? '/dev/null' : side('a')}\n+++ ${side('b')}\n`;
  const diff = head + hunks.map(hunkText).join('');
  const size = Buffer.byteLength(diff);
  if (size <= maxDiffBytes) return { diff };
  return {
    diff: headBytes(diff, maxDiffBytes),
    diff_note: `the first ${maxDiffBytes} of ${size} bytes of the diff; ${sizes(before, after)}`,
  };
}

function sizes(before: Side, after: Buffer): string {
  const old = before === null ? 'no file' : `${before.bytes.length} bytes, sha256 ${before.sha256}`;
  return `old: ${old}; new: ${after.length} bytes, sha256 ${sha256Of(after)}`;
}

async function hunksOf(old: string, now: string): Promise<readonly Hunk[]> {
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('a', 'b', old, now, undefined, undefined, {
    context: contextLines,
    timeout: timeoutMs,
  });
  return patch === undefined ? [coarseHunk(old, now)] : patch.hunks;
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  // An empty side is named by the line before it.
  const from = oldLines === 0 ? oldStart - 1 : oldStart;
  const to = newLines === 0 ? newStart - 1 : newStart;
  return `@@ -${from},${oldLines} +${to},${newLines} @@\n${lines.join('\n')}\n`;
}

/** When the finest diff takes too long: what stands between the equal beginning and the equal end, old then new. */
function coarseHunk(old: string, now: string): Hunk {
  const a = linesOf(old);
  const b = linesOf(now);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const from = Math.max(start - contextLines, 0);
  const tail = Math.min(end, contextLines);
  const lines = [
    ...a.slice(from, start).flatMap((line) => shown(' ', line)),
    ...a.slice(start, a.length - end).flatMap((line) => shown('-', line)),
    ...b.slice(start, b.length - end).flatMap((line) => shown('+', line)),
    ...a.slice(a.length - end, a.length - end + tail).flatMap((line) => shown(' ', line)),
  ];
  const oldLines = a.length - end + tail - from;
  return { oldStart: from + 1, oldLines, newStart: from + 1, newLines: b.length - end + tail - from, lines };
}

const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/).filter((line) => line !== '');

const shown = (sign: string, line: string): readonly string[] =>
  line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, noEnd];
