import type { SessionPage } from '../schema/session.ts';
import { markdownHead, markdownMessage } from './session-document.ts';

/** How large the pages of a session are that a file is made from: one of them is in memory, whatever the session holds. */
export const filePageBytes = 1024 * 1024;

/**
 * A whole session as a file (07 §2.8), in pieces as its pages arrive.
 * @param more gives the page that begins behind a message
 */
export async function* sessionFile(
  format: 'md' | 'json',
  first: SessionPage,
  more: (after: number) => Promise<SessionPage>,
): AsyncGenerator<string> {
  const pages = allPages(first, more);
  yield* format === 'json' ? jsonFile(first, pages) : markdownFile(first, pages);
}

async function* allPages(
  first: SessionPage,
  more: (after: number) => Promise<SessionPage>,
): AsyncGenerator<SessionPage> {
  let page = first;
  for (;;) {
    yield page;
    if (page.next === null) return;
    page = await more(page.next);
  }
}

async function* markdownFile(first: SessionPage, pages: AsyncIterable<SessionPage>): AsyncGenerator<string> {
  yield markdownHead(first.session);
  for await (const { messages } of pages) yield messages.map(markdownMessage).join('');
}

/** One message a line, so that two exports can be compared. */
async function* jsonFile(first: SessionPage, pages: AsyncIterable<SessionPage>): AsyncGenerator<string> {
  yield `{"schema_version":1,"session":${JSON.stringify(first.session)},"messages":[`;
  let separator = '\n';
  for await (const { messages } of pages) {
    if (messages.length === 0) continue;
    yield separator + messages.map((message) => JSON.stringify(message)).join(',\n');
    separator = ',\n';
  }
  yield ']}\n';
}
