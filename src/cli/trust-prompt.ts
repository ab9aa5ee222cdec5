import type { RuntimeClient } from '../client/operations.ts';
import type { UntrustedContent } from '../schema/overlay.ts';
import { RuntimeError } from '../schema/errors.ts';
import { escapeText } from '../view/escape.ts';
import { measure, wrap } from '../view/format.ts';
import type { Context } from './context.ts';
import { type Keys, openKeys } from './keys.ts';
import { quote } from '../text/quote.ts';

const guardMs = 400;
const shownLines = 200;

/** What plays the run: the chains of `run` and `chat`, or those of plans (07 §4.2). */
export type ContentUse = 'run' | 'chat' | 'planner' | 'executor' | 'summarizer' | 'explorer';

export type Consent = {
  /** Hashes that are accepted for this invocation. */
  readonly trust: readonly string[];
  /** The project's policy was refused for this run: the next layer of the overlay governs it. */
  readonly skipsPolicy: boolean;
};

/**
 * Settles what a run would use of the project and nobody has trusted yet (06 §6).
 * @param use null for a chain of the program's own
 * @throws RuntimeError not_trusted: refused here, or nobody can be asked
 */
export async function consentToContent(
  context: Context,
  client: RuntimeClient,
  uses: readonly (ContentUse | null)[],
): Promise<Consent> {
  const pending = await untrustedContent(context, client, uses);
  const accepted = [...context.globals.trust];
  let skipsPolicy = false;
  for (const content of pending) {
    if (!context.terminal.interactive()) throw refusal(content, context.process.argv);
    const answer = await askTrust(context, content, 'run');
    if (answer === 'refuse') throw refusal(content, context.process.argv);
    if (answer === 'trust') await client.trustContent({ path: content.path, sha256: content.sha256, by: 'prompt' });
    else if (answer === 'next layer') skipsPolicy = true;
    else accepted.push(content.sha256);
  }
  return { trust: accepted, skipsPolicy };
}

/**
 * For a face that puts its questions before: what nobody trusts yet is refused.
 * @param also hashes that were accepted there
 * @throws RuntimeError not_trusted
 */
export async function refuseUntrusted(
  context: Context,
  client: RuntimeClient,
  uses: readonly (ContentUse | null)[],
  also: readonly string[] = [],
): Promise<Consent> {
  const [first] = await untrustedContent(context, client, uses, also);
  if (first !== undefined) throw refusal(first);
  return { trust: [...context.globals.trust, ...also], skipsPolicy: false };
}

/**
 * What the chains and the policy of a command would use and nobody has trusted yet, each once.
 * @param review also what no run is refused for
 */
export async function untrustedContent(
  context: Context,
  client: RuntimeClient,
  uses: readonly (ContentUse | null)[],
  also: readonly string[] = [],
  review = false,
): Promise<readonly UntrustedContent[]> {
  const { globals } = context;
  const pending = new Map<string, UntrustedContent>();
  for (const chain of uses) {
    const found = await client.untrusted({
      chain,
      chain_path: chain === 'run' || chain === 'chat' ? globals.chain : null,
      policy: globals.policy?.value ?? null,
      trust: [...globals.trust, ...also],
      review,
    });
    for (const content of found) pending.set(content.path, content);
  }
  return [...pending.values()];
}

/** @param again the words of a command that can be given again with the hash; absent where there is no such use */
export const refusal = (content: UntrustedContent, again?: readonly string[]) =>
  new RuntimeError('not_trusted', `the ${content.kind} ${content.path} is not trusted (sha256 ${content.sha256})`, {
    hints: [
      `reins trust add ${quote(content.path)} --sha256 ${content.sha256}`,
      ...(again === undefined ? [] : [['reins', '--trust', content.sha256, ...again.map(quote)].join(' ')]),
    ],
    data: { path: content.path, sha256: content.sha256 },
  });

/**
 * Shows the content, or what has changed since it was trusted, and asks. Enter never trusts.
 * @param use `run`: for this run alone it may also be used once, and a policy may give way to the next layer
 */
export async function askTrust(
  context: Context,
  content: UntrustedContent,
  use: 'run' | 'review',
): Promise<'trust' | 'once' | 'next layer' | 'refuse'> {
  const { terminal, process } = context;
  const keys: Keys = openKeys(process);
  const { former } = content;
  const safe = escapeText(former?.diff ?? content.text, { mode: 'lines' });
  const lines = safe.replace(/\n$/, '').split('\n');
  const width = await measure([safe]);
  const path = escapeText(content.path, { mode: 'line' });
  const kept = former?.diff === null ? '; its text is not kept, this is all of the new one' : ', what changed since:';
  const changed = former === null ? '' : `  sha256 ${former.sha256} was trusted at ${former.trusted_at}${kept}\n`;
  const brings = content.brings === undefined ? '' : `  with it ${content.brings} counts: models are given it\n`;
  const came = content.changed === true ? '  a call changed it, and no question named it\n' : '';
  const choices = [
    '[y] trust it',
    ...(use === 'run' ? ['[o] use it once'] : []),
    ...(use === 'run' && content.kind === 'policy' ? ['[u] use your own or the shipped one for this run'] : []),
    '[n] refuse',
  ].join('  ');
  // A line broken by the terminal itself would go on outside the bar that stands before foreign text (03 §8.1).
  const barred = (line: string) => wrap(line, terminal.columns - 4, width).map((piece) => `  | ${piece}\n`);
  const paint = (most: number): number => {
    const shown = lines.slice(0, most);
    const hidden = lines.length - shown.length;
    terminal.err(
      `\n${terminal.style('err', 'bold', `TRUST ${content.kind}`)} ${path}\n` +
        `  ${content.bytes} bytes, sha256 ${content.sha256}\n${brings}${came}${changed}${shown.flatMap(barred).join('')}` +
        `${hidden > 0 ? `  (${hidden} of ${lines.length} lines hidden)\n` : ''}` +
        `${content.kind} ${path}\n${choices}${hidden > 0 ? '  [v] view all' : ''}\n`,
    );
    return process.now();
  };
  try {
    let painted = paint(shownLines);
    for (;;) {
      const key = await keys.next(new AbortController().signal);
      if (key === null || key === '\u0003') return 'refuse';
      if (process.now() - painted < guardMs) continue;
      if (key === 'y') return 'trust';
      if (key === 'o' && use === 'run') return 'once';
      if (key === 'u' && use === 'run' && content.kind === 'policy') return 'next layer';
      if (key === 'n' || key === '\r' || key === '\n') return 'refuse';
      if (key === 'v') painted = paint(Number.POSITIVE_INFINITY);
    }
  } finally {
    keys.close();
  }
}
