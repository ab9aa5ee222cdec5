import { foldCase } from '../text/fold-case.ts';
import { once } from '../text/once.ts';
import { classEnd } from './braces.ts';

/** One glob without braces (02 §7.2) as an automaton: a list of tokens, each of which is also a state. */

/** Tokens below 0; everything else is a code point. A class is `classes - index`. */
export const one = -1;
export const run = -2;
export const across = -3;
/** An optional `/`, followed by an `across` that counts only behind it: zero or more whole segments. */
export const segments = -4;
export const classes = -5;

export type CharClass = { readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

type Automaton = { readonly tokens: Int32Array; readonly classes: readonly CharClass[] };

/** What a text is asked to find out whether it matches, the cheapest question first. */
export type Program = {
  /** The UTF-16 unit that every match ends with; -1 when it may be any. */
  readonly last: number;
  /** The longest text that every match holds. */
  readonly literal: string;
  /** True when nothing but that text matches. */
  readonly exact: boolean;
  /** Made when a text gets as far as this: most never do. */
  automaton(): Automaton;
};

export const slash = 0x2f;

/** The program of a pattern, given segment by segment; a text says what is wrong in a class or an escape. */
export function compileSegments(parts: readonly string[]): Program | string {
  const text = parts.map((part) => `/${part}`).join('');
  if (!/[[\\]/.test(text)) return plainProgram(text, parts);
  const read = tokensOf(parts);
  return typeof read === 'string' ? read : tokenProgram(read);
}

/** Of a pattern without classes and escapes: what stands between its wildcards is literal. */
function plainProgram(text: string, parts: readonly string[]): Program {
  const pieces = text.split(/(?:\/\*\*)+(?=\/|$)|\*+|\?/);
  return {
    last: lastUnit(pieces.at(-1) ?? ''),
    literal: pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest)),
    exact: pieces.length === 1,
    automaton: once(() => automatonOf(sound(tokensOf(parts)))),
  };
}

/** The same for any pattern: its literal is the longest run of tokens that are characters. */
function tokenProgram({ tokens, sets }: Tokens): Program {
  let [from, to] = [0, 0];
  for (let at = 0; at < tokens.length; at += 1) {
    const begin = at;
    while ((tokens[at] ?? -1) >= 0) at += 1;
    if (at - begin > to - from) [from, to] = [begin, at];
  }
  let literal = '';
  for (let at = from; at < to; at += 1) literal += String.fromCodePoint(tokens[at] ?? 0);
  const end = tokens.at(-1) ?? -1;
  const last = end < 0 ? -1 : lastUnit(String.fromCodePoint(end));
  const automaton = automatonOf({ tokens, sets });
  return { last, literal, exact: to - from === tokens.length, automaton: () => automaton };
}

/** Half a character says nothing: it is left to the automaton. */
function lastUnit(text: string): number {
  const unit = text === '' ? -1 : text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdfff ? -1 : unit;
}

/** The same program for a host that folds case. */
export function foldProgram(program: Program): Program {
  const { last, literal, exact } = program;
  return {
    last: last === -1 ? -1 : lastUnit(foldCase(String.fromCharCode(last))),
    literal: foldCase(literal),
    exact,
    automaton: once(() => {
      const { tokens, classes: sets } = program.automaton();
      const folded = [...tokens].flatMap((token) =>
        token < 0 ? [token] : Array.from(foldCase(String.fromCodePoint(token)), (char) => char.codePointAt(0) ?? 0),
      );
      return automatonOf({ tokens: folded, sets });
    }),
  };
}

type Tokens = { readonly tokens: readonly number[]; readonly sets: readonly CharClass[] };

const automatonOf = ({ tokens, sets }: Tokens): Automaton => ({ tokens: Int32Array.from(tokens), classes: sets });

/** What is read of a pattern in which nothing can be wrong. */
export function sound<T>(read: T | string): T {
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function tokensOf(parts: readonly string[]): Tokens | string {
  const tokens: number[] = [];
  const sets: CharClass[] = [];
  for (const part of parts) {
    if (part === '**') {
      if (tokens.at(-2) !== segments) tokens.push(segments, across);
      continue;
    }
    tokens.push(slash);
    const problem = compileSegment(part, tokens, sets);
    if (problem !== null) return problem;
  }
  return { tokens, sets };
}

function compileSegment(part: string, tokens: number[], sets: CharClass[]): string | null {
  for (let at = 0; at < part.length; at += 1) {
    const char = part.charAt(at);
    if (char === '*') {
      const glued = part.charAt(at + 1) === '*';
      while (part.charAt(at + 1) === '*') at += 1;
      tokens.push(glued ? across : run);
    } else if (char === '?') {
      tokens.push(one);
    } else if (char === '[') {
      const end = classEnd(part, at);
      const set = end === null ? null : classOf(part.slice(at + 1, end - 1));
      if (end === null || set === null) return 'a character class is empty, not closed or runs backwards';
      tokens.push(classes - sets.length);
      sets.push(set);
      at = end - 1;
    } else if (char === '\\') {
      const escaped = part.codePointAt(at + 1);
      if (escaped === undefined) return 'a backslash has nothing behind it';
      tokens.push(escaped);
      at += escaped > 0xffff ? 2 : 1;
    } else {
      const code = part.codePointAt(at) ?? 0;
      tokens.push(code);
      if (code > 0xffff) at += 1;
    }
  }
  return null;
}

/** `text` is what stands between the brackets; null when a range runs backwards. */
function classOf(text: string): CharClass | null {
  const negated = text.startsWith('!') || text.startsWith('^');
  const points: { code: number; escaped: boolean }[] = [];
  let escaped = false;
  for (const char of negated ? text.slice(1) : text) {
    if (char === '\\' && !escaped) {
      escaped = true;
      continue;
    }
    points.push({ code: char.codePointAt(0) ?? 0, escaped });
    escaped = false;
  }
  const ranges: [number, number][] = [];
  for (let index = 0; index < points.length; index += 1) {
    const low = points[index];
    const dash = points[index + 1];
    const high = points[index + 2];
    if (low === undefined) break;
    if (dash !== undefined && high !== undefined && dash.code === 0x2d && !dash.escaped) {
      if (low.code > high.code) return null;
      ranges.push([low.code, high.code]);
      index += 2;
    } else {
      ranges.push([low.code, low.code]);
    }
  }
  return { negated, ranges };
}
