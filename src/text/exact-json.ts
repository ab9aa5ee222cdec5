import { isDeeperThan, mostLevels } from './json-depth.ts';

/** An integer of JSON text that a number does not hold exactly, and where it stands. */
type Inexact = { readonly literal: string; readonly at: number };

/**
 * Parses JSON so that no digit is lost: an integer that a number does not hold exactly, such as a long id, becomes its
 * text. @throws SyntaxError as `JSON.parse` does
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const quoted = quoteInexact(text);
  return quoted === text ? value : JSON.parse(quoted);
}

/** Valid JSON text, or a line of it, with each integer that a number does not hold exactly as a string. */
export function quoteInexact(text: string): string {
  let quoted = '';
  let from = 0;
  for (const { literal, at } of inexactIntegers(text)) {
    quoted += `${text.slice(from, at)}"${literal}"`;
    from = at + literal.length;
  }
  return quoted + text.slice(from);
}

/** The same for what is walked afterwards. @throws SyntaxError also for a text that is nested too deep for that */
export function parseShallowJson(text: string): unknown {
  if (isDeeperThan(text, mostLevels)) throw new SyntaxError(`nested deeper than ${mostLevels} levels`);
  return parseExactJson(text);
}

/** Of valid JSON text; mostly there are none, and then nothing is walked. Takes a number of any length. */
export function inexactIntegers(text: string): readonly Inexact[] {
  if (!/\d{16}/.test(text)) return [];
  const found: Inexact[] = [];
  const token = /"|-?\d/g;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const at = match.index;
    if (match[0] === '"') {
      token.lastIndex = stringEnd(text, at) + 1;
      continue;
    }
    const end = numberEnd(text, token.lastIndex);
    token.lastIndex = end;
    if (end - at < 16) continue;
    const literal = text.slice(at, end);
    if (isInteger(literal) && !isExact(literal)) found.push({ literal, at });
  }
  return found;
}

/**
 * How many objects and lists a JSON text holds, or a line of it; counting ends beyond `most`. Parsed, each of them takes
 * many times the two characters that it may be written with.
 */
export function countParts(text: string, most: number): number {
  let parts = 0;
  for (let at = 0; at < text.length && parts <= most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = stringEnd(text, at);
    else if (code === 0x7b || code === 0x5b) parts += 1;
  }
  return parts;
}

/** By hand: an expression is out of stack after some million digits. */
function numberEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && '0123456789.eE+-'.includes(text.charAt(end))) end += 1;
  return end;
}

const isInteger = (literal: string): boolean => !/[.eE+]/.test(literal) && literal.lastIndexOf('-') <= 0;

function isExact(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && BigInt(value) === BigInt(literal);
}

/** Index of the quote that ends the string which begins at `start`. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === 0x5c) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
