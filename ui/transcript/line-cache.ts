import { type Batch, batchLine, foldableBatch } from '../../src/view/batch.ts';
import { itemLines } from '../../src/view/item-lines.ts';
import type { Item } from '../../src/view/items.ts';
import type { Line } from '../../src/view/line.ts';
import { createMarkdownStream, type MarkdownStream } from '../../src/view/markdown-stream.ts';
import type { ItemLook } from '../../src/view/rows.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { Blocks } from './viewport.ts';

/** Most items whose lines are kept, and most bytes of them, the least recently shown first out (10 §5.2). */
const mostItems = 4000;
const mostBytes = 32 * 1024 * 1024;
/** Items whose lines are kept while nothing happens: some screens full. */
const mostAtRest = 200;

type CacheLook = {
  readonly columns: number;
  readonly glyphs: Glyphs;
  readonly collapse: number;
  readonly now: number;
  opened(item: Item): boolean;
  /** Whether the calls of a batch are shown one by one. */
  unfolded(batch: Batch): boolean;
};

type Kept = { readonly item: Item; readonly key: string; readonly lines: readonly Line[]; readonly bytes: number };

/**
 * Lines of items, laid out once for each item, width and state. An item that changes is another object, so nothing here
 * has to be told; what still runs and shows a time is laid out anew. Of an item only the newest state is kept: a text
 * that streams is another object in every frame, each with all its rows.
 */
export function createLineCache() {
  const kept = new Map<string, Kept>();
  let bytes = 0;
  const streams = new Map<
    string,
    { readonly columns: number; readonly glyphs: Glyphs; readonly stream: MarkdownStream }
  >();

  const markdown =
    (glyphs: Glyphs) =>
    (id: string, text: string, columns: number): readonly Line[] => {
      let own = streams.get(id);
      if (own === undefined || own.columns !== columns || own.glyphs !== glyphs) {
        own = { columns, glyphs, stream: createMarkdownStream({ columns, glyphs }) };
        streams.set(id, own);
      }
      return own.stream.lines(text);
    };

  const linesOf = (item: Item, apart: boolean, look: CacheLook): readonly Line[] => {
    const opened = look.opened(item);
    const running =
      (item.kind === 'call' && item.state === 'running') || (item.kind === 'reasoning' && item.state === 'streaming');
    const key = `${look.columns} ${look.glyphs} ${apart} ${opened} ${look.collapse} ${running ? Math.floor(look.now / 1000) : ''}`;
    const name = `${item.kind} ${item.id}`;
    const before = kept.get(name);
    kept.delete(name);
    if (before?.item === item && before.key === key) {
      kept.set(name, before);
      return before.lines;
    }
    bytes -= before?.bytes ?? 0;
    const itemLook: ItemLook = {
      columns: look.columns,
      glyphs: look.glyphs,
      opened,
      collapse: look.collapse,
      now: look.now,
      markdown: markdown(look.glyphs),
    };
    let lines: readonly Line[];
    try {
      lines = itemLines(item, itemLook);
      if (apart) lines = [[], ...lines];
    } catch (error) {
      lines = brokenItem(error);
    }
    // A finished text is kept as lines alone.
    if (item.kind === 'assistant' && item.state !== 'streaming') streams.delete(item.id);
    const own = { item, key, lines, bytes: bytesOf(item, lines) };
    kept.set(name, own);
    bytes += own.bytes;
    for (const [oldest, { bytes: gone }] of kept) {
      if ((kept.size <= mostItems && bytes <= mostBytes) || oldest === name) break;
      kept.delete(oldest);
      bytes -= gone;
    }
    return lines;
  };

  return {
    /** Keeps only what was shown last: the rest is laid out again when somebody scrolls to it. */
    shorten(): void {
      for (const [name, { bytes: gone }] of kept) {
        if (kept.size <= mostAtRest) break;
        kept.delete(name);
        bytes -= gone;
      }
    },
    /** What is kept now, to be held against the limits. */
    held: () => ({ items: kept.size, bytes }),
    /** The items as blocks, an empty row before each that does not belong to the one above it. */
    blocks(items: readonly Item[], look: CacheLook): Blocks {
      const folds = new Map<number, Batch | null>();
      const foldOf = (index: number): Batch | null => {
        const known = folds.get(index);
        if (known !== undefined) return known;
        const batch = foldableBatch(items, index);
        const fold = batch === null || look.unfolded(batch) ? null : batch;
        if (fold === null) folds.set(index, null);
        else for (const at of fold.calls.keys()) folds.set(fold.first + at, fold);
        return fold;
      };
      return {
        count: items.length,
        idOf: (index) => items[index]?.id ?? '',
        indexOf: (id) => items.findLastIndex((item) => item.id === id),
        foldOf,
        linesOf: (index) => {
          const item = items[index];
          const fold = foldOf(index);
          if (fold !== null) {
            // A batch is one line, where its first call stands.
            if (index !== fold.first) return [];
            const line = batchLine(fold, look);
            return item !== undefined && standsApart(items[index - 1], item) ? [[], line] : [line];
          }
          return item === undefined ? [] : linesOf(item, standsApart(items[index - 1], item), look);
        },
      };
    },
  };
}
export type LineCache = ReturnType<typeof createLineCache>;

/** Calls of a batch and notices of a row stand together. */
const standsApart = (above: Item | undefined, item: Item): boolean =>
  above !== undefined && !(above.kind === item.kind && (item.kind === 'call' || item.kind === 'notice'));

/** About what the rows take, and what they keep alive: pieces of a text hold the whole of it. */
function bytesOf(item: Item, lines: readonly Line[]): number {
  let sum = 0;
  for (const line of lines) sum += bytesOfRow + line.length * bytesOfSpan;
  if (item.kind === 'call') return sum + item.output.length + (item.result?.length ?? 0) + (item.diff?.length ?? 0);
  return item.kind === 'ask' ? sum : sum + item.text.length;
}
const bytesOfRow = 48;
const bytesOfSpan = 72;

/** One item that cannot be drawn leaves the others as they are (10 §17). */
function brokenItem(error: unknown): readonly Line[] {
  const name = error instanceof Error ? error.name : 'error';
  return [[{ text: `! cannot be shown (${name.replace(/[^\w]/g, '')})` as Line[number]['text'], token: 'danger' }]];
}
