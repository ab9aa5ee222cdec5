import type { CommandWord } from '../schema/command.ts';
import { baseName } from './programs.ts';

/** Most times that `printf` takes its format for the values behind it. */
const maxParts = 64;

/**
 * The texts that `echo` or `printf` may write: with escapes decoded, and as they are where shells differ; with what is not
 * known as it stands in the line, and without it. None for another program.
 */
export function printed(words: readonly CommandWord[]): readonly string[] {
  const known = words.filter((word) => !word.open);
  return [...new Set([words, known].flatMap((some) => printedWords(some.map((word) => word.text))))];
}

function printedWords([program = '', ...rest]: readonly string[]): readonly string[] {
  const name = baseName(program);
  if (name === 'echo') {
    const options = rest.findIndex((word) => !/^-[neE]+$/.test(word));
    const from = options === -1 ? rest.length : options;
    const text = rest.slice(from).join(' ');
    const ends = rest.slice(0, from).some((word) => word.includes('n')) ? ['', '\n'] : ['\n'];
    return [...new Set(ends.flatMap((end) => [`${decodeEscapes(text)}${end}`, `${text}${end}`]))];
  }
  if (name !== 'printf') return [];
  const [format = '', ...values] = rest[0] === '--' ? rest.slice(1) : rest;
  const parts: string[] = [];
  const waiting = [...values];
  do {
    parts.push(decodeEscapes(format).replace(conversion, (...found) => converted(found, waiting)));
  } while (waiting.length > 0 && waiting.length < values.length && parts.length < maxParts);
  return [parts.join('')];
}

/** A conversion of `printf`: its width, its precision and its letter. */
const conversion = /%(?:%|[-0#+ ']*(\*|[0-9]*)(?:\.(\*|[0-9]*))?([a-zA-Z]))/g;

/** What a conversion makes of the values that it takes. */
function converted(found: readonly unknown[], waiting: string[]): string {
  const [, width, precision, letter] = found;
  if (typeof letter !== 'string') return '%';
  if (width === '*') waiting.shift();
  const most = precision === '*' ? waiting.shift() : precision;
  const value = waiting.shift() ?? '';
  if (letter === 'c') return value.slice(0, 1);
  const radix = { o: 8, x: 16, X: 16 }[letter];
  if (radix !== undefined) {
    const digits = (/^['"]/.test(value) ? (value.codePointAt(1) ?? 0) : Number(value)).toString(radix);
    return letter === 'X' ? digits.toUpperCase() : digits;
  }
  const text = letter === 'b' ? decodeEscapes(value) : value;
  return typeof most === 'string' ? text.slice(0, Number(most)) : text;
}

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

/** Octal, hex and letter escapes, of `echo`, `printf` and their builtins in every shell, and of texts in code. */
export function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  const escapes = /\\(?:0?([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|(.))/gs;
  return text.replace(escapes, (all, octal?: string, hex?: string, unicode?: string, letter?: string) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    return letters[letter ?? ''] ?? all;
  });
}
