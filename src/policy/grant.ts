import type { PolicyHost } from '../schema/policy.ts';
import { launches } from '../shell/launchers.ts';
import { type Analysis, manyNamed, programName } from './analysis.ts';
import { isBareInterpreter } from './bare-interpreter.ts';
import { isGit } from './exec.ts';
import { diffProblem } from './diff-shows.ts';
import { repositoryProblem } from './git.ts';
import { operandProblem } from './operands.ts';
import { judgeWords, tableOf } from './option-tables.ts';
import { tooManyPaths } from './named-paths.ts';
import { isWithin } from './paths.ts';
import { isInterpreter, isLauncher, isNeverGranted } from './programs.ts';
import type { Scope } from './scope.ts';
import { searchProblem } from './search.ts';

/** An entry of an allowlist, word by word. */
export type Entry = readonly string[];

/** Why a call is not granted by an allowlist (02 §9.6): the first failing point, or null when every command is. */
export function notGranted(entries: readonly Entry[], analysis: Analysis, scope: Scope): string | null {
  if (analysis.floor !== null) return analysis.floor;
  // No operand is judged where an `allow` would not stand.
  if (!scope.namedWhole(analysis)) return tooManyPaths;
  if (!analysis.grant.ok) return `not grantable: ${analysis.grant.construct}`;
  for (const { words } of analysis.grant.line.commands) {
    const failing = commandNotGranted(words, entries, scope);
    if (failing !== null) return failing;
  }
  return directoryProblem(scope);
}

/** One command: its program (02 §9.5), the entry that covers it, its options and operands (02 §9.7). */
export function commandNotGranted(words: readonly string[], entries: readonly Entry[], scope: Scope): string | null {
  const { host } = scope;
  const [program = '', ...rest] = words;
  const name = programName(program, host);
  if (launches(name, rest)) return `launcher ${name} is never granted`;
  if (isNeverGranted(name)) return `program ${name} is never granted`;
  if (!isPlainProgram(program, host)) return `program word is not grantable: ${program}`;
  const covering = entries.filter((entry) => covers(entry, words));
  if (covering.length === 0) return `not covered: ${words.join(' ')}`;
  const resolved = host.resolveProgram(program, host.cwd);
  if (resolved === null) return `program ${program} does not resolve`;
  if (resolved.ungrantable !== null) return `${resolved.ungrantable}: ${resolved.real}`;
  const file = programName(resolved.real, host);
  if (startsOthers(file)) return `program ${name} is ${file}, which is never granted`;
  const interpreter = isInterpreter(name) || isInterpreter(file);
  const problem = interpreter
    ? interpreterProblem(name, covering, words, scope)
    : wordsProblem(name, file, rest, scope);
  if (problem !== null) return prefixed(name, problem);
  if (!isGit(program, host)) return null;
  const repository = host.repository(host.cwd);
  return repositoryProblem(repository, rest[0] ?? '') ?? prefixed(name, diffProblem(rest, repository, scope));
}

const prefixed = (name: string, problem: string | null): string | null =>
  problem === null ? null : `${name}: ${problem}`;

/** A file that is known under another name; the many names of one `busybox` are judged as they are written. */
const startsOthers = (file: string): boolean => !manyNamed.has(file) && (isLauncher(file) || isNeverGranted(file));

/** By the table of the name, else of the file behind it; a program without one was listed by the operator as it is. */
function wordsProblem(name: string, file: string, rest: readonly string[], scope: Scope): string | null {
  const own = scope.host.commandTables;
  const table = tableOf(name, own) ?? tableOf(file, own);
  if (table === undefined) return null;
  const judged = judgeWords(table, rest, own);
  if (!judged.ok) return judged.failing;
  const seen = new Set<string>();
  for (const { text, kind } of judged.operands) {
    if (seen.has(`${kind} ${text}`)) continue;
    seen.add(`${kind} ${text}`);
    const problem = operandProblem(text, kind, scope);
    if (problem !== null) return problem;
  }
  return searchProblem(name, rest, judged.operands, scope);
}

/**
 * An interpreter runs whatever its words say: granted is a call whose entry fixes script or module, with operands only
 * behind it, or by the table of the module; and one that is an entry word for word and that its own table accepts.
 */
function interpreterProblem(
  name: string,
  covering: readonly Entry[],
  words: readonly string[],
  scope: Scope,
): string | null {
  let problem: string | null = null;
  for (const entry of covering) {
    const found = isBareInterpreter(name, entry.slice(1))
      ? bareProblem(name, entry, words, scope)
      : fixedProblem(entry, words, scope);
    if (found === null) return null;
    problem ??= found;
  }
  return problem;
}

function bareProblem(name: string, entry: Entry, words: readonly string[], scope: Scope): string | null {
  if (entry.length !== words.length || entry.length === 1) return 'an interpreter runs whatever it is given';
  return tableOf(name, scope.host.commandTables) === undefined
    ? 'an interpreter without a table'
    : wordsProblem(name, name, words.slice(1), scope);
}

function fixedProblem(entry: Entry, words: readonly string[], scope: Scope): string | null {
  const at = entry.indexOf('-m') + 1;
  const module = at === 0 ? undefined : entry[at];
  if (module !== undefined && tableOf(module, scope.host.commandTables) !== undefined) {
    return wordsProblem(module, module, words.slice(at + 1), scope);
  }
  const option = words.slice(entry.length).find((word) => word.startsWith('-'));
  return option === undefined ? null : `option ${option}`;
}

/** `args.cwd` is a text, and the directory of the call lies in the workspace under both its names. */
function directoryProblem(scope: Scope): string | null {
  const { host } = scope;
  const named = scope.call.args['cwd'] ?? null;
  if (named !== null && typeof named !== 'string') return 'the directory of the call is no text';
  const cwd = scope.path(host.cwd);
  const inside = (path: string): boolean => scope.places().workspaces.some((root) => isWithin(path, root));
  return inside(cwd.lexical) && inside(cwd.real()) ? null : `the directory is outside the workspace: ${host.cwd}`;
}

/** 02 §9.6: its words are the first words of the command, one to one. */
const covers = (entry: Entry, words: readonly string[]): boolean =>
  coversProgram(entry[0] ?? '', words[0] ?? '') && entry.every((word, index) => index === 0 || word === words[index]);

/** An entry equals that same text; a bare one also equals a permitted absolute word of that name. */
const coversProgram = (entry: string, word: string): boolean =>
  entry === word || (!entry.includes('/') && word.startsWith('/') && word.slice(word.lastIndexOf('/') + 1) === entry);

const systemDirectories: ReadonlySet<string> = new Set([
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
]);

/** 02 §9.5: a bare name, or a clean absolute path that lies in a system directory or is what its name resolves to. */
function isPlainProgram(word: string, host: PolicyHost): boolean {
  if (!word.includes('/')) return word !== '';
  if (!word.startsWith('/') || /\/\/|\/\.\.?(\/|$)|[*?[\]{}$`'"\\~]/.test(word)) return false;
  const slash = word.lastIndexOf('/');
  if (systemDirectories.has(word.slice(0, slash))) return true;
  return host.resolveProgram(word.slice(slash + 1), host.cwd)?.real === word;
}
