import type { FoundCommand } from '../schema/command.ts';
import type { Action, PolicyHost } from '../schema/policy.ts';
import { forbiddenCharacter } from '../text/posix-words.ts';
import { type Analysis, filesOf, programName } from './analysis.ts';
import { coversWords } from './covered-words.ts';
import { compileOperand, matchGlob } from './glob.ts';
import type { Parsed } from './operators.ts';
import { type Entry, notGranted } from './grant.ts';
import { no, notBecause, pathMatches, type PathTest, perhaps, type Reading, type Scope, yes } from './scope.ts';
import { createHeldPlace } from './taken-along.ts';
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

/** No line that is read holds such a character (02 §9.2): an entry with one in it would never match. */
const isUnreadable = (entry: string): boolean => forbiddenCharacter(entry) !== null;

const visible = (entry: string): string =>
  JSON.stringify(entry.slice(0, 80)).replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** `[` and `[[` are names of programs. */
const isPattern = (name: string): boolean => /[*?[\]]/.test(name) && !/^\[\[?$/.test(name);

function nameList(operand: string): Parsed<CommandTest> {
  const entries = listEntries(operand);
  const bad = entries.find((entry) => /[\s/\\;|&<>()$`'"{}]/.test(entry) || isUnreadable(entry));
  if (bad !== undefined) return { ok: false, message: `${visible(bad)} is not a bare program name` };
  const pattern = entries.find(isPattern);
  if (pattern !== undefined)
    return { ok: false, message: `${visible(pattern)} is a pattern: programs are listed by name` };
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
  for (const command of analysis.commands) yield* namesOf(command, host);
  if (analysis.unread === null) return;
  for (const piece of analysis.pieces()) {
    yield programName(piece, host);
    if (piece.includes('/')) yield programName(piece.replace(/\/+$/, ''), host);
  }
}

/** The basename of a program word as written, and of the files that it may resolve to. */
function* namesOf(command: FoundCommand, host: PolicyHost): Generator<string> {
  const [program] = command.words;
  if (program === undefined) return;
  yield programName(program.text, host);
  if (program.unset !== undefined) yield programName(program.unset, host);
  for (const file of filesOf(command, host)) yield programName(file, host);
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

function commandPath(operand: string): Parsed<CommandTest> {
  const compiled = compileOperand(operand);
  if (!compiled.ok) return compiled;
  const matches: PathTest = (path, scope) => matchGlob(compiled.glob, path, scope.places());
  const heldPlace = createHeldPlace(operand);
  return {
    ok: true,
    test(analysis, scope, action) {
      for (const path of scope.meant(analysis)) {
        if (pathMatches(path, matches, scope, action)) return yes(`path ${path.given} matches ${operand}`);
      }
      if (action === 'allow') return no;
      for (const path of scope.doubted(analysis)) {
        if (pathMatches(path, matches, scope, action))
          return perhaps(`${path.given} may be a path, which matches ${operand}`);
      }
      // No word names what lies in a directory that is copied or removed whole: a person is asked, since it may be left out.
      for (const taken of scope.taken(analysis)) {
        const exact = taken.exactly === true && pathMatches(scope.path(taken.real), matches, scope, action);
        const held = exact ? taken.real : heldPlace(taken, scope.host);
        if (held !== null) return perhaps(`${taken.given} ${taken.verb ?? 'holds'} ${held}, which matches ${operand}`);
      }
      return no;
    },
  };
}

/** The entries of a `command_prefix_allowlist`, word by word. */
export const prefixEntries = (operand: string): readonly Entry[] =>
  listEntries(operand).map((entry) => entry.split(/[ \t]+/));

function prefixList(operand: string, action: Action): Parsed<CommandTest> {
  const entries = prefixEntries(operand);
  if (action !== 'allow') {
    if (entries.length === 0) return { ok: false, message: 'the list names no command' };
    const bad = entries.find((entry) => entry.some(isUnreadable));
    if (bad !== undefined) return { ok: false, message: `${visible(bad.join(' '))} can stand in no command` };
    const [inert] = entries.flatMap((entry) => inertWord(entry) ?? []);
    if (inert !== undefined) return { ok: false, message: inert };
  }
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

/**
 * Why an entry covers nothing of what its author means, or null: its words are those of one command as the program gets
 * them, so a rule with a quote, an operator or a star of other notations would guard nothing (02 §3).
 */
function inertWord(entry: Entry): string | null {
  const text = visible(entry.join(' '));
  if (/^\w+=/.test(entry[0] ?? '')) return `${text} begins with an assignment: write the command behind it`;
  for (const word of entry) {
    if (/^[;|&<>()]+$|.[;|&]$/.test(word)) return `${text} is more than one command: write an entry for each`;
    if (/^["']|["']$/.test(word)) return `${text} holds a quote: write the words without`;
    if (/^\*$|:\*$/.test(word)) return `${text} ends in a star: an entry covers whatever follows its words`;
    if (/\$\(|`/.test(word)) return `${text} holds a substitution: that is no word of a command`;
  }
  const [program = ''] = entry;
  if (isPattern(program)) return `${text} begins with a pattern: programs are listed by name`;
  return /[;|&<>()${}]/.test(program) ? `${text} begins with no name of a program` : null;
}

/** The words of the commands: as they would run, or of a line that is not granted as far as they were read. */
const wordsOf = ({ grant, commands }: Analysis): readonly (readonly string[])[] =>
  grant.ok
    ? grant.line.commands.map(({ words }) => words)
    : commands.flatMap(({ words }) => (words.length === 0 ? [] : [words.map(({ text }) => text)]));

/** Under `deny` and `approve`: programs by basename, options left out; what was not read is scanned. */
function covered(entries: readonly Entry[], analysis: Analysis, host: PolicyHost): Reading {
  let open: Reading | null = null;
  for (const [program = '', ...rest] of entries) {
    const name = programName(program, host);
    for (const command of analysis.commands) {
      const coverage = coversWords(rest, command.words.slice(1));
      if (coverage === 'none' || !isNamed(name, command, host)) continue;
      if (coverage === 'covered') return yes(`command ${[program, ...rest].join(' ')}`);
      open ??= perhaps(`${command.words.map(({ text }) => text).join(' ')} may be ${[program, ...rest].join(' ')}`);
    }
    if (analysis.unread === null) continue;
    for (const found of namesIn(analysis, host)) if (found === name) return yes(`program ${name}`);
  }
  return open ?? no;
}

function isNamed(name: string, command: FoundCommand, host: PolicyHost): boolean {
  for (const own of namesOf(command, host)) if (own === name) return true;
  return false;
}
