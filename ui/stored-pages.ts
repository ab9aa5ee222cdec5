import { setImmediate as otherWork } from 'node:timers/promises';
import type { RuntimeClient } from '../src/client/operations.ts';
import type { SessionMessage } from '../src/schema/session.ts';
import type { Item } from '../src/view/items.ts';
import { storedItems } from '../src/view/stored-items.ts';
import { holds } from './hits.ts';
import { searchedText } from './item-text.ts';
import type { Hit } from './state.ts';
import type { Page, PageWish } from './transcript/pages.ts';

/** Messages that are read at once: the newest at the start, others page by page (10 §5.2). */
export const pageSize = 200;

/** Messages without results in front whose call is on the page before: they belong to that one. */
export function wholeFrom(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'tool');
  return first <= 0 ? messages : messages.slice(first);
}

/** Messages up to the last one that may still have results behind it; all where the session ends here. */
function wholeTo(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.length < pageSize || last <= 0 ? messages : messages.slice(0, last);
}

/** The page of stored messages that is wanted, calls together with their results. */
export async function pageOf(client: RuntimeClient, session: string, wish: PageWish): Promise<Page> {
  if (wish.toward === 'older') {
    const { messages, after } = await before(client, session, wish.before);
    const first = messages[0];
    return { items: storedItems(messages), before: after === 0 ? null : (first?.seq ?? null), after: wish.before - 1 };
  }
  const after = wish.toward === 'newer' ? wish.after : wish.place.after;
  const page = await client.exportSession({ session: { id: session }, after });
  const upTo = (messages: readonly SessionMessage[]) => messages.filter(({ seq }) => seq < wish.until);
  let messages = upTo(wholeTo(page.messages));
  let items = storedItems(messages);
  // What was asked for is shown, even where its results are on the next page.
  if (wish.toward === 'place' && wish.place.item !== null && !items.some(({ id }) => id === wish.place.item)) {
    messages = upTo(page.messages);
    items = storedItems(messages);
  }
  return {
    items,
    before: after === 0 ? null : after + 1,
    // Where nothing is left the next message is the one that is in memory already.
    after: messages.at(-1)?.seq ?? wish.until - 1,
  };
}

/** @returns messages before one, and the number behind which they begin; 0 = at the beginning of the session */
async function before(client: RuntimeClient, session: string, seq: number) {
  const from = Math.max(0, seq - 1 - pageSize);
  const page = await client.exportSession({ session: { id: session }, after: from });
  const messages = page.messages.filter((message) => message.seq < seq);
  if (from === 0) return { messages, after: 0 };
  const whole = wholeFrom(messages);
  return { messages: whole, after: (whole[0]?.seq ?? from + 1) - 1 };
}

/** What is stored of a session before a message, from the beginning on. */
export async function* storedBefore(
  client: RuntimeClient,
  session: string,
  until: number,
): AsyncGenerator<readonly Item[]> {
  for (let after = 0; after + 1 < until; ) {
    const page = await pageOf(client, session, { toward: 'newer', after, until });
    yield page.items;
    after = page.after;
    await otherWork();
  }
}

/** Texts of pages that are kept while somebody searches, in characters. */
const mostKept = 16_000_000;

type Texts = { readonly after: number; readonly texts: readonly { readonly id: string; readonly text: string }[] };

/** Searches what is stored of a session (10 §5.6). Between two pages there is room for keys. */
export function createFinder(tell: (query: string, hits: readonly Hit[]) => void) {
  const kept = new Map<number, Texts>();
  let size = 0;
  let current: AbortController | null = null;

  const textsBefore = async (client: RuntimeClient, session: string, seq: number): Promise<Texts> => {
    const known = kept.get(seq);
    if (known !== undefined) return known;
    const { messages, after } = await before(client, session, seq);
    const texts = storedItems(messages).map((item) => ({ id: item.id, text: searchedText(item) }));
    const read = { after, texts };
    const length = texts.reduce((sum, { text }) => sum + text.length, 0);
    if (size + length <= mostKept) {
      kept.set(seq, read);
      size += length;
    }
    return read;
  };

  const end = (): void => {
    current?.abort();
    current = null;
    kept.clear();
    size = 0;
  };

  return {
    async find(client: RuntimeClient, session: string, query: string, from: number): Promise<void> {
      current?.abort();
      const own = new AbortController();
      current = own;
      const isHit = holds(query);
      for (let seq = from; seq > 1; ) {
        const { after, texts } = await textsBefore(client, session, seq);
        if (own.signal.aborted) return;
        const hits = texts.filter(({ text }) => isHit(text)).map(({ id }) => ({ id, after }));
        if (hits.length > 0) tell(query, hits);
        seq = after + 1;
        await otherWork();
        if (own.signal.aborted) return;
      }
    },
    end,
  };
}
