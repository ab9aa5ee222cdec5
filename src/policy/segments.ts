import type { Evaluation } from '../schema/policy.ts';
import type { CommandSegment } from '../schema/policy-views.ts';
import type { Analysis } from './analysis.ts';
import { commandNotGranted, type Entry } from './grant.ts';
import { otherMeanings } from './other-meanings.ts';
import type { Scope } from './scope.ts';

/**
 * The reading of a shell call for a person who asks (02 §14.2): each command with its program and what the allowlists
 * say of it alone. Nothing is decided by it, and no call that is only judged pays for it.
 * @param lists the entries of each allowlist of the policy that is about such calls
 */
export function analysisRecord(scope: Scope, lists: readonly (readonly Entry[])[]): Pick<Evaluation, 'analysis'> {
  if (scope.call.tools !== 'local_shell') return {};
  const analysis = scope.analysis();
  const { form, verdict, floor, grant } = analysis;
  const segments = segmentsOf(analysis, lists, scope);
  return { analysis: { form, verdict, segments, unread: floor, ungrantable: grant.ok ? null : grant.construct } };
}

function segmentsOf(
  { commands, grant }: Analysis,
  lists: readonly (readonly Entry[])[],
  scope: Scope,
): readonly CommandSegment[] {
  const { host } = scope;
  // A line that can be granted is written anew, with every program by its file.
  const mayMeanElse = grant.ok ? () => false : otherMeanings(scope.call.args);
  const own = commands.filter(({ revealed }) => !revealed);
  const judged = grant.ok && grant.line.commands.length === own.length ? grant.line.commands : null;
  // A redirection of a group, or a value, is no command of its own.
  const started = commands.filter(({ words }) => words.length > 0);
  return started.map((command) => {
    const words = command.words.map(({ text }) => text);
    const [word = ''] = words;
    const program = mayMeanElse(word, command.revealed) ? null : (host.resolveProgram(word, host.cwd)?.real ?? null);
    const { revealed } = command;
    // What stands in the words of another command grants nothing: the one that starts it is judged.
    if (revealed) return { words, program, revealed, covered_by: null, why: null };
    if (command.words.some(({ open }) => open)) {
      return {
        words,
        program,
        revealed,
        covered_by: null,
        why: lists.length === 0 ? null : 'the shell decides a word',
      };
    }
    const asWouldRun = judged?.[own.indexOf(command)]?.words ?? words;
    return { words, program, revealed, ...coverage(asWouldRun, lists, scope) };
  });
}

/** The first entry that grants the command, else the first failing point of the list that comes closest. */
function coverage(
  words: readonly string[],
  lists: readonly (readonly Entry[])[],
  scope: Scope,
): Pick<CommandSegment, 'covered_by' | 'why'> {
  let why: string | null = null;
  let isNamed = false;
  for (const entries of lists) {
    const failing = commandNotGranted(words, entries, scope);
    if (failing === null) {
      const entry = entries.find((one) => commandNotGranted(words, [one], scope) === null);
      return { covered_by: entry?.join(' ') ?? null, why: null };
    }
    // A list that names the command and refuses it says more than one that does not know it.
    const names = !failing.startsWith('not covered: ');
    if (why === null || (names && !isNamed)) why = failing;
    isNamed ||= names;
  }
  return { covered_by: null, why };
}
