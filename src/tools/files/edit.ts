import { fail, type ToolFailure } from '../failure.ts';
import { nearNames } from '../near.ts';
import { countLines } from './text.ts';

export type Edited = { readonly ok: true; readonly text: string; readonly replacements: number };

export type Replacement = {
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

/** Replaces literal text. Matches do not overlap and are found from the beginning. Pure. */
export function replaceText(text: string, change: Replacement, given: string): Edited | ToolFailure {
  const matches = findMatches(text, change);
  const fault = countFault(text, matches, change, given);
  if (fault !== null) return fault;
  const parts: string[] = [];
  let at = 0;
  for (const match of matches) {
    parts.push(text.slice(at, match.at), change.put);
    at = match.at + change.find.length;
  }
  parts.push(text.slice(at));
  return { ok: true, text: parts.join(''), replacements: matches.length };
}

type Match = { readonly at: number; readonly line: number };

function findMatches(text: string, { find, from, to }: Replacement): readonly Match[] {
  const matches: Match[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(find); at >= 0; ) {
    for (let feed = text.indexOf('\n', counted); feed >= 0 && feed < at; feed = text.indexOf('\n', counted)) {
      line += 1;
      counted = feed + 1;
    }
    if (line > to) break;
    const inRange = line >= from;
    if (inRange) matches.push({ at, line });
    // A match that does not count must not hide one that begins inside it.
    at = text.indexOf(find, at + (inRange ? find.length : 1));
  }
  return matches;
}

function countFault(text: string, matches: readonly Match[], change: Replacement, given: string): ToolFailure | null {
  const { wanted } = change;
  const count = matches.length;
  const lines = matches.slice(0, maxLineNumbers).map((match) => match.line);
  if (count === 0) return noMatch(text, change, given);
  if (wanted === 'one' && count > 1) {
    return fail(
      'not_unique',
      `The text occurs ${count} times in "${given}", on the lines ${lines.join(', ')}. Give more of what surrounds it, or replace all.`,
      { count, lines },
    );
  }
  if (typeof wanted === 'number' && count !== wanted) {
    return fail('wrong_count', `The text occurs ${count} times in "${given}", not ${wanted} times.`, { count, lines });
  }
  return null;
}

function noMatch(text: string, change: Replacement, given: string): ToolFailure {
  const similar = similarLines(text, change.find);
  const where = change.from > 1 || change.to < countLines(text) ? ' in that range of lines' : '';
  const near = similar.map(({ line, text: shown }) => `line ${line}: ${shown}`).join('; ');
  const hint = near === '' ? 'Read the file again and copy the text exactly.' : `Similar: ${near}.`;
  return fail('no_match', `The text does not occur in "${given}"${where}. ${hint}`, {
    lines: similar.map(({ line }) => line),
  });
}

/** Lines that resemble the first line with text of what was looked for. */
function similarLines(text: string, find: string): readonly { readonly line: number; readonly text: string }[] {
  const wanted = find.split('\n').find((line) => line.trim() !== '');
  if (wanted === undefined) return [];
  const numbers = new Map<string, number>();
  for (const [index, line] of text.split('\n', maxCompared).entries()) {
    const key = line.trim().slice(0, 100);
    if (key !== '' && !numbers.has(key)) numbers.set(key, index + 1);
  }
  return nearNames(wanted.trim(), numbers.keys(), maxSimilar).map((key) => ({
    line: numbers.get(key) ?? 0,
    text: key,
  }));
}
