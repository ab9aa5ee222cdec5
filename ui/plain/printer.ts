import type { Item } from '../../src/view/items.ts';
import { answerLines, lastTurns, plainLines, type PlainLook } from '../../src/view/plain-lines.ts';
import { boundedLines } from '../bounded-lines.ts';

/** Appends what has become certain of a transcript; nothing that was printed is printed again (10 §10.1). */
export type Printer = {
  /** @param live the run that goes on: what belongs to no other can still change */
  items(items: readonly Item[], live: string | null): void;
};

/** Turns of a session that are shown when it is opened. */
const firstTurns = 3;
/** What is longer than it should be is read so. */
const allOfIt = '/dump prints the last turns whole, /export writes all to a file';

export type PrinterDeps = {
  /** Writes one line. */
  readonly line: (text: string) => void;
  /** With the reasoning. */
  readonly think: () => boolean;
  readonly look: () => PlainLook;
  /** Called with each call that is over and was not stored before. */
  readonly ended: (item: Extract<Item, { kind: 'call' }>) => void;
};

export function createPrinter({ line, think, look, ended }: PrinterDeps): Printer {
  const printed = new Set<string>();
  /** Characters of the answer that streams that were printed, by its id. */
  const begun = new Map<string, number>();

  const finished = (item: Item, live: string | null): boolean => {
    if (item.kind === 'call')
      return item.run_id !== live || item.state === 'ok' || item.state === 'failed' || item.state === 'denied';
    if (item.kind === 'ask') return item.run_id !== live || item.verdict !== null;
    return !('state' in item) || item.state !== 'streaming';
  };

  const answer = (item: Extract<Item, { kind: 'assistant' }>, whole: boolean, isOpening: boolean): void => {
    const from = begun.get(item.id) ?? 0;
    // A table is one only when it is complete, so what is read aloud comes by paragraphs.
    const to = whole ? item.text.length : item.text.lastIndexOf(look().spoken ? '\n\n' : '\n') + 1;
    const piece = item.text.slice(from, to).replace(whole ? /\n+$/ : /\n$/, '');
    if (to <= from || (piece.trim() === '' && (from === 0 || whole))) return;
    const lines = answerLines(piece, look(), from > 0);
    for (const each of whole && isOpening ? boundedLines(lines, allOfIt) : lines) line(each);
    begun.set(item.id, to);
  };

  return {
    items(items, live) {
      // A session that is opened is not told from its beginning.
      const isOpening = printed.size === 0;
      if (isOpening) for (const item of items.slice(0, -lastTurns(items, firstTurns).length)) printed.add(item.id);
      let waits = false;
      for (const item of items) {
        if (printed.has(item.id) || (waits && item.kind !== 'notice')) continue;
        if (item.kind === 'assistant') answer(item, finished(item, live), isOpening);
        if (!finished(item, live)) {
          // A text that streams has been printed so far as it goes, and nothing comes between its lines.
          if (item.kind === 'assistant') return;
          // What comes behind a running call waits for it, but not what is told of something else.
          waits = true;
          continue;
        }
        printed.add(item.id);
        if (item.kind === 'assistant') {
          if (item.state === 'partial') line('note: partial; this is what arrived');
        } else if (!(item.kind === 'user' && item.id.startsWith('pending:'))) {
          const lines = plainLines(item, think(), look());
          for (const each of isOpening ? boundedLines(lines, allOfIt) : lines) line(each);
          if (item.kind === 'call') ended(item);
        }
      }
    },
  };
}
