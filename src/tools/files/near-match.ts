import { findAll } from '../../text/find-all.ts';
import { lookAlike, withCodes } from '../../text/look-alike.ts';

/** Where a text that does not occur nearly does, and what keeps it from occurring there, as a sentence for a model. */
export type NearMatch = { readonly lines: readonly number[]; readonly said: string };

/** More is not compared: it would hold up everything else. */
const maxLength = 512 * 1024;
const maxWanted = 32 * 1024;
const maxSteps = 2 ** 21;
const maxShown = 160;
/** Of lines that a file has many times, so many count. */
const maxPlaces = 50;

type Norm = (line: string) => string;

/** What two texts may differ in and still be the same to an eye, least first. */
const ladder: readonly (readonly [what: string, norm: Norm])[] = [
  ['', (line) => line],
  ['what stands at the end of a line', (line) => line.trimEnd()],
  ['blanks and tabs', (line) => line.trim().replace(/[ \t]+/g, ' ')],
  ['characters that look alike', lookAlike],
];

/** The lines of the file as they are, and made alike: once for each way of doing so. */
type FileLines = { readonly own: readonly string[]; made(norm: Norm): readonly string[] };

function linesIn(text: string): FileLines {
  const own = text.split('\n');
  const known = new Map<Norm, readonly string[]>();
  return {
    own,
    made(norm) {
      const made = known.get(norm) ?? own.map(norm);
      known.set(norm, made);
      return made;
    },
  };
}

/**
 * Finds the first place that differs from the text only in what models get wrong: blanks, characters that look alike,
 * numbers of lines that were copied, escapes that were written out. Else the place that has most of its lines. Pure.
 */
export function nearMatch(text: string, find: string): NearMatch | null {
  if (text.length > maxLength || find.length > maxWanted || find.trim() === '') return null;
  if (find.endsWith('\n') && !text.endsWith('\n') && text.endsWith(find.slice(0, -1))) {
    return { lines: [], said: 'It would be the end of the file, which has no line end there.' };
  }
  const lines = linesIn(text);
  const wanted = find.split('\n');
  return (
    nearly(lines, wanted) ??
    foreign(lines, withoutNumbers(wanted), 'It has the numbers of lines in it, which the file has not') ??
    foreign(
      lines,
      unescaped(find),
      'It has escapes written out (a backslash and a letter) where the file has the character',
    ) ??
    mostly(lines.own, wanted)
  );
}

/** The same but for one thing: which, and the first line that shows it. */
function nearly(lines: FileLines, wanted: readonly string[]): NearMatch | null {
  for (const [what, norm] of ladder.slice(1)) {
    const at = place(lines, wanted, norm);
    if (at === null) continue;
    const shown = wanted.findIndex((theirs, index) => !fits(lines.own[at + index], theirs, index, wanted.length));
    const said = `${span(at, wanted)} differ${wanted.length === 1 ? 's' : ''} from it only in ${what}: ${pair(lines.own, wanted, at, shown)}.`;
    return { lines: [at + 1], said };
  }
  return null;
}

/** The same once something that the file does not have is taken out of it. */
function foreign(lines: FileLines, wanted: readonly string[] | null, why: string): NearMatch | null {
  if (wanted === null) return null;
  for (const [what, norm] of ladder) {
    const at = place(lines, wanted, norm);
    if (at === null) continue;
    const also = what === '' ? '' : `, but for ${what}`;
    return { lines: [at + 1], said: `${why}; without them it is ${span(at, wanted).toLowerCase()}${also}.` };
  }
  return null;
}

/** The place at which most of its lines stand, and the first one that does not. */
function mostly(lines: readonly string[], wanted: readonly string[]): NearMatch | null {
  const norm = (line: string) => line.trim();
  const keys = wanted.map(norm);
  const telling = keys.filter((key) => key.length > 2);
  if (keys.filter((key) => key !== '').length < 2 || telling.length === 0) return null;
  const places = new Map<string, number[]>();
  const looked = new Set(telling);
  for (const [index, line] of lines.entries()) {
    const key = norm(line);
    if (!looked.has(key)) continue;
    const known = places.get(key) ?? [];
    if (known.length < maxPlaces) places.set(key, [...known, index]);
  }
  const votes = new Map<number, number>();
  for (const [index, key] of keys.entries()) {
    for (const line of places.get(key) ?? []) votes.set(line - index, (votes.get(line - index) ?? 0) + 1);
  }
  const [best] = [...votes].filter(([at]) => at >= 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (best === undefined || best[1] * 2 < telling.length) return null;
  const [at] = best;
  const shown = keys.findIndex((key, index) => !fits(norm(lines[at + index] ?? ''), key, index, keys.length));
  if (shown < 0) return null;
  return { lines: [at + 1], said: `${span(at, wanted)} come nearest: ${pair(lines, wanted, at, shown)}.` };
}

/** The first line at which the text stands, once both are made alike. */
function place(lines: FileLines, wanted: readonly string[], norm: Norm): number | null {
  const made = wanted.map(norm);
  if (made.every((line) => line === '')) return null;
  const own = lines.made(norm);
  const last = own.length - made.length;
  let steps = 0;
  for (let at = 0; at <= last && steps < maxSteps; at += 1) {
    let index = 0;
    while (index < made.length && fits(own[at + index], made[index] ?? '', index, made.length)) index += 1;
    if (index === made.length) return at;
    steps += index + 1;
  }
  return null;
}

/** Whether a line of the file is one of the text, which may begin and end inside a line. */
function fits(mine: string | undefined, theirs: string, index: number, count: number): boolean {
  if (mine === undefined) return false;
  // The engine's own search may take the product of both lengths.
  if (count === 1) return findAll(mine, theirs, 0, mine.length).length > 0;
  if (index === 0) return mine.endsWith(theirs);
  return index === count - 1 ? mine.startsWith(theirs) : mine === theirs;
}

const span = (at: number, { length }: readonly string[]): string =>
  length === 1 ? `Line ${at + 1}` : `Lines ${at + 1} to ${at + length}`;

function pair(lines: readonly string[], wanted: readonly string[], at: number, index: number): string {
  const mine = lines[at + index];
  const theirs = wanted[index] ?? '';
  const there =
    mine === undefined
      ? 'behind the last line the file has nothing'
      : `line ${at + index + 1} of the file is ${quoted(mine)}`;
  return `${there}, and the text has ${quoted(theirs)}`;
}

/** As JSON, with the codes of what an eye takes for something else. */
const quoted = (line: string): string =>
  withCodes(JSON.stringify(line.length > maxShown ? `${line.slice(0, maxShown).toWellFormed()}…` : line));

const numbered = /^\s*\d+(?:\t|: ?|\s*[|→] ?)/;

/** Null where not every line that has something in it begins with a number. */
function withoutNumbers(wanted: readonly string[]): readonly string[] | null {
  const isNumbered = wanted.every((line) => line.trim() === '' || numbered.test(line));
  return isNumbered ? wanted.map((line) => line.replace(numbered, '')) : null;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\' };

function unescaped(find: string): readonly string[] | null {
  const plain = find.replace(/\\([ntr"'\\])/g, (whole, letter: string) => escapes[letter] ?? whole);
  return plain === find ? null : plain.split('\n');
}
