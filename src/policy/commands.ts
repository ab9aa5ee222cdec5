import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { Action, PolicyHost } from '../schema/policy.ts';
import { type Analysis, programName } from './analysis.ts';
import { compileGlob, matchGlob } from './glob.ts';
import type { Parsed } from './operators.ts';
import { type Entry, notGranted } from './grant.ts';
import type { PathValue } from './paths.ts';
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
  for (const { words } of analysis.commands) if (words[0] !== undefined) yield* namesOf(words[0].text, host);
  if (analysis.unread === null) return;
  for (const piece of analysis.pieces()) {
    yield programName(piece, host);
    if (piece.includes('/')) yield programName(piece.replace(/\/+$/, ''), host);
  }
}

/** The basename of a program word as written, and of the file that it resolves to. */
function* namesOf(word: string, host: PolicyHost): Generator<string> {
  yield programName(word, host);
  const resolved = host.resolveProgram(word, host.cwd);
  if (resolved !== null) yield programName(resolved.real, host);
}

const substitutions = ['$(', '`', '<(', '>(', '$[', '$\u007b}'];

/** Single quotes hide a sequence only in a line that parses. */
function substitution(analysis: Analysis): Reading {
  const { unquoted, unread, texts } = analysis;
  for (const text of unquoted !== null && unread === null ? [unquoted] : texts) {
    const found = substitutions.find((sequence) => text.includes(sequence));
    if (found !== undefined) return yes(`substitution ${found}`);
  }
  return no;
}

/** Files that every process has: no list is about them. */
export const standardFiles: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']);

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

/** Every path that a call may name: of its words, its redirections, and for what was not read, its pieces. */
export function* pathsIn(analysis: Analysis, scope: Scope): Generator<PathValue> {
  const fresh = freshPaths(scope);
  for (const command of analysis.commands) {
    for (const word of command.words) yield* fresh(placesOfWord(word, command, scope.host));
    yield* fresh(
      command.redirects.flatMap(({ target }) => (target === null ? [] : placesOfWord(target, command, scope.host))),
    );
  }
  if (analysis.unread !== null) yield* fresh(analysis.pieces().map((piece) => expandHome(piece, scope.host)));
}

/** Paths by their texts, each text once, those that every process has left out. */
export function freshPaths(scope: Scope): (texts: Iterable<string>) => Generator<PathValue> {
  const tested = new Set<string>();
  return function* (texts) {
    for (const text of texts) {
      if (text === '' || tested.has(text) || text.includes('\0')) continue;
      tested.add(text);
      const path = scope.path(text);
      if (!standardFiles.has(path.lexical)) yield path;
    }
  };
}

/** Where a word may lead: each of its parts, below each directory that a `cd` before it may have left the line in. */
export function placesOfWord(
  { path }: CommandWord,
  { directories }: FoundCommand,
  host: PolicyHost,
): readonly string[] {
  return partsOf(path).flatMap((part) => directories.map((base) => placed(part, base, host)));
}

/** U+0000 stands for the home directory; a tilde that the shell does not replace is an ordinary character. */
function placed(part: string, base: string, host: PolicyHost): string {
  const text = part.startsWith('~/') ? `./${part}` : part;
  const whole = base === '' || /^[/\0]/.test(text) ? text : `${base}/${text}`;
  return whole.replaceAll('\0', host.home);
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
  return parts;
}

function expandHome(piece: string, host: PolicyHost): string {
  if (piece === '~' || piece === '$HOME') return host.home;
  if (piece.startsWith('$HOME/')) return `${host.home}${piece.slice('$HOME'.length)}`;
  return piece;
}

function prefixList(operand: string, action: Action): Parsed<CommandTest> {
  const entries: Entry[] = listEntries(operand).map((entry) => entry.split(/[ \t]+/));
  if (entries.length === 0 && action !== 'allow') return { ok: false, message: 'the list names no command' };
  return {
    ok: true,
    test(analysis, scope) {
      if (action !== 'allow') return covered(entries, analysis, scope.host);
      const failing = notGranted(entries, analysis, scope);
      const trust = judgeTrust(entries, wordsOf(analysis), scope);
      if (trust?.finding != null) return { ...notBecause(trust.finding.detail), trust: trust.finding };
      if (failing !== null) return notBecause(failing);
      const granted = yes(`every command is covered: ${analysis.texts.join(' ')}`);
      return trust === null ? granted : { ...granted, starts: trust.starts };
    },
  };
}

/** The words of the commands: as they would run, or of a line that is not granted as far as they were read. */
const wordsOf = ({ grant, commands }: Analysis): readonly (readonly string[])[] =>
  grant.ok ? grant.line.commands.map(({ words }) => words) : commands.map(({ words }) => words.map(({ text }) => text));

/** Under `deny` and `approve`: programs by basename, options not judged; what was not read is scanned. */
function covered(entries: readonly Entry[], analysis: Analysis, host: PolicyHost): Reading {
  for (const [program = '', ...rest] of entries) {
    const name = programName(program, host);
    for (const { words } of analysis.commands) {
      const [word, ...more] = words;
      if (word === undefined || !rest.every((text, index) => text === more[index]?.text)) continue;
      for (const own of namesOf(word.text, host)) {
        if (own === name) return yes(`command ${[program, ...rest].join(' ')}`);
      }
    }
    if (analysis.unread === null) continue;
    for (const found of namesIn(analysis, host)) if (found === name) return yes(`program ${name}`);
  }
  return no;
}
