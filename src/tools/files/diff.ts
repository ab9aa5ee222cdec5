import type { Preview } from '../../schema/ask.ts';
import { type Preimage, sha256Of } from './commit.ts';
import { countLines, isBinary } from './text.ts';
import { headBytes } from '../../text/utf8.ts';

/** How much is compared, and how much of it is shown (05 §4.7). */
const maxDiffBytes = 1024 * 1024;
const maxSourceBytes = 5 * 1024 * 1024;
const timeoutMs = 200;
/** To compare more lines than this finely would hold up everything else. */
const maxFineLines = 50_000;
const contextLines = 3;
const noEnd = '\\ No newline at end of file';

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
  const diff = head + hunks;
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

async function hunksOf(old: string, now: string): Promise<string> {
  const change = changeOf(old, now);
  const { before, removed, added, after } = change;
  if (countLines(removed) + countLines(added) > maxFineLines) return coarseHunk(change);
  const { structuredPatch } = await import('diff');
  const sides = [before + removed + after, before + added + after] as const;
  const patch = structuredPatch('a', 'b', ...sides, undefined, undefined, {
    context: contextLines,
    timeout: timeoutMs,
  });
  if (patch === undefined) return coarseHunk(change);
  return patch.hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        hunkHead(oldStart + change.lines, oldLines, newStart + change.lines, newLines),
        ...lines.map((line) => `${line}\n`),
      ].join(''),
    )
    .join('');
}

// An empty side is named by the line before it.
const hunkHead = (oldStart: number, oldLines: number, newStart: number, newLines: number): string =>
  `@@ -${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines} +${newLines === 0 ? newStart - 1 : newStart},${newLines} @@\n`;

/** What stands between the equal beginning and the equal end, in whole lines, with its context. */
type Change = {
  /** How many lines are ahead of `before`. */
  readonly lines: number;
  readonly before: string;
  readonly removed: string;
  readonly added: string;
  readonly after: string;
};

function changeOf(old: string, now: string): Change {
  const shorter = Math.min(old.length, now.length);
  let same = 0;
  while (same < shorter && old.charCodeAt(same) === now.charCodeAt(same)) same += 1;
  const start = lineBegin(old, same);
  let oldEnd = old.length;
  let nowEnd = now.length;
  while (oldEnd > start && nowEnd > start && old.charCodeAt(oldEnd - 1) === now.charCodeAt(nowEnd - 1)) {
    oldEnd -= 1;
    nowEnd -= 1;
  }
  if (lineBegin(old, oldEnd) !== oldEnd || lineBegin(now, nowEnd) !== nowEnd) {
    const rest = old.length - lineEnd(old, oldEnd);
    oldEnd = old.length - rest;
    nowEnd = now.length - rest;
  }
  let contextStart = start;
  let contextEnd = oldEnd;
  for (let line = 0; line < contextLines; line += 1) {
    contextStart = lineBegin(old, Math.max(contextStart - 1, 0));
    contextEnd = lineEnd(old, contextEnd);
  }
  return {
    lines: countLines(old.slice(0, contextStart)),
    before: old.slice(contextStart, start),
    removed: old.slice(start, oldEnd),
    added: now.slice(start, nowEnd),
    after: old.slice(oldEnd, contextEnd),
  };
}

/** Where the line of a place begins; a place behind a line end begins a line. */
const lineBegin = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);

/** Where the line of a place ends, its line end included. */
function lineEnd(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed < 0 ? text.length : feed + 1;
}

/** When the finest diff takes too long: all that was taken out, then all that was put in. */
function coarseHunk({ lines, before, removed, added, after }: Change): string {
  const around = countLines(before) + countLines(after);
  const start = lines + 1;
  const head = hunkHead(start, around + countLines(removed), start, around + countLines(added));
  return head + signed(' ', before) + signed('-', removed) + signed('+', added) + signed(' ', after);
}

function signed(sign: string, text: string): string {
  if (text === '') return '';
  const isWhole = text.endsWith('\n');
  const body = isWhole ? text.slice(0, -1) : text;
  return `${sign}${body.replaceAll('\n', `\n${sign}`)}\n${isWhole ? '' : `${noEnd}\n`}`;
}
