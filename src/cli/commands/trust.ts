import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { UntrustedContent } from '../../schema/overlay.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { Context, Handler } from '../context.ts';
import { askTrust, untrusted } from '../trust-prompt.ts';

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
    if ((await askTrust(context, content, false)) === 'trust') {
      await client.trustContent({ path: content.path, sha256: content.sha256, by: 'command' });
      await context.print(`Trusted ${content.path}.`);
    } else refused += 1;
  }
  return refused === 0 ? 0 : 3;
};

/** `trust add <path>…`: shown and asked on a terminal; elsewhere the hash must be named (06 §24). */
const add: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const named = flags.text('sha256');
  if (named !== null && words.length > 1) throw new RuntimeError('usage', '--sha256 belongs to one file');
  const client = await context.client();
  for (const word of words) {
    const content = readContent(resolve(context.process.cwd, word), word);
    if (named !== null && named !== content.sha256) {
      throw new RuntimeError('not_trusted', `${word} has sha256 ${content.sha256}, not ${named}`);
    }
    if (named === null) {
      if (!context.terminal.interactive()) throw untrusted(content);
      if ((await askTrust(context, content, false)) !== 'trust') throw untrusted(content);
    }
    await client.trustContent({ path: content.path, sha256: content.sha256, by: 'command' });
    await context.print(`Trusted ${content.path} (${content.sha256}).`);
  }
  return 0;
};

/** Read once: what was hashed is what is shown. */
function readContent(path: string, shown: string): UntrustedContent {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error(stats.isDirectory() ? 'it is a directory' : 'it is no regular file');
    const bytes = readFileSync(path);
    const kind = /(?:^|\/)hitl-policy[^/]*\.json$/.test(path) ? 'policy' : 'chain';
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { kind, path, sha256, bytes: bytes.length, text: bytes.toString('utf8') };
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    const why = missing ? 'there is no such file' : error instanceof Error ? error.message : String(error);
    throw new RuntimeError('not_found', `${shown} cannot be read: ${why}`, { cause: error, hints: ['reins trust'] });
  }
}

export const handlers = { '': review, add };
