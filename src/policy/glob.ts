import { classEnd, expandBraces } from './braces.ts';

/** Globs of 02 §7.2: compiled to a small automaton, matched in time linear in pattern times path. */

/** Tokens below 0; everything else is a code point. A class is `classes - index`. */
const one = -1;
const run = -2;
const across = -3;
/** An optional `/`, followed by an `across` that counts only behind it: zero or more whole segments. */
const segments = -4;
const classes = -5;

type CharClass = { readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

type Program = {
  readonly tokens: Int32Array;
  readonly classes: readonly CharClass[];
  /** The longest text that every match holds: looked for before the automaton runs. */
  readonly literal: string;
  /** True when nothing but that text matches. */
  readonly exact: boolean;
  /** The UTF-16 unit that every match ends with: the cheapest question of all. -1 when it may be any. */
  readonly last: number;
};

type Alternative = {
  readonly anchor: 'root' | 'workspace' | 'home';
  /** Leading `..` segments: that many directories above the anchor. */
  readonly up: number;
  readonly plain: Program;
  /** For hosts that fold case; made when first needed. */
  folded: Program | null;
};

export type Glob = {
  readonly source: string;
  /** What its braces stand for; made when the first path is matched. */
  alternatives(): readonly Alternative[];
};

export type GlobResult = { readonly ok: true; readonly glob: Glob } | { readonly ok: false; readonly message: string };

/** Where anchored patterns begin; comparable absolute paths (`policy/paths.ts`). */
export type GlobPlaces = {
  /** The workspace root as given and as resolved. */
  readonly workspaces: readonly string[];
  readonly home: string;
  /** Whether the compared texts are case-folded. */
  readonly fold: boolean;
};

/** Counts what a match costs, for tests of the bound. */
export type StepCounter = { steps: number };

/** Compiles a glob; a grammar error comes back as a message. Never throws. */
export function compileGlob(source: string): GlobResult {
  if (source === '') return failed('a glob must not be empty');
  if (source.includes('\0')) return failed('a glob must not hold U+0000');
  const pattern = source.normalize('NFC');
  const expanded = expandBraces(pattern);
  if (typeof expanded === 'string') return failed(expanded);
  // Only a class or an escape can be wrong in a pattern; any other waits until it is needed.
  const eager = /[[\\]/.test(pattern) ? compileAlternatives(expanded) : null;
  if (typeof eager === 'string') return failed(eager);
  let known = eager;
  const alternatives = (): readonly Alternative[] => {
    if (known !== null) return known;
    const compiled = compileAlternatives(expanded);
    if (typeof compiled === 'string') throw new Error(compiled);
    known = compiled;
    return compiled;
  };
  return { ok: true, glob: { source, alternatives } };
}

const failed = (message: string): GlobResult => ({ ok: false, message });

/** Whether a comparable absolute path matches. Linear in pattern times path. */
export function matchGlob(glob: Glob, path: string, places: GlobPlaces, counter?: StepCounter): boolean {
  for (const alternative of glob.alternatives()) {
    if (alternative.anchor === 'root') {
      if (matches(alternative, subjectOf(path), places.fold, counter)) return true;
      continue;
    }
    for (const base of alternative.anchor === 'home' ? [places.home] : places.workspaces) {
      const rest = below(path, above(base, alternative.up));
      if (rest !== null && matches(alternative, rest, places.fold, counter)) return true;
    }
  }
  return false;
}

/** The path with one slash in front of every segment; the root is empty. */
const subjectOf = (path: string): string => (path === '/' ? '' : path.startsWith('/') ? path : `/${path}`);

/** What remains of a path under a directory, with its leading slash; empty for the directory itself; null outside. */
export function below(path: string, directory: string): string | null {
  if (path === directory) return '';
  const prefix = directory.endsWith('/') ? directory.slice(0, -1) : directory;
  return path.startsWith(prefix) && path.charAt(prefix.length) === '/' ? path.slice(prefix.length) : null;
}

function above(directory: string, levels: number): string {
  let at = directory;
  for (let level = 0; level < levels; level += 1) at = at.slice(0, Math.max(at.lastIndexOf('/'), 0));
  return at === '' ? '/' : at;
}

function matches(alternative: Alternative, subject: string, fold: boolean, counter?: StepCounter): boolean {
  if (fold) alternative.folded ??= foldProgram(alternative.plain);
  const program = fold && alternative.folded !== null ? alternative.folded : alternative.plain;
  if (program.exact) return subject === program.literal;
  if (program.last !== -1 && subject.charCodeAt(subject.length - 1) !== program.last) return false;
  return subject.includes(program.literal) && simulate(program, subject, fold, counter);
}

/** All states at once, one character at a time: no state is entered twice for one character. */
function simulate(program: Program, subject: string, fold: boolean, counter?: StepCounter): boolean {
  const { tokens } = program;
  const size = tokens.length;
  const entered = new Int32Array(size + 1).fill(-1);
  let active: number[] = [];
  let next: number[] = [];
  const enter = (list: number[], state: number, at: number): void => {
    for (let index = state; entered[index] !== at; ) {
      entered[index] = at;
      list.push(index);
      const token = tokens[index];
      if (token === run || token === across) index += 1;
      else if (token === segments) index += 2;
      else return;
    }
  };
  enter(active, 0, 0);
  let at = 0;
  for (const char of subject) {
    at += 1;
    const code = char.codePointAt(0) ?? 0;
    next.length = 0;
    for (const state of active) {
      if (counter !== undefined) counter.steps += 1;
      const token = tokens[state];
      if (token === undefined) continue;
      if (token === across) enter(next, state, at);
      else if (token === segments || token >= 0) {
        if (code === (token === segments ? slash : token)) enter(next, state + 1, at);
      } else if (code !== slash) {
        if (token === run) enter(next, state, at);
        else if (token === one || inClass(program.classes[classes - token], code, fold)) enter(next, state + 1, at);
      }
    }
    if (next.length === 0) return false;
    [active, next] = [next, active];
  }
  return entered[size] === at;
}

const slash = 0x2f;

function inClass(set: CharClass | undefined, code: number, fold: boolean): boolean {
  if (set === undefined) return false;
  const holds = (point: number): boolean => set.ranges.some(([low, high]) => low <= point && point <= high);
  const upper = fold ? (String.fromCodePoint(code).toUpperCase().codePointAt(0) ?? code) : code;
  return (holds(code) || holds(upper)) !== set.negated;
}

/** Text as a file system without case compares it. */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

function foldProgram(program: Program): Program {
  const tokens = [...program.tokens].flatMap((token) =>
    token < 0 ? [token] : Array.from(foldCase(String.fromCodePoint(token)), (char) => char.codePointAt(0) ?? 0),
  );
  return {
    tokens: Int32Array.from(tokens),
    classes: program.classes,
    literal: foldCase(program.literal),
    exact: program.exact,
    last: lastOf(tokens),
  };
}

const drive = /^[A-Za-z]:(\/|$)/;

function compileAlternatives(patterns: readonly string[]): readonly Alternative[] | string {
  const alternatives: Alternative[] = [];
  for (const pattern of patterns) {
    const alternative = compileAlternative(pattern);
    if (typeof alternative === 'string') return alternative;
    alternatives.push(alternative);
  }
  return alternatives;
}

function compileAlternative(pattern: string): Alternative | string {
  const anchor = anchorOf(pattern);
  const parts: string[] = [];
  let up = 0;
  for (const part of (anchor === 'home' ? pattern.slice(1) : pattern).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0) parts.pop();
    else if (anchor !== 'root') up += 1;
  }
  const program = compileSegments(parts);
  return typeof program === 'string' ? program : { anchor, up, plain: program, folded: null };
}

function anchorOf(pattern: string): Alternative['anchor'] {
  if (pattern.startsWith('/') || pattern.startsWith('**') || drive.test(pattern)) return 'root';
  return pattern === '~' || pattern.startsWith('~/') ? 'home' : 'workspace';
}

function compileSegments(parts: readonly string[]): Program | string {
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
  return { tokens: Int32Array.from(tokens), classes: sets, ...literalOf(tokens), last: lastOf(tokens) };
}

function compileSegment(part: string, tokens: number[], sets: CharClass[]): string | null {
  for (let at = 0; at < part.length; at += 1) {
    const code = part.codePointAt(at) ?? 0;
    const char = String.fromCodePoint(code);
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

/** The longest run of tokens that are characters. */
function literalOf(tokens: readonly number[]): { literal: string; exact: boolean } {
  let [from, to] = [0, 0];
  for (let at = 0; at < tokens.length; at += 1) {
    const begin = at;
    while ((tokens[at] ?? -1) >= 0) at += 1;
    if (at - begin > to - from) [from, to] = [begin, at];
  }
  let literal = '';
  for (let at = from; at < to; at += 1) literal += String.fromCodePoint(tokens[at] ?? 0);
  return { literal, exact: to - from === tokens.length };
}

/** A character beyond the first plane is two units, and is left to the automaton. */
function lastOf(tokens: readonly number[]): number {
  const token = tokens.at(-1) ?? -1;
  return token >= 0 && token <= 0xffff ? token : -1;
}
