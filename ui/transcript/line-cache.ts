import { itemLines } from '../../src/view/item-lines.ts';
import type { Item } from '../../src/view/items.ts';
import type { Line } from '../../src/view/line.ts';
import { createMarkdownStream, type MarkdownStream } from '../../src/view/markdown-stream.ts';
import type { ItemLook } from '../../src/view/rows.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { Blocks } from './viewport.ts';

/** Most items whose lines are kept, the least recently shown first out (10 §5.2). */
const mostItems = 4000;

export type CacheLook = {
  readonly columns: number;
  readonly glyphs: Glyphs;
  readonly collapse: number;
  readonly now: number;
  opened(item: Item): boolean;
};

type Kept = { readonly key: string; readonly lines: readonly Line[] };

/**
 * Lines of items, laid out once for each item, width and state. An item that changes is another object, so nothing here
 * has to be told; what still runs and shows a time is laid out anew.
 */
export function createLineCache() {
  const kept = new Map<Item, Kept>();
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

  const linesOf = (item: Item, look: CacheLook): readonly Line[] => {
    const opened = look.opened(item);
    const running = item.kind === 'call' && item.state === 'running';
    const key = `${look.columns} ${look.glyphs} ${opened} ${look.collapse} ${running ? Math.floor(look.now / 1000) : ''}`;
    const before = kept.get(item);
    if (before?.key === key) {
      kept.delete(item);
      kept.set(item, before);
      return before.lines;
    }
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
    } catch (error) {
      lines = brokenItem(error);
    }
    // A finished text is kept as lines alone.
    if (item.kind === 'assistant' && item.state !== 'streaming') streams.delete(item.id);
    kept.set(item, { key, lines });
    if (kept.size > mostItems) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    return lines;
  };

  return {
    /** The items as blocks, an empty row before each that does not belong to the one above it. */
    blocks(items: readonly Item[], look: CacheLook): Blocks {
      return {
        count: items.length,
        idOf: (index) => items[index]?.id ?? '',
        indexOf: (id) => items.findLastIndex((item) => item.id === id),
        linesOf: (index) => {
          const item = items[index];
          if (item === undefined) return [];
          const lines = linesOf(item, look);
          return apart(items[index - 1], item) ? [[], ...lines] : lines;
        },
      };
    },
  };
}
export type LineCache = ReturnType<typeof createLineCache>;

/** Calls of a batch and notices of a row stand together. */
const apart = (above: Item | undefined, item: Item): boolean =>
  above !== undefined && !(above.kind === item.kind && (item.kind === 'call' || item.kind === 'notice'));

/** One item that cannot be drawn leaves the others as they are (10 §17). */
function brokenItem(error: unknown): readonly Line[] {
  const name = error instanceof Error ? error.name : 'error';
  return [[{ text: `! cannot be shown (${name.replace(/[^\w]/g, '')})` as Line[number]['text'], token: 'danger' }]];
}
