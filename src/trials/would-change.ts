import type { Evaluation, LoadedPolicy, Policy, PolicyCall, Rule } from '../schema/policy.ts';
import { prefixesOf } from './candidates.ts';
import type { Judge } from './judge.ts';
import { isPlainWord } from '../text/quote.ts';

/** How a call would be judged where it is, and the words of its commands. */
type Trial = Pick<Judge, 'wordsOf' | 'commandsOf'> & { again(call: PolicyCall, policy?: LoadedPolicy): Evaluation };

/**
 * The smallest single fact that would give another verdict (02 §14.2), as a sentence; null when there is none among
 * those that are tried: another way to write the command, an entry of an allowlist, a value that the deciding rule does
 * not match. Each is tried, none is guessed.
 */
export function wouldChangeWith(
  loaded: LoadedPolicy,
  call: PolicyCall,
  record: Evaluation,
  trial: Trial,
): string | null {
  if (record.action === 'allow' || record.reason === 'control_plane') return null;
  const flips = (other: PolicyCall, policy?: LoadedPolicy): string | null => {
    const { action } = trial.again(other, policy);
    return rank[action] > rank[record.action] ? action : null;
  };
  if (call.tools === 'local_shell') {
    for (const { text, args } of rewritten(call, trial.wordsOf(call))) {
      const action = flips({ ...call, args });
      if (action !== null) return `${text}: ${action}`;
    }
    for (const { text, policy } of withEntries(loaded, trial.commandsOf(call) ?? [])) {
      const action = flips(call, policy);
      if (action !== null) return `${text}: ${action}`;
    }
  }
  return otherValue(loaded, record, (policy) => flips(call, policy));
}

const rank = { deny: 0, approve: 1, allow: 2 } as const;
/** Commands of a line that an entry is tried for. */
const mostCommands = 8;

/** The same command written in another way. */
function rewritten(
  { args }: PolicyCall,
  literal: readonly string[] | null,
): readonly { readonly text: string; readonly args: PolicyCall['args'] }[] {
  const { command, cwd, ...rest } = args;
  if (typeof command !== 'string') return [];
  const joined = command.replace(/\s*;\s*$/, '').replace(/\s*;\s*/g, ' && ');
  const plain = literal?.every(isPlainWord) === true;
  const words = plain && rest['args'] == null ? literal : [];
  const options = words.filter((word, index) => index > 0 && word.startsWith('-'));
  return [
    ...(joined === command ? [] : [{ text: '&& in place of ;', args: { ...args, command: joined } }]),
    ...(cwd === undefined ? [] : [{ text: 'no cwd of its own', args: { ...rest, command } }]),
    ...withoutCd(args, command),
    ...options.map((option) => ({
      text: `without the option ${option}`,
      args: { ...args, command: words.filter((word) => word !== option).join(' ') },
    })),
  ];
}

/** The directory as an argument, where the line begins with a `cd` to it: a tool call keeps no directory. */
function withoutCd(
  args: PolicyCall['args'],
  line: string,
): readonly { readonly text: string; readonly args: PolicyCall['args'] }[] {
  const found = /^\s*cd\s+(?:'([^']+)'|"([^"$`\\]+)"|([\w@%+=:,./-]+))\s*(?:&&|;)\s*(\S.*)$/s.exec(line);
  const [, single, double, plain, command] = found ?? [];
  const directory = single ?? double ?? plain;
  if (directory === undefined || command === undefined || directory.startsWith('-')) return [];
  const { cwd } = args;
  const at = typeof cwd === 'string' && !directory.startsWith('/') ? `${cwd}/${directory}` : directory;
  return [{ text: `cwd ${at} in place of cd`, args: { ...args, command, cwd: at } }];
}

/** One more entry in the first allowlist for commands: the first words of one command of the call, most words first. */
function withEntries(
  loaded: LoadedPolicy,
  commands: readonly (readonly string[])[],
): readonly { readonly text: string; readonly policy: LoadedPolicy }[] {
  const { rules } = loaded.policy;
  const index = rules.findIndex(
    ({ action, when }) => action === 'allow' && when.length === 1 && when[0]?.op === 'command_prefix_allowlist',
  );
  const rule = rules[index];
  if (rule === undefined) return [];
  const entries = new Set(commands.slice(0, mostCommands).flatMap((words) => prefixesOf(words).toReversed()));
  return [...entries].map((entry) => {
    const when = rule.when.map((condition) => ({ ...condition, value: `${condition.value},${entry}` }));
    return { text: `the entry ${entry} in rule ${index + 1}`, policy: replaced(loaded, index, { ...rule, when }) };
  });
}

/** A value that the deciding rule does not match, where that alone would do. */
function otherValue(
  loaded: LoadedPolicy,
  record: Evaluation,
  flips: (policy: LoadedPolicy) => string | null,
): string | null {
  const index = record.matched_rule;
  const [condition] = index === null ? [] : (loaded.policy.rules[index]?.when ?? []);
  if (index === null || condition === undefined || record.reason !== 'matched_rule') return null;
  const action = flips(replaced(loaded, index, null));
  const what = condition.op.startsWith('command') || condition.key === '' ? 'a command' : `another ${condition.key}`;
  return action === null ? null : `${what} that rule ${index + 1} does not match: ${action}`;
}

function replaced(loaded: LoadedPolicy, index: number, rule: Rule | null): LoadedPolicy {
  const rules = loaded.policy.rules.flatMap((one, at) => (at !== index ? [one] : rule === null ? [] : [rule]));
  const policy: Policy = { ...loaded.policy, rules };
  return { ...loaded, policy };
}
