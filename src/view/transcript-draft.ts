import type { Item } from './items.ts';

/** One copy for a batch of events, however long it is. Items that change lie near the end. */
export function createDraft(before: readonly Item[]) {
  let items: Item[] | null = null;
  const own = (): Item[] => {
    items ??= [...before];
    return items;
  };
  const current = (): readonly Item[] => items ?? before;
  return {
    changed: () => items !== null,
    items: current,
    push: (item: Item) => void own().push(item),
    find<K extends Item['kind']>(kind: K, id: string): Extract<Item, { kind: K }> | undefined {
      const found = current().findLast((item) => item.kind === kind && item.id === id);
      // The search has just compared the kind.
      return found as Extract<Item, { kind: K }> | undefined;
    },
    open<K extends 'assistant' | 'reasoning'>(kind: K): Extract<Item, { kind: K }> | undefined {
      const found = current().findLast((item) => item.kind === kind && item.state === 'streaming');
      return found as Extract<Item, { kind: K }> | undefined;
    },
    replace(from: Item, to: Item): void {
      const at = current().lastIndexOf(from);
      if (at >= 0) own()[at] = to;
    },
    remove(item: Item): void {
      const at = current().lastIndexOf(item);
      if (at >= 0) own().splice(at, 1);
    },
  };
}
export type Draft = ReturnType<typeof createDraft>;

const elapsed = (from: string | null, to: string): number | null =>
  from === null ? null : Math.max(0, Date.parse(to) - Date.parse(from));

/** What was thought ends when something else is said. */
export function closeReasoning(draft: Draft, at: string): void {
  const open = draft.open('reasoning');
  if (open !== undefined) draft.replace(open, { ...open, state: 'complete', ms: elapsed(open.started_at, at) });
}

/** Nothing more is streamed of what stands open. */
export function closeOpen(draft: Draft, at: string, state: 'partial' | 'failed'): void {
  closeReasoning(draft, at);
  const open = draft.open('assistant');
  if (open !== undefined) draft.replace(open, { ...open, state });
}

/**
 * Nobody goes on with the calls of a run that has ended, or whose process has: of one that was running nobody knows what
 * became. @param rests those that had not begun still wait
 */
export function closeCalls(draft: Draft, runId: string, rests: boolean): void {
  for (const item of draft.items()) {
    if (item.kind !== 'call' || item.run_id !== runId) continue;
    if (item.state === 'running') draft.replace(item, { ...item, state: 'failed', error: 'outcome_unknown' });
    else if (item.state === 'pending' && !rests)
      draft.replace(item, { ...item, state: 'failed', error: 'not_executed' });
  }
}
