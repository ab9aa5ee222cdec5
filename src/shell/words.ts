import type { CommandWord, Origin, UnknownPart } from '../schema/command.ts';
import { anything, originsOf } from './origins.ts';
import { printed } from './printed.ts';
import { remaining, rests } from './removed.ts';
import type { Piece, Removal, ScriptWord, Step } from './script.ts';

/** What a name stands for: every literal that the line has given it so far, the latest last. */
export type Variable = {
  readonly values: readonly string[];
  /** It has one of them, and nothing else. */
  readonly certain: boolean;
  /** What may have given it a value that the line does not spell out. */
  readonly origins: readonly Origin[];
};
export type Variables = ReadonlyMap<string, Variable>;

/** Which of its values a name has in a reading of a command; one that is not in it has its latest. */
export type Choice = ReadonlyMap<string, number>;
export const latest: Choice = new Map();

/** Most words that braces and that a value stand for, and longest text that is put together. */
const maxExpanded = 64;
const maxSplit = 1024;
const maxLength = 65_536;
/** Most readings of one command whose variables have several values. */
const maxReadings = 64;

/** Stands for the home directory in the `path` of a word: no command text holds it. */
export const homeMark = '\0';

export const literalWord = (text: string): CommandWord => ({ text, path: text, open: false });

/**
 * The words that a word becomes: usually one; more for braces, and for a variable that stands alone. What is not known
 * stays as it is written, and makes the word open. Null where they are more, or longer, than is read.
 */
export function expandWord(word: ScriptWord, variables: Variables, choice: Choice): readonly CommandWord[] | null {
  const [only] = word;
  // Nearly every word.
  if (word.length === 1 && only?.kind === 'text' && only.value.length <= maxLength) return [literalWord(only.value)];
  let heads: CommandWord[] = [{ text: '', path: '', open: false }];
  if (word.length === 1 && only !== undefined && (only.kind === 'variable' || only.kind === 'output') && !only.quoted) {
    const known = knownValue(only, variables, choice);
    // Unquoted, the shell splits what it puts in.
    if (known !== null) {
      const texts = splitAt(known.value, variables);
      if (texts.length > maxSplit) return null;
      const words = texts.flatMap((text) => (text === '' ? [] : [marked(text, known.certain)]));
      return [...words, ...otherwise(only, variables)];
    }
  }
  for (const piece of word) {
    const tails = expandPiece(piece, variables, choice);
    if (tails === null || heads.length * tails.length > maxExpanded) return null;
    heads = heads.flatMap((head) => tails.map((tail) => joined(head, tail)));
    if ((heads[0]?.text.length ?? 0) > maxLength) return null;
  }
  // Of braces alone an empty choice is no word: `{,rm} x` is `rm x`.
  return word.every(({ kind }) => kind === 'brace') ? heads.filter(({ text }) => text !== '') : heads;
}

/**
 * Every reading of these words: each name with each of its values, and with each value of the others; the first has the
 * latest of all. Null where they are too many.
 */
export function choicesOf(words: readonly ScriptWord[], variables: Variables): readonly Choice[] | null {
  let choices: readonly Choice[] = [latest];
  const names = new Set(words.flatMap((word) => word.flatMap(namesOf)));
  for (const name of names) {
    const count = variables.get(name)?.values.length ?? 0;
    if (count < 2) continue;
    if (choices.length * count > maxReadings) return null;
    const indexes = Array.from({ length: count }, (_, index) => count - 1 - index);
    choices = choices.flatMap((choice) => indexes.map((index) => new Map([...choice, [name, index]])));
  }
  return choices;
}

function namesOf(piece: Piece): readonly string[] {
  if (piece.kind === 'variable') return [piece.name];
  if (piece.kind === 'home') return ['HOME'];
  if (piece.kind === 'open') return piece.name === undefined || piece.removal === undefined ? [] : [piece.name];
  return piece.kind === 'output'
    ? (soleCommand(piece.steps)?.words.flatMap((word) => word.flatMap(namesOf)) ?? [])
    : [];
}

/** At blanks, and at what the line has given to `IFS`. */
function splitAt(value: string, variables: Variables): readonly string[] {
  const texts = value.split(/[ \t\n]+/, maxSplit + 1);
  const separators = new Set(variables.get('IFS')?.values.join('').replace(/\s/g, ''));
  if (separators.size === 0 || texts.length > maxSplit) return texts;
  let others = [value];
  for (const separator of separators) {
    others = others.flatMap((text) => text.split(separator, maxSplit + 1));
    if (others.length > maxSplit) return others;
  }
  return [...new Set([...texts, ...others])];
}

const joined = (left: CommandWord, right: CommandWord): CommandWord => ({
  text: left.text + right.text,
  path: left.path + right.path,
  open: left.open || right.open,
  ...unknownOf(left, right),
  ...(left.unset === undefined && right.unset === undefined
    ? {}
    : { unset: (left.unset ?? left.path) + (right.unset ?? right.path) }),
});

function unknownOf(left: CommandWord, right: CommandWord): { unknown?: UnknownPart } {
  const [first, last] = [left.unknown, right.unknown];
  if (first === undefined && last === undefined) return {};
  return {
    unknown: {
      before: first?.before ?? left.path + (last?.before ?? ''),
      behind: last?.behind ?? (first?.behind ?? '') + right.path,
      split: first?.split === true || last?.split === true,
      origins: [...(first?.origins ?? []), ...(last?.origins ?? []), ...together(first, last)],
    },
  };
}

/** Most texts that are made of two unknown parts of a word. */
const maxTogether = 64;

/** Two parts of one word of which the line tells what they may be: `$1$2`. */
function together(first: UnknownPart | undefined, last: UnknownPart | undefined): readonly Origin[] {
  if (first === undefined || last === undefined) return [];
  const [begins, ends] = [textsOf(first), textsOf(last)];
  if (begins.length * ends.length > maxTogether) return [{ kind: 'file' }];
  return begins.flatMap((begin) =>
    ends.map((end) => ({ kind: 'text' as const, text: `${begin}${first.behind}${last.before}${end}` })),
  );
}

const textsOf = ({ origins }: UnknownPart): readonly string[] =>
  origins.flatMap((origin) => (origin.kind === 'text' ? [origin.text] : []));

/** A part that is nothing but what these give. */
const givenBy = (origins: readonly Origin[], split: boolean): { unknown?: UnknownPart } =>
  origins.length === 0 ? {} : { unknown: { before: '', behind: '', split, origins } };

/** Beside a value that is known a name may hold one that is not. */
const otherwise = (piece: Piece, variables: Variables): readonly CommandWord[] => {
  const origins = piece.kind === 'variable' ? (variables.get(piece.name)?.origins ?? []) : [];
  if (piece.kind !== 'variable' || origins.length === 0) return [];
  return [{ text: piece.text, path: piece.text, open: true, unset: '', ...givenBy(origins, !piece.quoted) }];
};

/** A word that is left as it is written. */
export const openWord = (word: ScriptWord): CommandWord => {
  const text = word.map((piece) => (piece.kind === 'text' ? piece.value : piece.kind === 'home' ? '~' : piece.text));
  return { text: text.join(''), path: text.join(''), open: true };
};

/** A value that was itself written with a leading tilde or `$HOME` has been marked already. */
const marked = (text: string, certain: boolean): CommandWord => ({
  text: text.replaceAll(homeMark, '~'),
  path: text,
  open: !certain,
});

function expandPiece(piece: Piece, variables: Variables, choice: Choice): readonly CommandWord[] | null {
  switch (piece.kind) {
    case 'text':
      return [literalWord(piece.value)];
    case 'home': {
      const known = knownValue({ kind: 'variable', name: 'HOME', text: '~', quoted: true }, variables, choice);
      return [known === null ? { text: '~', path: homeMark, open: false } : marked(known.value, known.certain)];
    }
    case 'open': {
      const { text, unset, path = text, name } = piece;
      const known = name === undefined ? undefined : variables.get(name);
      const given = (known?.origins ?? []).flatMap((origin) => (origin.kind === 'text' ? [origin.text] : []));
      const chosen = known?.values.at((name === undefined ? undefined : choice.get(name)) ?? -1);
      const left = piece.removal === undefined || chosen === undefined ? [] : leftOf(piece.removal, [chosen]);
      const rest = piece.removal === undefined ? [] : leftOf(piece.removal, given);
      const texts = left.flatMap((one) => (typeof one === 'string' ? [marked(one, known?.certain === true)] : []));
      const origins = [
        ...(known?.origins ?? []),
        ...left.flatMap((one) => (typeof one === 'string' ? [] : one)),
        ...rest.flatMap((one) => (typeof one === 'string' ? [{ kind: 'text' as const, text: one }] : one)),
        ...(piece.otherwise === undefined ? [] : textsOfWord(piece.otherwise, variables, choice)),
        // `${X:-a}` is the value of a name that has one.
        ...(piece.removal === undefined
          ? (known?.values ?? []).map((one) => ({ kind: 'text' as const, text: one }))
          : []),
      ];
      if (texts.length > 0 && origins.length === 0) return texts;
      return [
        ...texts,
        { text, path, open: true, ...(unset === undefined ? {} : { unset }), ...givenBy(origins, true) },
      ];
    }
    case 'brace':
      return (
        braces(piece.text)?.map((text) =>
          text === piece.text ? { text, path: text, open: true } : literalWord(text),
        ) ?? null
      );
    case 'variable':
    case 'output': {
      const known = knownValue(piece, variables, choice);
      if (known !== null) return [marked(known.value, known.certain), ...otherwise(piece, variables)];
      if (piece.kind === 'variable' && piece.name === 'HOME')
        return [{ text: piece.text, path: homeMark, open: false }];
      // Where the line begins, or has been: the directories of its commands hold both.
      const here = piece.kind === 'variable' && (piece.name === 'PWD' || piece.name === 'OLDPWD');
      const origins =
        piece.kind === 'variable'
          ? (variables.get(piece.name)?.origins ?? [])
          : originsOf(piece.steps, (word) => expandWord(word, variables, choice) ?? [openWord(word)]);
      return [
        {
          text: piece.text,
          path: here ? '.' : piece.text,
          open: true,
          // A shell begins without the place where it has been.
          ...(piece.kind === 'variable' && piece.name === 'PWD' ? {} : { unset: '' }),
          ...givenBy(origins, !piece.quoted),
        },
      ];
    }
  }
}

/** Most values of which that is told. */
const maxLeft = 8;

/** What a word inside of another one may be. */
const textsOfWord = (word: ScriptWord, variables: Variables, choice: Choice): readonly Origin[] =>
  (expandWord(word, variables, choice) ?? []).flatMap(({ path, open, unknown }) =>
    open && unknown !== undefined
      ? unknown.origins.map((origin) => around(unknown, origin))
      : [{ kind: 'text', text: path }],
  );

/** What a part of a word gives, with what stands around it in the word. */
export const around = ({ before, behind }: UnknownPart, origin: Origin): Origin =>
  origin.kind === 'text' ? { kind: 'text', text: `${before}${origin.text}${behind}` } : origin;

/** What is left of each value: the text, or where that is not known, or the shell splits it, what it may be. */
function leftOf(removal: Removal, values: readonly string[]): readonly (string | readonly Origin[])[] {
  if (values.length > maxLeft) return [[anything]];
  return values.map((value) => {
    const left = remaining(value, removal);
    if (left === null) return rests(value, removal);
    return /\s/.test(left) ? [{ kind: 'text', text: left }] : left;
  });
}

function knownValue(
  piece: Extract<Piece, { kind: 'variable' | 'output' }>,
  variables: Variables,
  choice: Choice,
): { readonly value: string; readonly certain: boolean } | null {
  if (piece.kind === 'output') {
    // Where the line is; a function of that name may say something else.
    if (/^(?:\$\(|`)\s*pwd(?:\s+-[LP])?\s*[)`]$/.test(piece.text)) return { value: '.', certain: false };
    const value = printedBy(piece.steps, variables, choice);
    return value === null ? null : { value, certain: true };
  }
  const { values = [], certain = false } = variables.get(piece.name) ?? {};
  const value = values[choice.get(piece.name) ?? values.length - 1];
  // Without quotes the shell looks for files behind a pattern in it.
  return value === undefined ? null : { value, certain: certain && (piece.quoted || !/[*?[]/.test(value)) };
}

/** The one command of a substitution; null where there are more, or none. */
function soleCommand(steps: readonly Step[]): Extract<Step, { kind: 'command' }> | null {
  const [step] = steps;
  return steps.length === 1 && step?.kind === 'command' ? step : null;
}

/** What a substitution of one `echo` or `printf` of literals prints, without the line breaks at its end. */
function printedBy(steps: readonly Step[], variables: Variables, choice: Choice): string | null {
  const step = soleCommand(steps);
  if (step === null) return null;
  const words = step.words.flatMap((word) => expandWord(word, variables, choice) ?? openWord(word));
  if (words.some((word) => word.open)) return null;
  return printed(words.map(({ path, open }) => ({ text: path, path, open })))[0]?.replace(/\n+$/, '') ?? null;
}

/** What a brace expansion stands for; the text itself when it is none that can be read, null when it is too much. */
function braces(text: string): readonly string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}') || /["'`$\\]/.test(text)) return [text];
  const range = /^\{(?:([A-Za-z])\.\.([A-Za-z])|(-?[0-9]{1,9})\.\.(-?[0-9]{1,9}))\}$/.exec(text);
  if (range !== null) return rangeOf(range);
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
  if (parts.length < 2) return [text];
  const words: string[] = [];
  for (const part of parts) {
    const inner = part.startsWith('{') ? braces(part) : [part];
    if (inner === null || words.length + inner.length > maxExpanded) return null;
    words.push(...inner);
  }
  return words;
}

/** `{a..e}`, `{1..3}`; what is longer stays as it is written, since it is all numbers. */
function rangeOf([text, first = '', last = '', from = '', to = '']: readonly string[]): readonly string[] {
  const letters = first !== '';
  const begin = letters ? first.charCodeAt(0) : Number(from);
  const end = letters ? last.charCodeAt(0) : Number(to);
  const count = Math.abs(end - begin) + 1;
  if (count > maxExpanded) return [text ?? ''];
  const values = Array.from({ length: count }, (_, index) => begin + (end < begin ? -index : index));
  return values.map((value) => (letters ? String.fromCharCode(value) : String(value)));
}
