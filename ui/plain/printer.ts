import type { Item } from '../../src/view/items.ts';
import { labelled, lastTurns, plainLines } from '../../src/view/plain-lines.ts';

/** Appends what has become certain of a transcript; nothing that was printed is printed again (10 §10.1). */
export type Printer = {
  /** @param live the run that goes on: what belongs to no other can still change */
  items(items: readonly Item[], live: string | null): void;
};

/** Turns of a session that are shown when it is opened. */
const firstTurns = 3;

/**
 * @param line writes one line
 * @param think with the reasoning
 */
export function createPrinter(line: (text: string) => void, think: () => boolean): Printer {
  const printed = new Set<string>();
  /** Whole lines of the answer that streams, by its id. */
  const begun = new Map<string, number>();

  const finished = (item: Item, live: string | null): boolean => {
    if (item.kind === 'call')
      return item.run_id !== live || item.state === 'ok' || item.state === 'failed' || item.state === 'denied';
    if (item.kind === 'ask') return item.run_id !== live || item.verdict !== null;
    if (item.kind === 'shell') return item.state !== 'running';
    return !('state' in item) || item.state !== 'streaming';
  };

  const answer = (item: Extract<Item, { kind: 'assistant' }>, whole: boolean): void => {
    const text = whole ? item.text : item.text.slice(0, item.text.lastIndexOf('\n') + 1);
    const lines = text.trim() === '' ? [] : labelled('reins: ', text, '     | ');
    const from = begun.get(item.id) ?? 0;
    for (const each of lines.slice(from)) line(each);
    begun.set(item.id, Math.max(from, lines.length));
  };

  return {
    items(items, live) {
      // A session that is opened is not told from its beginning.
      if (printed.size === 0)
        for (const item of items.slice(0, -lastTurns(items, firstTurns).length)) printed.add(item.id);
      for (const item of items) {
        if (printed.has(item.id)) continue;
        if (item.kind === 'assistant') answer(item, finished(item, live));
        if (!finished(item, live)) {
          // What comes behind a running call waits for it; a text that streams has been printed so far as it goes.
          return;
        }
        printed.add(item.id);
        if (item.kind === 'assistant') {
          if (item.state === 'partial') line('note: interrupted; this is what arrived');
        } else if (!(item.kind === 'user' && item.id.startsWith('pending:'))) {
          for (const each of plainLines(item, think())) line(each);
        }
      }
    },
  };
}
