/** What a script of `sed` has a shell run. */
export type SedRuns = {
  /** Lines that it spells out: behind the command `e`, and what `s/../../e` puts in. */
  readonly lines: readonly string[];
  /** It runs what it has read, or puts what it spells out into that. */
  readonly readsThem: boolean;
};

/** Commands up to the end of their line: a text, a file, a comment. */
const wholeLine = /[aicrRwW#]/y;
const between = /[0-9$,~+!\s;{}]+/y;
/** Of one letter, with what may stand behind it up to the next command. */
const plain = /[dDgGhHnNpPxzF=]|[lLqQ][ \t]*[0-9]*|[:btTv][^;\n}]*/y;
const flags = /[gpiImM0-9]*/y;

/**
 * Reads a script of `sed` as far as is needed to tell its commands from the texts in them: `s/we are/e rm x/` runs nothing.
 * Null for one that is not understood. Linear; never throws.
 */
export function readSed(script: string): SedRuns | null {
  const whole = readWith(script, true);
  // In some versions a delimiter in brackets ends the pattern.
  const other = script.includes('[') ? readWith(script, false) : null;
  if (whole === null || other === null) return whole ?? other;
  return {
    lines: [...new Set([...whole.lines, ...other.lines])],
    readsThem: whole.readsThem || other.readsThem,
  };
}

function readWith(script: string, brackets: boolean): SedRuns | null {
  const lines: string[] = [];
  let readsThem = false;
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const length = pattern.exec(script)?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  const restOfLine = (): string => {
    const from = at;
    while (at < script.length && script.charAt(at) !== '\n') at += script.charAt(at) === '\\' ? 2 : 1;
    return script.slice(from, at);
  };
  /** What stands before the next delimiter; null where there is none. */
  const upTo = (delimiter: string, pattern: boolean): string | null => {
    const from = at;
    for (; at < script.length; at += 1) {
      const char = script.charAt(at);
      if (char === '\\') at += 1;
      else if (char === delimiter) {
        at += 1;
        return script.slice(from, at - 1);
      } else if (char === '[' && pattern && brackets) {
        const end = script.indexOf(']', at + (/\[\^?\]/y.test(script.slice(at, at + 3)) ? 3 : 1));
        if (end !== -1) at = end;
      }
    }
    return null;
  };
  const substitution = (): boolean => {
    const delimiter = script.charAt(at);
    at += 1;
    const replacement = upTo(delimiter, true) === null ? null : upTo(delimiter, false);
    if (delimiter === '' || replacement === null) return false;
    let runs = false;
    for (take(flags); script.charAt(at) === 'e'; take(flags)) {
      runs = true;
      at += 1;
    }
    if (script.charAt(at) === 'w') restOfLine();
    if (runs) {
      readsThem = true;
      lines.push(spelledOut(replacement, delimiter));
    }
    return true;
  };
  while (at < script.length) {
    if (take(between)) continue;
    const char = script.charAt(at);
    at += 1;
    if (char === '/' || char === '\\') {
      const delimiter = char === '/' ? char : script.charAt(at);
      if (char === '\\') at += 1;
      if (upTo(delimiter, true) === null) return null;
      take(/[IM]*/y);
    } else if (char === 's') {
      if (!substitution()) return null;
    } else if (char === 'y') {
      const delimiter = script.charAt(at);
      at += 1;
      if (upTo(delimiter, false) === null || upTo(delimiter, false) === null) return null;
    } else if (char === 'e') {
      const line = restOfLine().trim();
      if (line === '') readsThem = true;
      else lines.push(line);
    } else {
      at -= 1;
      if (take(wholeLine)) restOfLine();
      else if (!take(plain)) return null;
    }
  }
  return { lines, readsThem };
}

/** A replacement as a line: `\n` breaks it, numbers are characters, and what has been matched is not known. */
const spelledOut = (replacement: string, delimiter: string): string =>
  replacement.replace(
    /\\(?:x([0-9A-Fa-f]{1,2})|o([0-7]{1,3})|d([0-9]{1,3})|(.))|&/gs,
    (all, hex?: string, octal?: string, decimal?: string, escaped = '') => {
      const code = hex ?? octal ?? decimal;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, hex ? 16 : octal ? 8 : 10));
      if (escaped === 'n') return '\n';
      if (all === '&' || /[0-9]/.test(escaped)) return '$_';
      if (/[LUElu]/.test(escaped)) return '';
      return escaped === delimiter || escaped === '&' ? escaped : all;
    },
  );
