import type { TrustedStart } from '../src/schema/policy.ts';

/** A piece of a line: blanks, an operator, one of the redirects that a granted line may have (02 §9.4), or a word. */
const piece =
  /([ \t]+)|(&&|\|\|?)|([0-9]?[<>](?:&[0-9]|[ \t]*(?:\/dev\/null|'\/dev\/null')))|((?:'[^']*'|\\.|[^\s'\\&|<>])+)/gy;

/**
 * The rebuilt line of a granted call (02 §9.5) with other files in the place of its programs.
 * @param place names the file to start for a program as it is written; null when that is not what was judged
 * @returns null when its programs are not, one for one, those that were judged
 */
export function rebuiltWith(
  line: string,
  starts: readonly TrustedStart[],
  place: (start: TrustedStart, written: string) => string | null,
): string | null {
  let result = '';
  let command = 0;
  let atStart = true;
  let end = 0;
  for (const match of line.matchAll(piece)) {
    const [text, , operator, , word] = match;
    end += text.length;
    if (operator !== undefined) atStart = true;
    if (!atStart || word === undefined || /^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) {
      result += text;
      continue;
    }
    const start = starts[command];
    const file = start === undefined ? null : place(start, unquoted(word));
    if (start === undefined || file === null) return null;
    result += [file, ...start.before].map(quoted).join(' ');
    command += 1;
    atStart = false;
  }
  return end === line.length && command === starts.length ? result : null;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What a word of single quotes and escaped characters stands for. */
const unquoted = (word: string): string => word.replace(/'([^']*)'|\\(.)/g, (_, inside, escaped) => inside ?? escaped);
