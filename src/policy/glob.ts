import { once } from '../text/once.ts';
import { expandBraces } from './braces.ts';
import {
  across,
  type CharClass,
  classes,
  compileSegments,
  foldProgram,
  one,
  type Program,
  run,
  segments,
  slash,
  sound,
} from './glob-program.ts';
import { unexpanded } from './unexpanded.ts';

/** Globs of 02 §7.2: compiled to a small automaton, matched in time linear in pattern times path. */

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
  const elsewhere = expanded.map(unexpanded).find((why) => why !== null);
  if (elsewhere !== undefined) return failed(elsewhere);
  // Only a class or an escape can be wrong, so such patterns are read now; all others wait for the first path.
  const read = /[[\\]/.test(pattern) ? compileAlternatives(expanded) : null;
  if (typeof read === 'string') return failed(read);
  return { ok: true, glob: { source, alternatives: once(() => read ?? sound(compileAlternatives(expanded))) } };
}

/** As `compileGlob`, for the operand of a rule: one that is hardly what its author means is refused. */
export function compileOperand(source: string): GlobResult {
  const compiled = compileGlob(source);
  const inert = compiled.ok ? inertPlace(source) : null;
  return inert === null ? compiled : failed(inert);
}

/** Why a place is hardly what its author means, or null: as a file's name a rule about it would guard nothing (02 §3). */
function inertPlace(source: string): string | null {
  if (source !== source.trim()) return 'a glob has no blanks at its ends';
  if (/^file:/i.test(source)) return 'a glob is a path, not an address: leave file: out';
  const places = expandBraces(source);
  const isList = (place: string): boolean => /,\s*(?:\*\*|~)\/|,\s+\//.test(place);
  return typeof places !== 'string' && places.some(isList)
    ? 'a glob is one place: write {a,b}, or a rule for each'
    : null;
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
  const { tokens, classes: sets } = program.automaton();
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
        else if (token === one || inClass(sets[classes - token], code, fold)) enter(next, state + 1, at);
      }
    }
    if (next.length === 0) return false;
    [active, next] = [next, active];
  }
  return entered[size] === at;
}

function inClass(set: CharClass | undefined, code: number, fold: boolean): boolean {
  if (set === undefined) return false;
  const holds = (point: number): boolean => set.ranges.some(([low, high]) => low <= point && point <= high);
  const upper = fold ? (String.fromCodePoint(code).toUpperCase().codePointAt(0) ?? code) : code;
  return (holds(code) || holds(upper)) !== set.negated;
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
  return pattern.startsWith('~/') ? 'home' : 'workspace';
}
