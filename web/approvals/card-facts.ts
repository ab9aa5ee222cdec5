import type { AskCardData } from '../../src/schema/ask-views.ts';
import type { CommandSegment } from '../../src/schema/policy-views.ts';
import { type BudgetWords, budgetWords } from '../../src/view/budget.ts';
import { saidByDiff } from '../../src/view/card-parts.ts';
import { escapeText, type SafeText } from '../../src/view/escape.ts';
import { plural } from '../../src/view/format.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { isPlainWord } from '../../src/text/quote.ts';

const line = (text: string): string => escapeText(text, { mode: 'line' });

/** The commands of a shell call, as the runtime has read them. */
export function segmentsOf(card: AskCardData): readonly CommandSegment[] {
  const { segments, program } = card;
  // What `explain` tells of a command line; another version may have written less.
  const known = Array.isArray(segments) ? (segments as readonly Partial<CommandSegment>[]) : [];
  if (known.length > 0) {
    return known.map(({ words, program: file, revealed, covered_by, why }) => ({
      words: words ?? [],
      program: file ?? null,
      revealed: revealed ?? false,
      covered_by: covered_by ?? null,
      why: why ?? null,
    }));
  }
  if (program === null) return [];
  return [{ words: program.argv, program: program.file, revealed: false, covered_by: null, why: null }];
}

/** Words as they will be executed: those with signs in them are quoted. */
export const commandText = (words: readonly string[]): string =>
  words.map((word) => (isPlainWord(word) ? word : JSON.stringify(word))).join(' ');

/** The arguments that the rest of the card does not say: the one command of its list, a whole change, a path. */
export function otherArgs(card: AskCardData): AskCardData['args'] {
  const [segment, ...more] = segmentsOf(card);
  const said = segment === undefined || more.length > 0 ? null : commandText(segment.words);
  const inDiff = saidByDiff(card.what, card.diff !== null && card.diff.note === null);
  const isPath = (value: unknown): boolean =>
    card.what.tools === 'local_fs' && card.paths.some(({ given }) => given === value);
  return card.args.filter(
    ({ name, value }) =>
      !inDiff.includes(name) && !(name === 'command' && value === said) && !(name === 'path' && isPath(value)),
  );
}

/** One sentence that the runtime makes of what will happen (09 §8.7.1). Escaped. */
export function headlineOf(card: AskCardData, cwd: string): string {
  const { diff, program, paths } = card;
  if (card.kind === 'permission' && program !== null) {
    return `Run ${plural(Math.max(1, segmentsOf(card).length), 'command')} in ${line(cwd)}`;
  }
  if (card.kind === 'permission' && diff !== null) {
    const counts = changesOf(diff.text);
    const [path] = paths;
    const named = path === undefined ? whatOf(card.what) : path.given;
    return `${diff.new_file ? 'Create' : 'Write'} ${line(named)} (+${counts.added} −${counts.removed})`;
  }
  return line(card.headline);
}

/** Lines that a unified diff adds and removes. */
function changesOf(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split('\n');
  return {
    added: lines.filter((each) => each.startsWith('+') && !each.startsWith('+++')).length,
    removed: lines.filter((each) => each.startsWith('-') && !each.startsWith('---')).length,
  };
}

/** An argument as lines, escaped, each of its line ends marked. */
export function argumentLines(value: unknown): readonly SafeText[] {
  const text = escapeText(typeof value === 'string' ? value : JSON.stringify(value, null, 1), { mode: 'lines' });
  // Splitting a safe text at its own line breaks leaves safe lines.
  return text.split('\n').filter((each, at, all) => each !== '' || at < all.length - 1) as SafeText[];
}

/** What is used of a bound and what one more grant means; null where it is no ask about a bound. */
export const budgetOf = (card: AskCardData): BudgetWords | null =>
  card.kind === 'budget' ? budgetWords(Object.fromEntries(card.args.map(({ name, value }) => [name, value]))) : null;

/** What a flag of the card means to a person. */
const flagWords: Readonly<Record<string, string>> = {
  hidden_characters: 'Holds characters that cannot be seen, or that look like others.',
  outside_workspace: 'Reaches outside of the workspace.',
  secret_path: 'Touches a place where secrets are kept.',
  runs_code: 'Runs code.',
  network: 'Uses the network.',
  policy_invalid: 'The policy cannot be read: everything asks.',
  adjudicated: 'An agent has looked at this.',
};
export function warningOf(flag: string): string {
  const repeated = /^repeat (\d+)$/.exec(flag)?.[1];
  if (repeated !== undefined) return `Asked ${repeated} times in this run.`;
  return flagWords[flag] ?? line(flag.replaceAll('_', ' '));
}

/** What of the policy asked, before the name of the policy; rules as a person counts. */
export function ruleWords({ why }: AskCardData): string {
  if (why.rule !== null) return `rule ${why.rule + 1} of`;
  if (why.reason === 'default_action') return 'default action of';
  return why.reason === 'compute_exhausted' ? 'a spent bound, under' : `${why.reason.replaceAll('_', ' ')}, under`;
}

/** Where a policy of that name is found. */
export const policyFile = (name: string): string =>
  name === 'default' ? 'hitl-policy.json' : `hitl-policy-${name}.json`;
