import { join, resolve } from 'node:path';
import type { RuntimeClient } from '../../client/operations.ts';
import type { ForeignDatabase, TrustView, UntrustedContent } from '../../schema/overlay.ts';
import { RuntimeError } from '../../schema/errors.ts';
import { quote } from '../../text/quote.ts';
import { escapeText } from '../../view/escape.ts';
import type { Context, Handler } from '../context.ts';
import { when } from '../times.ts';
import { askTrust, type ContentUse, refusal } from '../trust-prompt.ts';

/**
 * What runs, chats and plans of this project would use and nobody has trusted yet; a database of another installation alone,
 * since nothing else is used before it.
 */
async function pending(context: Context): Promise<readonly UntrustedContent[]> {
  const client = await context.client();
  const database = await client.foreignDatabase({});
  if (database !== null) return [asContent(database)];
  const policy = context.globals.policy?.value ?? null;
  const found = new Map<string, UntrustedContent>();
  for (const chain of [null, ...uses]) {
    const wanted = { chain, chain_path: null, policy, trust: [], review: chain === null };
    for (const content of await unlessMissing(client.untrusted(wanted))) found.set(content.path, content);
  }
  const contents = [...found.values()];
  // What comes with any other is asked about last.
  return [...contents.filter(({ kind }) => kind !== 'agent'), ...contents.filter(({ kind }) => kind === 'agent')];
}

const uses = ['run', 'chat', 'planner', 'explorer', 'executor', 'summarizer'] as const satisfies readonly ContentUse[];

/** Where there is no such chain, nothing of it waits; without a project neither `run` nor `chat` has one. */
async function unlessMissing(found: Promise<readonly UntrustedContent[]>): Promise<readonly UntrustedContent[]> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'chain_not_found') return [];
    throw error;
  }
}

/** What a person has to know of a database before it is used: how much there is, and what becomes of it. */
const asContent = ({ path, sha256, bytes, counts, brings, more }: ForeignDatabase): UntrustedContent => ({
  kind: 'database',
  path,
  sha256,
  bytes,
  text: [
    'Another installation made this database, or the log beside it. It holds:',
    ...Object.entries(counts).map(([table, count]) => `  ${table.replace('_', ' ')}: ${count}`),
    ...(brings.length === 0 ? [] : ['With it these count here:', ...brings.map(broughtLine)]),
    ...(more === 0 ? [] : [`  and ${more} more`]),
    'Trusting it keeps these, and removes logins, stored keys, values of headers, of injected arguments and of the',
    'environment of tool servers, what was remembered and accepted, and open asks. Its unfinished runs are cancelled.',
    'A run reaches the services that it brings, with the variables that they name; a program that it brings starts once',
    'you accept it: reins mcp accept <name>.',
  ].join('\n'),
  former: null,
});

/** One line whatever the names hold: a line of another's would read like one of ours. */
function broughtLine({ kind, name, value, gets }: ForeignDatabase['brings'][number]): string {
  const shown = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
  const variables = gets.length === 0 ? '' : ` (gets ${gets.join(', ')})`;
  const sign = kind === 'setting' ? ' =' : ':';
  return `  ${escapeText(`${kind} ${shown(name)}${sign} ${shown(value)}${shown(variables)}`, { mode: 'line' })}`;
}

async function settle(context: Context, { kind, path, sha256 }: UntrustedContent): Promise<void> {
  const client = await context.client();
  if (kind === 'database') await client.acceptDatabase({ sha256 });
  else await client.trustContent({ path, sha256, by: 'command' });
  if (kind !== 'policy') return;
  // It is trusted all the same: whoever mends it trusts the new text.
  const findings = (await client.vetPolicies({ policies: [path] })).flatMap((file) => file.findings);
  const defect = findings.find(({ severity }) => severity === 'error');
  if (defect !== undefined) context.warn(`${path} does not load: ${defect.message}; reins policy vet ${quote(path)}`);
}

/** The database of this project under the name that was typed, where another installation made it. */
async function databaseNamed(context: Context, client: RuntimeClient, word: string): Promise<UntrustedContent | null> {
  const database = await client.foreignDatabase({});
  return database !== null && resolve(context.process.cwd, word) === database.path ? asContent(database) : null;
}

/** `trust`: one question each; without a terminal a list, and exit 3 if there is any (06 §24). */
const review: Handler = async (context) => {
  const contents = await pending(context);
  if (context.globals.format !== 'text') {
    await context.printJson(contents.map(identity));
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
  let refused = 0;
  let isTakenUp = false;
  for (const content of contents) {
    // It came with what was trusted before it, as was said there.
    if (content.kind === 'agent' && content.changed !== true && isTakenUp) continue;
    if ((await askTrust(context, content, 'review')) === 'trust') {
      await settle(context, content);
      isTakenUp = true;
      await context.print(`Trusted ${content.path}.`);
      // What it kept from being looked at comes next.
      if (content.kind === 'database') return review(context);
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
  const json = context.globals.format !== 'text';
  const added: UntrustedContent[] = [];
  for (const word of words) {
    const database = await databaseNamed(context, client, word);
    const content = database === null ? await client.showTrust({ path: word }) : { ...database, trusted: null };
    if (named !== null && named !== content.sha256) {
      throw new RuntimeError('not_trusted', `${word} has sha256 ${content.sha256}, not ${named}`, {
        hints: [`reins trust show ${quote(word)}`],
      });
    }
    if (named === null && content.trusted === null) {
      if (!context.terminal.interactive()) throw refusal(content);
      if ((await askTrust(context, content, 'review')) !== 'trust') throw refusal(content);
    }
    await settle(context, content);
    added.push(content);
    if (!json) await context.print(`Trusted ${content.path} (${content.sha256}).`);
  }
  if (json) await context.printJson(added.map(identity));
  return 0;
};

/** What a content is known by, without its text. */
const identity = ({ kind, path, sha256, bytes }: UntrustedContent) => ({ kind, path, sha256, bytes });

/** `trust show <path>`: hash, state, and the difference to the version that was trusted last. */
const show: Handler = async (context) => {
  const client = await context.client();
  const word = context.invocation.words[0] ?? '';
  const database = await databaseNamed(context, client, word);
  const view: TrustView = database === null ? await client.showTrust({ path: word }) : { ...database, trusted: null };
  const { text, ...rest } = view;
  if (context.globals.format !== 'text') {
    await context.printJson({ ...rest, state: stateOf(view) });
    return 0;
  }
  await context.print(`${view.kind} ${view.path}`);
  await context.print(`  ${view.bytes} bytes, sha256 ${view.sha256}`);
  await context.print(`  ${sentence(context, view)}`);
  if (database !== null) for (const line of text.split('\n')) await context.print(`  ${line}`);
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
