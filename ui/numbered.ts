import type { Item } from '../src/view/items.ts';

/** Items with the numbers of their messages, as far as these are known now. */
export function numbered(items: readonly Item[], numbers: ReadonlyMap<string, number>): readonly Item[] {
  return items.map((item) => {
    if ((item.kind !== 'user' && item.kind !== 'assistant') || item.seq !== null) return item;
    const seq = numbers.get(item.message_id ?? item.id);
    return seq === undefined ? item : { ...item, seq };
  });
}
