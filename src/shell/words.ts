import type { CommandWord } from '../schema/command.ts';
import { baseName } from './programs.ts';
import type { Piece, ScriptWord, Step } from './script.ts';

/** What a name stands for: every literal that the line has given it so far, the latest last. */
export type Variable = {
  readonly values: readonly string[];
  /** It has one of them, and nothing else. */
  readonly certain: boolean;
};
export type Variables = ReadonlyMap<string, Variable>;

/** Most words that braces and that a value stand for, and longest text that is put together. */
const maxExpanded = 64;
const maxSplit = 1024;
const maxLength = 65_536;

/** Stands for the home directory in the `path` of a word: no command text holds it. */
export const homeMark = '\0';

export const literalWord = (text: string): CommandWord => ({ text, path: text, open: false });

/**
 * The words that a word becomes: usually one; more for braces, and for a variable that stands alone. What is not known
 * stays as it is written, and makes the word open.
 * @param choice which of several values a variable has; beyond their number the latest
 */
export function expandWord(word: ScriptWord, variables: Variables, choice: number): readonly CommandWord[] {
  const [only] = word;
  // Nearly every word.
  if (word.length === 1 && only?.kind === 'text' && only.value.length <= maxLength) return [literalWord(only.value)];
  let heads: CommandWord[] = [{ text: '', path: '', open: false }];
  if (word.length === 1 && only !== undefined && (only.kind === 'variable' || only.kind === 'output') && !only.quoted) {
    const known = knownValue(only, variables, choice);
    // Unquoted, the shell splits what it puts in.
    if (known !== null) {
      const texts = known.value.split(/[ \t\n]+/, maxSplit + 1);
      if (texts.length > maxSplit) return [openWord(word)];
      return texts.flatMap((text) => (text === '' ? [] : [marked(text, known.certain)]));
    }
  }
  for (const piece of word) {
    const tails = expandPiece(piece, variables, choice);
    if (heads.length * tails.length > maxExpanded) return [openWord(word)];
    heads = heads.flatMap((head) => tails.map((tail) => joined(head, tail)));
    if ((heads[0]?.text.length ?? 0) > maxLength) return [openWord(word)];
  }
  // Of braces alone an empty choice is no word: `{,rm} x` is `rm x`.
  return word.every(({ kind }) => kind === 'brace') ? heads.filter(({ text }) => text !== '') : heads;
}

/** Most values that a variable of these words has: so many readings of the command there are. */
export function choicesOf(words: readonly ScriptWord[], variables: Variables): number {
  let most = 1;
  for (const word of words) {
    for (const piece of word) {
      if (piece.kind === 'variable') most = Math.max(most, variables.get(piece.name)?.values.length ?? 1);
    }
  }
  return most;
}

const joined = (left: CommandWord, right: CommandWord): CommandWord => ({
  text: left.text + right.text,
  path: left.path + right.path,
  open: left.open || right.open,
});

const openWord = (word: ScriptWord): CommandWord => {
  const text = word.map((piece) => (piece.kind === 'text' ? piece.value : piece.kind === 'home' ? '~' : piece.text));
  return { text: text.join(''), path: text.join(''), open: true };
};

/** A value that was itself written with a leading tilde or `$HOME` has been marked already. */
const marked = (text: string, certain: boolean): CommandWord => ({
  text: text.replaceAll(homeMark, '~'),
  path: text,
  open: !certain,
});

function expandPiece(piece: Piece, variables: Variables, choice: number): readonly CommandWord[] {
  switch (piece.kind) {
    case 'text':
      return [literalWord(piece.value)];
    case 'home':
      return [{ text: '~', path: homeMark, open: false }];
    case 'open':
      return [{ text: piece.text, path: piece.text, open: true }];
    case 'brace':
      return braces(piece.text).map((text) =>
        text === piece.text ? { text, path: text, open: true } : literalWord(text),
      );
    case 'variable':
    case 'output': {
      const known = knownValue(piece, variables, choice);
      if (known !== null) return [marked(known.value, known.certain)];
      if (piece.kind === 'variable' && piece.name === 'HOME')
        return [{ text: piece.text, path: homeMark, open: false }];
      // Where the line begins, or has been: the directories of its commands hold both.
      const here = piece.kind === 'variable' && (piece.name === 'PWD' || piece.name === 'OLDPWD');
      return [{ text: piece.text, path: here ? '.' : piece.text, open: true }];
    }
  }
}

function knownValue(
  piece: Extract<Piece, { kind: 'variable' | 'output' }>,
  variables: Variables,
  choice: number,
): { readonly value: string; readonly certain: boolean } | null {
  if (piece.kind === 'output') {
    const value = printedBy(piece.steps, variables);
    return value === null ? null : { value, certain: true };
  }
  const { values = [], certain = false } = variables.get(piece.name) ?? {};
  const value = values[Math.min(choice, values.length - 1)];
  // Without quotes the shell looks for files behind a pattern in it.
  return value === undefined ? null : { value, certain: certain && (piece.quoted || !/[*?[]/.test(value)) };
}

/** What a substitution of one `echo` or `printf` of literals prints, without the line breaks at its end. */
function printedBy(steps: readonly Step[], variables: Variables): string | null {
  const [step] = steps;
  if (steps.length !== 1 || step?.kind !== 'command') return null;
  const words = step.words.flatMap((word) => expandWord(word, variables, Number.POSITIVE_INFINITY));
  if (words.some((word) => word.open)) return null;
  return printed(words)[0]?.replace(/\n+$/, '') ?? null;
}

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
  } while (waiting.length > 0 && waiting.length < values.length && parts.length < maxExpanded);
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

/** Octal, hex and letter escapes, of `echo`, `printf` and their builtins in every shell. */
function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  const escapes = /\\(?:0?([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|(.))/gs;
  return text.replace(escapes, (all, octal?: string, hex?: string, unicode?: string, letter?: string) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    return letters[letter ?? ''] ?? all;
  });
}

/** What a brace expansion of literals stands for; the text itself when it is none that can be read. */
function braces(text: string): readonly string[] {
  if (!text.startsWith('{') || !text.endsWith('}') || /["'`$\\]/.test(text)) return [text];
  const parts: string[] = [];
  let depth = 0;
  let from = 1;
  for (let at = 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '{') depth += 1;
    else if (char === '}' && depth > 0) depth -= 1;
    else if ((char === ',' || char === '}') && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (parts.length < 2 || parts.length > maxExpanded) return [text];
  return parts.flatMap((part) => (part.startsWith('{') ? braces(part) : [part]));
}
