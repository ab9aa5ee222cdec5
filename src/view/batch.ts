import type { CallItem, Item } from './items.ts';
import { type Line, say } from './line.ts';
import { type ItemLook, signs } from './rows.ts';

/** Calls of one message of the model that stand together. */
export type Batch = {
  /** Of the batch as a thing that can be opened; never the id of an item. */
  readonly id: string;
  /** Where its first call stands. */
  readonly first: number;
  readonly calls: readonly CallItem[];
};

/** Calls of a batch that are all shown. */
const mostShown = 6;

/** The batch of an item that is one line until it is opened: many calls, all of them done and none failed (10 §5.1). */
export function foldableBatch(items: readonly Item[], index: number): Batch | null {
  const item = items[index];
  if (item?.kind !== 'call' || item.batch === null) return null;
  const belongs = (other: Item | undefined): other is CallItem => other?.kind === 'call' && other.batch === item.batch;
  let first = index;
  while (belongs(items[first - 1])) first -= 1;
  const calls: CallItem[] = [];
  for (let at = first, each = items[at]; belongs(each); at += 1, each = items[at]) calls.push(each);
  if (calls.length <= mostShown || calls.some(({ state }) => state !== 'ok')) return null;
  return { id: `batch:${item.batch}`, first, calls };
}

/** `• 14 calls: 12 allowed, 2 approved  +`. */
export function batchLine({ calls }: Batch, { glyphs }: Pick<ItemLook, 'glyphs'>): Line {
  const counts = new Map<string, number>();
  for (const call of calls) counts.set(wordOf(call), (counts.get(wordOf(call)) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  return [
    say(`${signs[glyphs].call} `, 'tool'),
    say(`${calls.length} calls`, 'tool'),
    say(`: ${parts}`),
    say('  +', 'dim'),
  ];
}

/** Of a call that is not on record any more only the outcome is known. */
function wordOf({ verdict, decision }: CallItem): string {
  if (verdict !== null) return verdict.verdict === 'approved' ? 'approved' : 'answered';
  if (decision === null) return 'done';
  return decision.reason === 'remembered' ? 'remembered' : 'allowed';
}
