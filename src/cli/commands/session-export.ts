import type { RuntimeClient } from '../../client/operations.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { SessionPage } from '../../schema/session.ts';
import { escapeText } from '../../view/escape.ts';
import { plural } from '../../view/format.ts';
import { markdownHead, markdownMessage } from '../../view/session-document.ts';
import type { Handler } from '../context.ts';
import { writeWhole } from '../write-file.ts';

/** `session export` (06 §12, 07 §2.8). */
const exportSession: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const json = context.globals.format !== 'text';
  const out = flags.text('out');
  const named = flags.text('format');
  if (json && out === null && named === 'md') {
    throw new RuntimeError('usage', '--format md and --json exclude each other on stdout; --out writes to a file');
  }
  // Asked for JSON and for no form, and with nowhere else to put the document, it is the JSON one.
  const format = named ?? (json && out === null ? 'json' : 'md');
  const client = await context.client();
  const first = await client.exportSession({ session: { name: words[0] ?? null }, after: 0 });
  let messages = 0;
  const pages = async function* (): AsyncGenerator<SessionPage> {
    for await (const page of allPages(client, first)) {
      messages += page.messages.length;
      yield page;
    }
  };
  const document = format === 'json' ? jsonDocument(first, pages()) : markdown(first, pages());
  if (out === null) {
    const { terminal } = context;
    // The Markdown form is visible text already.
    const escapes = terminal.stdoutIsTerminal && format === 'json';
    for await (const piece of document) {
      if (terminal.stdoutClosed()) break;
      await terminal.out(escapes ? escapeText(piece, { mode: 'prose' }) : piece);
    }
    return 0;
  }
  await writeWhole(out, flags.bool('force') === true, document);
  if (json) await context.printJson({ path: out, format, session: first.session, messages });
  else {
    await context.print(`Wrote ${out}`);
    context.hint(plural(messages, 'message'));
  }
  return 0;
};

async function* allPages(client: RuntimeClient, first: SessionPage): AsyncGenerator<SessionPage> {
  let page = first;
  for (;;) {
    yield page;
    if (page.next === null) return;
    page = await client.exportSession({ session: { id: page.session.id }, after: page.next });
  }
}

async function* markdown(first: SessionPage, pages: AsyncIterable<SessionPage>): AsyncGenerator<string> {
  yield markdownHead(first.session);
  for await (const { messages } of pages) yield messages.map(markdownMessage).join('');
}

/** One message a line, so that two exports can be compared. */
async function* jsonDocument(first: SessionPage, pages: AsyncIterable<SessionPage>): AsyncGenerator<string> {
  yield `{"schema_version":1,"session":${JSON.stringify(first.session)},"messages":[`;
  let separator = '\n';
  for await (const { messages } of pages) {
    if (messages.length === 0) continue;
    yield separator + messages.map((message) => JSON.stringify(message)).join(',\n');
    separator = ',\n';
  }
  yield ']}\n';
}

export const handlers = { export: exportSession };
