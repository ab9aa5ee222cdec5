import type { RuntimeClient } from '../client/operations.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { RuleCandidate, RuleProposals } from '../schema/policy-views.ts';
import { escapeText } from '../view/escape.ts';
import { measure, wrap } from '../view/format.ts';
import { ruleKinds, ruleMatches, ruleReach, ruleTarget } from '../view/rule-lines.ts';
import type { Context } from './context.ts';
import type { Keys } from './keys.ts';

/** Keys in this time after a question was painted answer nothing (06 §9). */
const guardMs = 400;

/** How far a line goes on behind its beginning, and the columns that are left to it at least. */
const under = 2;
const leastRoom = 16;

/** A rule as an answer names it, and what is said once it has been added. */
type Chosen = { readonly rule: { readonly candidate: number; readonly sha256: string }; readonly told: string };

/**
 * Shows the rules that would let the call of an ask through, and takes one of them (03 §9). Nothing but its number
 * chooses one.
 * @returns null when none was chosen, or there is none
 */
export async function chooseRule(
  context: Context,
  client: RuntimeClient,
  ask: string,
  keys: Keys,
  withdrawn: AbortSignal,
): Promise<Chosen | null> {
  const { terminal, process } = context;
  const proposals = await proposed(client, ask);
  const { candidates } = proposals;
  const lines = candidates.flatMap((one, place) => candidateLines(one, place, proposals));
  const none = `no rule can be added: ${proposals.none ?? ''}`;
  const shown = candidates.length === 0 ? [none] : [...lines, ...targetLines(proposals)];
  terminal.err(`${(await broken(shown, terminal.columns)).join('\n')}\n`);
  if (candidates.length === 0) return null;
  const numbers = candidates.map((_, place) => `[${place + 1}]`).join(' ');
  const question = () => terminal.err(`${numbers} write that rule and allow the call  [q] back\n`);
  question();
  const painted = process.now();
  for (;;) {
    const key = await keys.next(withdrawn);
    if (key === null || key === 'q' || key === '\u001b' || key === '\u0003') return null;
    if (process.now() - painted < guardMs) continue;
    const place = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
    const chosen = candidates[place];
    if (chosen !== undefined) {
      const { sha256, index } = chosen;
      return { rule: { candidate: place, sha256 }, told: `added rule ${index + 1} to ${proposals.path}` };
    }
    question();
  }
}

/** A policy that cannot be read any more has no rules to offer; the ask stays as it is. */
async function proposed(client: RuntimeClient, id: string): Promise<RuleProposals> {
  try {
    return await client.proposeRules({ id });
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const policy = { name: '', source: 'builtin', path: null, sha256: null, state: 'invalid' } as const;
    return { path: '', copy: null, policy, looked_at: 0, candidates: [], none: error.message };
  }
}

/**
 * Made visible, and broken for the screen under its own beginning: left to the terminal, a long argument could go on in
 * the first column and pass for a line of the program (03 §8.1).
 */
async function broken(lines: readonly string[], columns: number): Promise<readonly string[]> {
  const safe = lines.map((line) => escapeText(line, { mode: 'line' }));
  const width = await measure(safe);
  return safe.flatMap((line) => {
    const indent = under + (/^ */.exec(line)?.[0].length ?? 0);
    const [first = '', ...rest] = wrap(line, Math.max(leastRoom, columns - indent), width);
    return [first, ...rest.map((piece) => ' '.repeat(indent) + piece)];
  });
}

const candidateLines = (one: RuleCandidate, place: number, proposals: RuleProposals): readonly string[] => [
  `${place + 1}  ${ruleKinds[one.kind]}`,
  `   ${JSON.stringify(one.rule)}`,
  `   ${ruleReach(one, proposals)}`,
  ...ruleMatches(one).map((line) => `     ${line}`),
];

const targetLines = (proposals: RuleProposals): readonly string[] => ruleTarget(proposals).map((line) => `   ${line}`);
