import { RuntimeError } from '../../schema/errors.ts';
import { escapeText } from '../../view/escape.ts';
import { plural } from '../../view/format.ts';
import { filePageBytes as most_bytes, sessionFile } from '../../view/session-file.ts';
import type { Handler } from '../context.ts';
import { outFile, writeWhole } from '../write-file.ts';

/** `session export` (06 §12, 07 §2.8). */
const exportSession: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const json = context.globals.format !== 'text';
  const out = outFile(flags);
  const named = flags.text('format');
  if (json && out === null && named === 'md') {
    throw new RuntimeError('usage', '--format md and --json exclude each other on stdout; --out writes to a file');
  }
  // Asked for JSON and for no form, and with nowhere else to put the document, it is the JSON one.
  const format = named ?? (json && out === null ? 'json' : 'md');
  const client = await context.client();
  const first = await client.exportSession({ session: { name: words[0] ?? null }, after: 0, most_bytes });
  let messages = first.messages.length;
  const document = sessionFile(format === 'json' ? 'json' : 'md', first, async (after) => {
    const page = await client.exportSession({ session: { id: first.session.id }, after, most_bytes });
    messages += page.messages.length;
    return page;
  });
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

export const handlers = { export: exportSession };
