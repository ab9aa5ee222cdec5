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

/**
 * Settles what a run would use of the project and nobody has trusted yet (06 §6).
 * @returns the hashes that are accepted for this invocation
 * @throws RuntimeError not_trusted: refused here, or nobody can be asked
 */
export async function consentToContent(
  context: Context,
  client: RuntimeClient,
  use: 'run' | 'chat',
): Promise<readonly string[]> {
  const { globals } = context;
  const pending = await client.untrusted({
    chain: use,
    chain_path: globals.chain,
    policy: globals.policy?.value ?? null,
    trust: [...globals.trust],
  });
  const accepted = [...globals.trust];
  for (const content of pending) {
    if (!context.terminal.interactive()) throw refusal(content, context.process.argv);
    const answer = await askTrust(context, content, true);
    if (answer === 'refuse') throw refusal(content, context.process.argv);
    if (answer === 'trust') await client.trustContent({ path: content.path, sha256: content.sha256, by: 'prompt' });
    else accepted.push(content.sha256);
  }
  return accepted;
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
 * @param once whether using it for this invocation alone is an answer
 */
export async function askTrust(
  context: Context,
  content: UntrustedContent,
  once: boolean,
): Promise<'trust' | 'once' | 'refuse'> {
  const { terminal, process } = context;
  const keys: Keys = openKeys(process.stdin());
  const { former } = content;
  const safe = escapeText(former?.diff ?? content.text, { mode: 'lines' });
  const lines = safe.replace(/\n$/, '').split('\n');
  const width = await measure([safe]);
  const path = escapeText(content.path, { mode: 'line' });
  const kept = former?.diff === null ? '; its text is not kept, this is all of the new one' : ', what changed since:';
  const changed = former === null ? '' : `  sha256 ${former.sha256} was trusted at ${former.trusted_at}${kept}\n`;
  // A line broken by the terminal itself would go on outside the bar that stands before foreign text (03 §8.1).
  const barred = (line: string) => wrap(line, terminal.columns - 4, width).map((piece) => `  | ${piece}\n`);
  const paint = (most: number): number => {
    const shown = lines.slice(0, most);
    const hidden = lines.length - shown.length;
    terminal.err(
      `\n${terminal.style('err', 'bold', `TRUST ${content.kind}`)} ${path}\n` +
        `  ${content.bytes} bytes, sha256 ${content.sha256}\n${changed}${shown.flatMap(barred).join('')}` +
        `${hidden > 0 ? `  (${hidden} of ${lines.length} lines hidden)\n` : ''}` +
        `${content.kind} ${path}\n[y] trust it${once ? '  [o] use it once' : ''}  [n] refuse${hidden > 0 ? '  [v] view all' : ''}\n`,
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
      if (key === 'o' && once) return 'once';
      if (key === 'n' || key === '\r' || key === '\n') return 'refuse';
      if (key === 'v') painted = paint(Number.POSITIVE_INFINITY);
    }
  } finally {
    keys.close();
  }
}
