import type { RuntimeClient } from '../src/client/operations.ts';
import type { CallItem } from '../src/view/items.ts';
import { wholeItem } from './item-text.ts';
import type { Overlay } from './overlays/overlay.ts';

/** Characters of a text that are in memory at once while it is paged through (10 §5.2). */
const mostOfPart = 262_144;

/** What the transcript holds of the result is known to be, or may be, only a part of it. */
export const isInPart = ({ run_id, result, bytes }: CallItem): boolean =>
  run_id !== null && result !== null && bytes !== null && bytes > result.length;

/** A call whole, read from the record of its run; a long one part by part. @param index of the part, from 0 */
export async function wholeResult(client: RuntimeClient, item: CallItem, index: number): Promise<Overlay> {
  const run = item.run_id === null ? null : await client.showRun({ run_id: item.run_id, full: true });
  const stored = run?.calls.find(({ call_id }) => call_id === item.id)?.result;
  const result = stored == null ? item.result : typeof stored === 'string' ? stored : JSON.stringify(stored);
  const { title, lines } = wholeItem({ ...item, result });
  const parts = partsOf(lines);
  const at = Math.min(index, parts.length - 1);
  const firstLine = parts.slice(0, at).reduce((sum, part) => sum + part.length, 0);
  const shown = parts[at] ?? [];
  if (parts.length === 1) return { kind: 'view', title, lines: shown, at: 0 };
  const part = { item, index: at, count: parts.length, firstLine, allLines: lines.length };
  return {
    kind: 'view',
    title: `${title} · part ${at + 1} of ${parts.length}`,
    lines: shown.map(ownCopy),
    at: 0,
    part,
  };
}

/** Lines in parts of about as many characters. */
function partsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  let size = 0;
  for (const line of lines.flatMap(pieces)) {
    if (size + line.length > mostOfPart && size > 0) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(line);
    size += line.length + 1;
  }
  return parts;
}

/** A line that is longer than a part. */
function pieces(line: string): readonly string[] {
  if (line.length <= mostOfPart) return [line];
  const out: string[] = [];
  for (let from = 0; from < line.length; from += mostOfPart) out.push(line.slice(from, from + mostOfPart));
  return out;
}

/** A piece of a long text keeps all of it alive. */
const ownCopy = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');
