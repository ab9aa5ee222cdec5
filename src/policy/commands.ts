import type { Action, PolicyHost } from '../schema/policy.ts';
import { type Analysis, programName } from './analysis.ts';
import { compileGlob, matchGlob } from './glob.ts';
import type { Parsed } from './operators.ts';
import { isWithin, type PathValue } from './paths.ts';
import { isInterpreter, isLauncher, isNeverGranted } from './programs.ts';
import { no, notBecause, pathMatches, type Reading, type Scope, yes } from './scope.ts';
import { judgeTrust } from './trusted.ts';

/** Judges an analysed command (02 §7.3). */
export type CommandTest = (analysis: Analysis, scope: Scope, action: Action) => Reading;

/** The whole-call operators by name; `action` is that of the rule, because it decides what an operand may be. */
export const commandOperators: Readonly<Record<string, (operand: string, action: Action) => Parsed<CommandTest>>> = {
  command_blacklist: nameList,
  command_ask_always: nameList,
  has_command_substitution: () => ({ ok: true, test: substitution }),
  no_command_substitution: () => ({ ok: true, test: substitution }),
  command_prefix_allowlist: prefixList,
  command_path: commandPath,
};

/** Entries of a comma list; blank ones are ignored. */
export const listEntries = (operand: string): readonly string[] =>
  operand
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

function nameList(operand: string): Parsed<CommandTest> {
  const entries = listEntries(operand);
  const bad = entries.find((entry) => /[\s/\\;|&<>()$`'"{}]/.test(entry));
  if (bad !== undefined) {
    return { ok: false, message: `${JSON.stringify(bad.slice(0, 80))} is not a bare program name` };
  }
  if (entries.length === 0) return { ok: false, message: 'the list names no program' };
  return {
    ok: true,
    test(analysis, { host }) {
      const listed = new Set(entries.map((entry) => programName(entry, host)));
      for (const name of namesIn(analysis, host)) if (listed.has(name)) return yes(`program ${name}`);
      return no;
    },
  };
}

/** Every name under which a program of the call goes; for what was not read, the pieces of its texts. */
function* namesIn(analysis: Analysis, host: PolicyHost): Generator<string> {
  for (const [word] of analysis.commands) if (word !== undefined) yield* namesOf(word, host);
  if (analysis.unread === null) return;
  for (const piece of analysis.pieces()) {
    yield programName(piece, host);
    if (piece.includes('/')) yield programName(piece.replace(/\/+$/, ''), host);
  }
}

/** The basename of a program word as written, and of the file that it resolves to. */
function namesOf(word: string, host: PolicyHost): readonly string[] {
  const written = programName(word, host);
  const resolved = host.resolveProgram(word, host.cwd);
  return resolved === null ? [written] : [written, programName(resolved.real, host)];
}

const substitutions = ['$(', '`', '<(', '>(', '$[', '$\u007b}'];

/** Single quotes hide a sequence only in a line that was read whole. */
function substitution(analysis: Analysis): Reading {
  const texts =
    analysis.line !== null && analysis.unread === null ? [withoutSingleQuotes(analysis.line)] : analysis.texts;
  for (const text of texts) {
    const found = substitutions.find((sequence) => text.includes(sequence));
    if (found !== undefined) return yes(`substitution ${found}`);
  }
  return no;
}

/** A line of literal words without what stands in single quotes; there double quotes hold no backslash. */
const withoutSingleQuotes = (line: string): string => line.replace(/("[^"]*")|'[^']*'/g, '$1');

const standardFiles: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']);

function commandPath(operand: string): Parsed<CommandTest> {
  const compiled = compileGlob(operand);
  if (!compiled.ok) return compiled;
  return {
    ok: true,
    test(analysis, scope, action) {
      const places = scope.places();
      for (const path of pathsIn(analysis, scope)) {
        if (pathMatches(path, action, (text) => matchGlob(compiled.glob, text, places))) {
          return yes(`path ${path.given} matches ${operand}`);
        }
      }
      return no;
    },
  };
}

/** Every path that the words of a call may name, and for what was not read, its pieces. */
export function* pathsIn(analysis: Analysis, scope: Scope): Generator<PathValue> {
  const tested = new Set<string>();
  const fresh = function* (texts: Iterable<string>): Generator<PathValue> {
    for (const text of texts) {
      if (text === '' || tested.has(text) || text.includes('\0')) continue;
      tested.add(text);
      const path = scope.path(text);
      if (!standardFiles.has(path.lexical)) yield path;
    }
  };
  for (const words of analysis.commands) for (const word of words) yield* fresh(partsOf(word));
  if (analysis.unread !== null) yield* fresh(analysis.pieces().map((piece) => expandHome(piece, scope.host)));
}

/** A word, and what stands behind its first `=`, `@`, `:` or `,` or behind an attached short option (02 §7.3). */
function partsOf(word: string): readonly string[] {
  const parts = [word];
  for (const separator of '=@:,') {
    const at = word.indexOf(separator);
    if (at !== -1) parts.push(word.slice(at + 1));
  }
  if (/^-[^-]./.test(word)) {
    parts.push(word.slice(2));
    // A bundle may end in an option with its value: `-xf/etc/x`.
    if (word.includes('/')) parts.push(word.slice(word.indexOf('/')));
  }
  // No shell expands these words: a tilde in them is an ordinary character.
  return parts.map((part) => (part.startsWith('~/') ? `./${part}` : part));
}

function expandHome(piece: string, host: PolicyHost): string {
  if (piece === '~' || piece === '$HOME') return host.home;
  if (piece.startsWith('$HOME/')) return `${host.home}${piece.slice('$HOME'.length)}`;
  return piece;
}

type Entry = readonly string[];

function prefixList(operand: string, action: Action): Parsed<CommandTest> {
  const entries: Entry[] = listEntries(operand).map((entry) => entry.split(/[ \t]+/));
  if (entries.length === 0 && action !== 'allow') return { ok: false, message: 'the list names no command' };
  return {
    ok: true,
    test(analysis, scope) {
      if (action !== 'allow') return covered(entries, analysis, scope.host);
      const failing = notGranted(entries, analysis, scope);
      const trust = judgeTrust(entries, analysis.commands, scope);
      if (trust?.finding != null) return { ...notBecause(trust.finding.detail), trust: trust.finding };
      if (failing !== null) return notBecause(failing);
      const granted = yes(`every command is covered: ${analysis.texts.join(' ')}`);
      return trust === null ? granted : { ...granted, starts: trust.starts };
    },
  };
}

/** Under `deny` and `approve`: programs by basename, options not judged; what was not read is scanned. */
function covered(entries: readonly Entry[], analysis: Analysis, host: PolicyHost): Reading {
  for (const [program = '', ...rest] of entries) {
    const name = programName(program, host);
    for (const [word = '', ...words] of analysis.commands) {
      if (namesOf(word, host).includes(name) && rest.every((text, index) => text === words[index])) {
        return yes(`command ${[program, ...rest].join(' ')}`);
      }
    }
    if (analysis.unread === null) continue;
    for (const found of namesIn(analysis, host)) if (found === name) return yes(`program ${name}`);
  }
  return no;
}

/**
 * Why the call is not granted, the first failing point, or null. Until option tables judge what stands behind an entry,
 * a call is granted only word for word, and never for `git` (amendment 12).
 */
function notGranted(entries: readonly Entry[], analysis: Analysis, scope: Scope): string | null {
  const { host } = scope;
  if (analysis.unread !== null) return analysis.unread;
  if (analysis.ungrantable !== null) return `not grantable: ${analysis.ungrantable}`;
  const [words] = analysis.commands;
  const program = words?.[0];
  if (words === undefined || program === undefined) return 'not grantable: no command';
  const name = programName(program, host);
  if (isLauncher(name)) return `launcher ${name} is never granted`;
  if (isNeverGranted(name)) return `program ${name} is never granted`;
  if (!isPlainProgram(program, host)) return `program word is not grantable: ${program}`;
  const near = entries.filter((entry) => coversProgram(entry[0] ?? '', program));
  const exact = near.some((entry) => sameRest(entry, words));
  if (!exact) {
    const prefix = near.some((entry) => entry.every((word, index) => index === 0 || word === words[index]));
    return prefix ? `words behind the entry are not judged: ${words.join(' ')}` : `not covered: ${words.join(' ')}`;
  }
  if (name === 'git') return 'the repository of git is not judged';
  const rest = words.slice(1);
  if (isInterpreter(name) && (rest.length !== 1 || rest[0] !== '--version'))
    return `interpreter ${name} is not granted`;
  const unjudged = rest.find((word) => !/^([A-Za-z][A-Za-z0-9-]*|--version)$/.test(word));
  if (unjudged !== undefined) return `option or operand ${unjudged} of ${name} is not judged`;
  const resolved = host.resolveProgram(program, host.cwd);
  if (resolved === null) return `program ${program} does not resolve`;
  if (resolved.ungrantable !== null) return `${resolved.ungrantable}: ${resolved.real}`;
  const named = scope.call.args['cwd'] ?? null;
  if (named !== null && typeof named !== 'string') return 'the directory of the call is no text';
  const cwd = scope.path(host.cwd);
  const inside = (path: string): boolean => scope.places().workspaces.some((root) => isWithin(path, root));
  return inside(cwd.lexical) && inside(cwd.real()) ? null : `the directory is outside the workspace: ${host.cwd}`;
}

const sameRest = (entry: Entry, words: Entry): boolean =>
  entry.length === words.length && entry.every((word, index) => index === 0 || word === words[index]);

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

/** 02 §9.6: an entry equals that same text; a bare one also equals a permitted absolute word of that name. */
const coversProgram = (entry: string, word: string): boolean =>
  entry === word || (!entry.includes('/') && word.startsWith('/') && word.slice(word.lastIndexOf('/') + 1) === entry);
