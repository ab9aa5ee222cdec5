import { isBlank } from './posix-words.ts';

/**
 * Lines of literal words (02 §9.1, §9.4), read without a grammar. Pure, linear, never throws. What it does not know it
 * names; it guesses nothing.
 */

/** One simple command: its words, and its redirections as they are written again. */
export type LiteralCommand = {
  readonly words: readonly string[];
  /** Of `>/dev/null 1>/dev/null 2>/dev/null </dev/null 2>&1 1>&2`, without a blank. */
  readonly redirects: readonly string[];
};

type LineOperator = '&&' | '||' | '|';

/** One or more simple commands of literal words, joined by `&&`, `||` and `|`. */
export type LiteralLine =
  | {
      readonly ok: true;
      readonly commands: readonly LiteralCommand[];
      readonly operators: readonly LineOperator[];
      /** Words that hold an unquoted `*`, `?` or `[`. */
      readonly unexpanded: readonly string[];
    }
  /** The first thing that is more, named for a sentence. */
  | { readonly ok: false; readonly construct: string };

/** What `simpleCommand` makes of a line. */
export type SimpleCommand =
  | { readonly ok: true; readonly words: readonly string[]; readonly unexpanded: readonly string[] }
  | { readonly ok: false; readonly construct: string };

/** First words that are grammar and no program. */
const reserved: ReadonlySet<string> = new Set(
  '! { } [[ ]] case coproc do done elif else esac fi for function if select then time until while'.split(' '),
);

const unquotedConstructs: Readonly<Record<string, string>> = {
  '\n': 'a line break',
  ';': 'the operator ;',
  '|': 'the operator |',
  '&': 'the operator &',
  '<': 'the redirection <',
  '>': 'the redirection >',
  '(': 'a parenthesis',
  ')': 'a parenthesis',
  $: 'an expansion ($)',
  '`': 'a command substitution (`)',
  '\\': 'an unquoted backslash',
  '{': 'an unquoted brace',
  '}': 'an unquoted brace',
};

const quotedConstructs: Readonly<Record<string, string>> = {
  $: 'an expansion ($)',
  '`': 'a command substitution (`)',
  '\\': 'a backslash in double quotes',
};

/** The redirections of 02 §9.4; what follows must end the word. */
const audited = /(?:[12]?>[ \t]*\/dev\/null|<[ \t]*\/dev\/null|2>&[ \t]*1|1>&[ \t]*2)(?=[ \t|&]|$)/y;

/** Reads a line that is exactly one simple command of literal words: the argv it stands for (02 §9.1, §9.4). */
export function simpleCommand(line: string): SimpleCommand {
  const read = literalLine(line, false);
  const [command] = read.ok ? read.commands : [];
  if (!read.ok) return read;
  return command === undefined
    ? { ok: false, construct: 'no command' }
    : { ok: true, words: command.words, unexpanded: read.unexpanded };
}

/** Reads a line of literal words. `joined: false` takes neither operators nor redirections. */
export function literalLine(line: string, joined = true): LiteralLine {
  const commands: LiteralCommand[] = [];
  const operators: LineOperator[] = [];
  const unexpanded: string[] = [];
  let words: string[] = [];
  let redirects: string[] = [];
  const other = (construct: string): LiteralLine => ({ ok: false, construct });
  let at = 0;
  while (at < line.length) {
    if (isBlank(line.charAt(at))) {
      at += 1;
      continue;
    }
    if (line.charAt(at) === '#') return other('a comment (#)');
    const operator = joined ? operatorAt(line, at) : null;
    if (operator !== null) {
      if (words.length === 0) return other(`the operator ${operator} without a command before it`);
      commands.push({ words, redirects });
      operators.push(operator);
      words = [];
      redirects = [];
      at += operator.length;
      continue;
    }
    if (joined && '12<>'.includes(line.charAt(at))) {
      audited.lastIndex = at;
      const redirect = audited.exec(line)?.[0];
      if (redirect !== undefined) {
        redirects.push(redirect.replace(/[ \t]/g, ''));
        at += redirect.length;
        continue;
      }
    }
    const word = wordAt(line, at, words.length === 0, joined);
    if (!word.ok) return other(word.construct);
    words.push(word.text);
    if (word.globs) unexpanded.push(word.text);
    at = word.end;
  }
  if (words.length === 0) return other(operators.length === 0 ? 'no command' : 'an operator at the end');
  commands.push({ words, redirects });
  return { ok: true, commands, operators, unexpanded };
}

/** `&&`, `||` or `|`, and nothing that begins like them: not `|&`, `&&&` or `|||`. */
function operatorAt(line: string, at: number): LineOperator | null {
  if (!'|&'.includes(line.charAt(at))) return null;
  const run = /[|&]*/y;
  run.lastIndex = at;
  const found = run.exec(line)?.[0];
  return found === '&&' || found === '||' || found === '|' ? found : null;
}

type Word =
  | { readonly ok: true; readonly text: string; readonly globs: boolean; readonly end: number }
  | { readonly ok: false; readonly construct: string };

/** The word that begins at a place that is no blank. */
function wordAt(line: string, from: number, first: boolean, joined: boolean): Word {
  let text = '';
  let quoted = false;
  let globs = false;
  let at = from;
  for (; at < line.length && !isBlank(line.charAt(at)); at += 1) {
    const char = line.charAt(at);
    if (char === "'" || char === '"') {
      const end = line.indexOf(char, at + 1);
      if (end === -1) return { ok: false, construct: 'an open quote' };
      const inner = line.slice(at + 1, end);
      const live = char === '"' ? /[$`\\]/.exec(inner) : null;
      if (live !== null) return { ok: false, construct: quotedConstructs[live[0]] ?? 'an expansion' };
      text += inner;
      quoted = true;
      at = end;
      continue;
    }
    // An operator ends the word where operators are read; it is looked at again by the caller.
    if (at > from && (char === '&' || char === '|')) break;
    // Digits before a redirection are its descriptor.
    if (joined && at > from && (char === '>' || char === '<') && !/^[0-9]+$/.test(text)) break;
    const construct = unquotedConstructs[char];
    if (construct !== undefined) {
      // `&&`, `||`, `>>`: the operator as it was written.
      return {
        ok: false,
        construct: '|&<>;'.includes(char) && line.charAt(at + 1) === char ? construct + char : construct,
      };
    }
    const before = line.charAt(at - 1);
    if (char === '~' && (at === from || before === '=' || before === ':')) {
      return { ok: false, construct: 'a tilde (~)' };
    }
    if (char === '=' && first && !quoted && /^[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?$/.test(text)) {
      return { ok: false, construct: 'a leading assignment' };
    }
    if (char === '*' || char === '?' || char === '[') globs = true;
    text += char;
  }
  if (first && !quoted && reserved.has(text)) return { ok: false, construct: `the reserved word ${text}` };
  return { ok: true, text, globs, end: at };
}
