import type { RuntimeClient } from '../src/client/operations.ts';
import type { Item } from '../src/view/items.ts';
import { lastTurns, plainLines, type PlainLook } from '../src/view/plain-lines.ts';
import type { State } from './state.ts';
import { storedBefore } from './stored-pages.ts';

type Dumped = Pick<State, 'items' | 'session' | 'thinkOpen'>;

/** Most lines that are printed to the scrollback at once. */
const mostPrinted = 5000;

/**
 * The last turns of the session as plain labelled lines (10 §5.8), at most 5,000 of them, and how many are left out.
 * @param turns null = all. What is not in memory is read, a page at a time.
 */
export async function dumpLines(
  client: () => Promise<RuntimeClient>,
  state: Dumped,
  turns: number | null,
  look: PlainLook,
): Promise<{ readonly lines: readonly string[]; readonly left: number }> {
  let lines: readonly string[] = [];
  let left = 0;
  for await (const items of dumpedItems(client, state, turns)) {
    const all = [...lines, ...items.flatMap((item) => plainLines(item, state.thinkOpen, look))];
    lines = all.slice(-mostPrinted);
    left += all.length - lines.length;
  }
  return { lines, left };
}

/** The items of the last turns in order, page by page. */
export async function* dumpedItems(
  client: () => Promise<RuntimeClient>,
  { items, session }: Dumped,
  turns: number | null,
): AsyncGenerator<readonly Item[]> {
  const here = items.filter(({ kind }) => kind === 'user').length;
  const before = session?.before ?? null;
  if (session === null || before === null || (turns !== null && here >= turns)) {
    yield turns === null ? items : lastTurns(items, turns);
    return;
  }
  let kept: readonly Item[] = [];
  for await (const page of storedBefore(await client(), session.id, before)) {
    if (turns === null) yield page;
    else kept = lastTurns([...kept, ...page], turns - here);
  }
  yield kept;
  yield items;
}
