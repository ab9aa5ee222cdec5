import { join } from 'node:path';
import type { TrustView, UntrustedContent } from '../../schema/overlay.ts';
import { RuntimeError } from '../../schema/errors.ts';
import { quote } from '../../text/quote.ts';
import type { Context, Handler } from '../context.ts';
import { when } from '../times.ts';
import { askTrust, refusal } from '../trust-prompt.ts';

/** What runs and chats of this project would use and nobody has trusted yet. */
async function pending(context: Context): Promise<readonly UntrustedContent[]> {
  const client = await context.client();
  const policy = context.globals.policy?.value ?? null;
  const found = new Map<string, UntrustedContent>();
  for (const chain of ['run', 'chat'] as const) {
    const contents = await client.untrusted({ chain, chain_path: null, policy, trust: [] });
    for (const content of contents) found.set(content.path, content);
  }
  return [...found.values()];
}

/** `trust`: one question each; without a terminal a list, and exit 3 if there is any (06 §24). */
const review: Handler = async (context) => {
  const contents = await pending(context);
  if (context.globals.format !== 'text') {
    await context.printJson(contents.map(({ kind, path, sha256, bytes }) => ({ kind, path, sha256, bytes })));
    return contents.length === 0 ? 0 : 3;
  }
  if (contents.length === 0) context.hint('nothing waits for trust');
  if (!context.terminal.interactive()) {
    if (contents.length === 0) return 0;
    await context.printTable(
      [{ title: 'KIND' }, { title: 'PATH', flexible: true }, { title: 'SHA256' }],
      contents.map((content) => [content.kind, content.path, content.sha256]),
    );
    return 3;
  }
  const client = await context.client();
  let refused = 0;
  for (const content of contents) {
    if ((await askTrust(context, content, 'review')) === 'trust') {
      await client.trustContent({ path: content.path, sha256: content.sha256, by: 'command' });
      await context.print(`Trusted ${content.path}.`);
    } else refused += 1;
  }
  return refused === 0 ? 0 : 3;
};

const list: Handler = async (context) => {
  const rows = await (await context.client()).listTrust({});
  if (context.globals.format !== 'text') {
    await context.printJson(rows);
    return 0;
  }
  if (rows.length === 0) {
    context.hint('nothing is trusted; reins init makes chains that are');
    return 0;
  }
  await context.printTable(
    [{ title: 'KIND' }, { title: 'PATH', flexible: true }, { title: 'SHA256' }, { title: 'TRUSTED' }],
    rows.map((row) => [row.kind, join(row.root, row.path), row.sha256, when(context, row.trusted_at)]),
  );
  return 0;
};

/** `trust add <path>…`: shown and asked on a terminal; elsewhere the hash must be named (06 §24). */
const add: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const named = flags.text('sha256')?.toLowerCase() ?? null;
  if (named !== null && words.length > 1) throw new RuntimeError('usage', '--sha256 belongs to one file');
  const client = await context.client();
  for (const word of words) {
    const content = await client.showTrust({ path: word });
    if (named !== null && named !== content.sha256) {
      throw new RuntimeError('not_trusted', `${word} has sha256 ${content.sha256}, not ${named}`, {
        hints: [`reins trust show ${quote(word)}`],
      });
    }
    if (named === null && content.trusted === null) {
      if (!context.terminal.interactive()) throw refusal(content);
      if ((await askTrust(context, content, 'review')) !== 'trust') throw refusal(content);
    }
    await client.trustContent({ path: content.path, sha256: content.sha256, by: 'command' });
    await context.print(`Trusted ${content.path} (${content.sha256}).`);
  }
  return 0;
};

/** `trust show <path>`: hash, state, and the difference to the version that was trusted last. */
const show: Handler = async (context) => {
  const view = await (await context.client()).showTrust({ path: context.invocation.words[0] ?? '' });
  const { text: _text, ...rest } = view;
  if (context.globals.format !== 'text') {
    await context.printJson({ ...rest, state: stateOf(view) });
    return 0;
  }
  await context.print(`${view.kind} ${view.path}`);
  await context.print(`  ${view.bytes} bytes, sha256 ${view.sha256}`);
  await context.print(`  ${sentence(context, view)}`);
  if (view.former?.diff != null) await context.print(view.former.diff.replace(/\n$/, ''));
  return 0;
};

const stateOf = ({ trusted, former }: TrustView): 'trusted' | 'changed' | 'untrusted' =>
  trusted !== null ? 'trusted' : former !== null ? 'changed' : 'untrusted';

function sentence(context: Context, { trusted, former }: TrustView): string {
  if (trusted !== null) return `trusted ${when(context, trusted.at)}, by ${trusted.by}`;
  if (former === null) return 'untrusted: nothing at this place was trusted before';
  const kept = former.diff === null ? '; its text is not kept' : '';
  return `changed: sha256 ${former.sha256} was trusted ${when(context, former.trusted_at)}${kept}`;
}

const remove: Handler = async (context) => {
  const rows = await (await context.client()).removeTrust({ what: context.invocation.words[0] ?? '' });
  if (context.globals.format !== 'text') await context.printJson(rows);
  else for (const row of rows) await context.print(`Removed trust in ${join(row.root, row.path)} (${row.sha256}).`);
  return 0;
};

export const handlers = { '': review, list, add, show, remove };
