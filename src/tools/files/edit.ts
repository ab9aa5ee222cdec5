import { findAll } from '../../text/find-all.ts';
import { fail, type ToolFailure } from '../failure.ts';
import { nearNames } from '../near.ts';
import { writeTooLarge } from './limits.ts';
import { type NearMatch, nearMatch } from './near-match.ts';
import { countLines } from './text.ts';

export type Edited = { readonly ok: true; readonly text: string; readonly replacements: number };

/** What a tool calls its own arguments, for messages that say what to do. */
export type Wording = {
  /** How to have every match replaced. */
  readonly all: string;
  /** What may be said of a text that is found nowhere. */
  readonly absent?: (find: string) => string | null;
};

export type Replacement = {
  readonly wording: Wording;
  readonly find: string;
  readonly put: string;
  /** How many matches are meant: exactly one, all there are, or this many. */
  readonly wanted: 'one' | 'all' | number;
  /** Lines, counted from 1, in which a match may begin. */
  readonly from: number;
  readonly to: number;
};

const maxLineNumbers = 10;
const maxSimilar = 3;
const maxCompared = 20_000;
/** A shorter text may stand in a file by chance. */
const leastTelling = 10;
/** Steps of comparing lines; more would hold up everything else. */
const maxCompareSteps = 2 ** 26;

/**
 * Replaces literal text. Matches do not overlap and are found from the beginning. Pure.
 * @param max bytes that the result may have; one that is sure to be longer is not made
 */
export function replaceText(text: string, change: Replacement, given: string, max: number): Edited | ToolFailure {
  const matches = findMatches(text, change);
  const fault = countFault(text, matches, change, given) ?? lengthFault(text, matches.length, change, given, max);
  if (fault !== null) return fault;
  const parts: string[] = [];
  let at = 0;
  for (const match of matches) {
    parts.push(text.slice(at, match), change.put);
    at = match + change.find.length;
  }
  parts.push(text.slice(at));
  return { ok: true, text: parts.join(''), replacements: matches.length };
}

/** A long text in many places may be more than a string can hold. */
function lengthFault(
  text: string,
  count: number,
  { find, put }: Replacement,
  given: string,
  max: number,
): ToolFailure | null {
  // No character has fewer bytes than code units.
  if (text.length + count * (put.length - find.length) <= max) return null;
  const bytes = Buffer.byteLength(text) + count * (Buffer.byteLength(put) - Buffer.byteLength(find));
  return writeTooLarge(given, bytes, max);
}

/** Where the matches begin that begin in one of the lines. */
function findMatches(text: string, { find, from, to }: Replacement): readonly number[] {
  const start = lineStart(text, from, 1, 0);
  const end = Number.isFinite(to) ? lineStart(text, to + 1, from, start) : text.length;
  return findAll(text, find, start, end);
}

/** Where a line begins, counted from another one that begins at `at`; the end of the text if there is none. */
function lineStart(text: string, line: number, known: number, at: number): number {
  let start = at;
  for (let number = known; number < line; number += 1) {
    const feed = text.indexOf('\n', start);
    if (feed < 0) return text.length;
    start = feed + 1;
  }
  return start;
}

function countFault(text: string, matches: readonly number[], change: Replacement, given: string): ToolFailure | null {
  const { wanted } = change;
  const count = matches.length;
  if (count === 0) return noMatch(text, change, given);
  if (wanted === 'one' && count > 1) {
    const lines = linesOf(text, matches);
    return fail(
      'not_unique',
      `The text occurs ${count} times in "${given}", ${count > lines.length ? 'first ' : ''}on the lines ${lines.join(', ')}. Give more of what surrounds it, or ${change.wording.all}.`,
      { count, lines },
    );
  }
  if (typeof wanted === 'number' && count !== wanted) {
    const lines = linesOf(text, matches);
    const found = `${count === 1 ? 'once' : `${count} times`} in "${given}"`;
    return fail('wrong_count', `The text occurs ${found}, not ${wanted === 1 ? 'once' : `${wanted} times`}.`, {
      count,
      lines,
    });
  }
  return null;
}

/** The lines of the first matches. */
function linesOf(text: string, matches: readonly number[]): readonly number[] {
  const lines: number[] = [];
  let line = 1;
  let next = lineStart(text, 2, 1, 0);
  for (const match of matches.slice(0, maxLineNumbers)) {
    while (next <= match && next < text.length) {
      line += 1;
      next = lineStart(text, 2, 1, next);
    }
    lines.push(line);
  }
  return lines;
}

function noMatch(text: string, change: Replacement, given: string): ToolFailure {
  const where = change.from > 1 || change.to < countLines(text) ? ' in that range of lines' : '';
  const known = whyAbsent(text, change, where !== '');
  const absent = change.wording.absent?.(change.find) ?? null;
  if (known !== null || absent !== null) {
    const said = [known?.said ?? null, absent].filter((each) => each !== null).join(' ');
    return fail('no_match', `The text does not occur in "${given}"${where}. ${said}`, { lines: known?.lines ?? [] });
  }
  const similar = similarLines(text, change.find);
  const near = similar.map(({ line, text: shown }) => `line ${line}: ${shown}`).join('; ');
  const hint = near === '' ? 'Read the file again and copy the text exactly.' : `Similar: ${near}.`;
  return fail('no_match', `The text does not occur in "${given}"${where}. ${hint}`, {
    lines: similar.map(({ line }) => line),
  });
}

const namesOf = (lines: readonly number[]): string =>
  `${lines.length === 1 ? 'line' : 'the lines'} ${lines.join(', ')}`;

/** What is certain of a text that does not occur: it stands elsewhere, was replaced before, or differs in so much. */
function whyAbsent(text: string, { find, put }: Replacement, isRange: boolean): NearMatch | null {
  const elsewhere = isRange ? linesOf(text, findAll(text, find, 0, text.length)) : [];
  if (elsewhere.length > 0) return { lines: elsewhere, said: `It occurs on ${namesOf(elsewhere)}.` };
  const made = put.trim().length < leastTelling || put.includes(find) ? [] : findAll(text, put, 0, text.length);
  if (made.length === 1) {
    const lines = linesOf(text, made);
    return {
      lines,
      said: `The new text is there already, on ${namesOf(lines)}: this change seems to have been made.`,
    };
  }
  return nearMatch(text, find);
}

/** Lines that resemble the first line with text of what was looked for. */
function similarLines(text: string, find: string): readonly { readonly line: number; readonly text: string }[] {
  const wanted = find.split('\n').find((line) => line.trim() !== '');
  if (wanted === undefined) return [];
  const numbers = new Map<string, number>();
  let steps = 0;
  for (const [index, line] of text.split('\n', maxCompared).entries()) {
    const key = line.trim().slice(0, 100);
    if (key === '' || numbers.has(key)) continue;
    steps += key.length * Math.min(wanted.length, 100);
    if (steps > maxCompareSteps) break;
    numbers.set(key, index + 1);
  }
  return nearNames(wanted.trim(), numbers.keys(), maxSimilar).map((key) => ({
    line: numbers.get(key) ?? 0,
    text: key,
  }));
}
