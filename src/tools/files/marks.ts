import { fail, type ToolFailure } from '../failure.ts';
import type { ReadMark, ReadMarks } from '../tool.ts';

type Range = readonly [number, number];

/** Records what a model has seen of a file (05 §4.5). Ranges that together are the whole file make it `full`. */
export function markRead(
  marks: ReadMarks,
  scope: string,
  path: string,
  seen: { readonly sha256: string; readonly lines: number; readonly shown: Range | 'all' },
): void {
  const before = marks.get(scope, path);
  const known = before?.sha256 === seen.sha256 ? before : null;
  const shown = seen.shown === 'all' ? [] : [seen.shown];
  const ranges = joinRanges([...(known?.ranges ?? []), ...shown].filter(([from, to]) => to >= from));
  const [first] = ranges;
  const together = ranges.length === 1 && first !== undefined && first[0] <= 1 && first[1] >= seen.lines;
  const full = known?.full === true || seen.shown === 'all' || together;
  marks.put(scope, path, { sha256: seen.sha256, full, ranges: full ? [] : ranges });
}

function joinRanges(ranges: readonly Range[]): readonly Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const joined: Range[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && range[0] <= last[1] + 1)
      joined[joined.length - 1] = [last[0], Math.max(last[1], range[1])];
    else joined.push(range);
  }
  return joined;
}

/** 05 §4.5.2. @param needed `full` for replacing a file, `any` for changing a part of it */
export function markFault(
  mark: ReadMark | null,
  sha256: string,
  given: string,
  needed: 'full' | 'any',
): ToolFailure | null {
  if (mark !== null && mark.sha256 !== sha256) {
    return fail('stale_read', `"${given}" has changed since it was read. Read it again with read_file, then repeat.`);
  }
  if (mark !== null && (mark.full || needed === 'any')) return null;
  const how = mark === null ? 'with read_file' : 'completely (read_file, or read_file_range until its last line)';
  return fail('read_first', `"${given}" exists and must be read ${how} before it is changed.`);
}

/** The new content is known in full if it was written whole, or if the old one was known so (05 §4.5.3). */
export function markWritten(
  marks: ReadMarks,
  scope: string,
  path: string,
  written: { readonly sha256: string; readonly whole: boolean },
): void {
  marks.put(scope, path, writtenMark(marks.get(scope, path), written));
}

export function writtenMark(
  before: ReadMark | null,
  written: { readonly sha256: string; readonly whole: boolean },
): ReadMark {
  const full = written.whole || before?.full === true;
  return { sha256: written.sha256, full, ranges: full ? [] : (before?.ranges ?? []) };
}
