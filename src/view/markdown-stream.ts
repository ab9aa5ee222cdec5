import type { Line } from './line.ts';
import { blockLines, blocksOf, type MarkdownLook, prepared } from './markdown.ts';

/**
 * Lines of a text that grows at its end: blocks that nothing can change any more are kept, so that a piece costs what the
 * last block costs (10 §5.3). A text that is not the one before with more behind it begins anew.
 */
export type MarkdownStream = { lines(text: string): readonly Line[] };

export function createMarkdownStream(look: MarkdownLook): MarkdownStream {
  let before = '';
  let closedAt = 0;
  let closed: Line[] = [];
  // A block of code stays open for long: of a thousand lines only the last one is new.
  const laid = new Map<string, readonly Line[]>();
  const own: MarkdownLook = { ...look, laid };

  return {
    lines(given) {
      const text = prepared(given);
      if (closedAt > text.length || !text.startsWith(before.slice(0, closedAt))) {
        closedAt = 0;
        closed = [];
      }
      before = text;
      // What is behind the last line end may still become anything.
      const whole = text.slice(closedAt, text.lastIndexOf('\n') + 1);
      const blocks = blocksOf(whole);
      const last = blocks.findLastIndex((block) => block.type !== 'space');
      const done = blocks.slice(0, Math.max(0, last));
      if (done.length > 0) {
        closed = joined(closed, blockLines(done, look));
        laid.clear();
        closedAt += done.reduce((sum, block) => sum + block.raw.length, 0);
      }
      return joined(closed, blockLines(blocksOf(text.slice(closedAt)), own));
    },
  };
}

const joined = (above: readonly Line[], below: readonly Line[]): Line[] =>
  above.length === 0 ? [...below] : below.length === 0 ? [...above] : [...above, [], ...below];
