import type { CommandWord } from '../schema/command.ts';
import { settingLine } from './git-lines.ts';
import { linesHeld } from './held-options.ts';
import { heldBy } from './line-names.ts';

/**
 * What the shell and ordinary programs run of a value: the line that a variable holds for them, and the substitutions of a
 * text that stood in quotes and is expanded later, as by `PS4`, `BASH_ENV` and the arithmetic of bash.
 */

export type Handed =
  /** A line for a shell, put together from these words. */
  | { readonly kind: 'line'; readonly words: readonly CommandWord[] }
  /** What may be a line: only one that parses counts. */
  | { readonly kind: 'guess'; readonly words: readonly CommandWord[] }
  /** A file that a shell, or `git`, reads first, which counts where the line has written it. */
  | { readonly kind: 'script'; readonly words: readonly CommandWord[] }
  /** A text whose substitutions the shell makes, though quotes kept them from it the first time. */
  | { readonly kind: 'text'; readonly words: readonly CommandWord[] };

const words = (text: string): readonly string[] => text.split(' ');

/** Builtins that expand their words once more: as names with a subscript, or as arithmetic. */
const expanding: ReadonlySet<string> = new Set(
  words(
    'read readarray mapfile unset declare typeset local export readonly integer let test [ getopts wait compgen set',
  ),
);

/** Of a value that a name gets: `export A=b`, `env A=b`, `A=b`. */
export function valuePayloads(name: string, value: CommandWord): readonly Handed[] {
  const starts = /^(BASH_)?ENV$/.test(name);
  // What another command prints.
  if (value.open && starts) return [{ kind: 'line', words: [value] }];
  // `BASH_FUNC_ls%%=() { .. }`: a function that every bash below takes over.
  if (name.startsWith('BASH_FUNC_')) return [{ kind: 'guess', words: [{ ...value, text: `f ${value.text}` }] }];
  const text: readonly Handed[] = [
    ...(substitutes(value.text) ? [{ kind: 'text' as const, words: [value] }] : []),
    ...(starts ? [{ kind: 'script' as const, words: [value] }] : []),
  ];
  // `|program %s`, as `less` has it.
  const line = value.text.replace(/^\|-?/, '');
  if (/^GIT_CONFIG_(?:GLOBAL|SYSTEM)$/.test(name)) return [...text, { kind: 'script', words: [value] }];
  if (!value.open && name.startsWith('GIT_CONFIG_')) return [...text, ...gitSettings(name, value)];
  const kind = line === '' || value.open ? null : heldBy(name);
  if (kind !== null) return [...text, { kind, words: [{ ...value, text: line }] }];
  return [...text, ...linesHeld(name, value).map((word) => ({ kind: 'guess' as const, words: [word] }))];
}

/** Settings of `git` that variables hold: `GIT_CONFIG_VALUE_0` of a name that stands elsewhere, and all of one in one. */
function gitSettings(name: string, value: CommandWord): readonly Handed[] {
  const text = value.text.replace(/^!/, '');
  const settings = name === 'GIT_CONFIG_PARAMETERS' ? Array.from(value.text.matchAll(/'([^'=]+)'?='?([^']*)'/g)) : [];
  const found = settings.flatMap(([, key, held]) => settingLine({ ...value, text: `${key}=${held}` }));
  const held = /^GIT_CONFIG_VALUE_[0-9]+$/.test(name) && text !== '' ? [value, ...aliased(value)] : [];
  return [...found, ...held.map((word) => ({ ...word, text: word.text.replace(/^!/, '') }))].map((word) => ({
    kind: 'guess',
    words: [word],
  }));
}

/** As the value of an alias it is the rest of a `git` line. */
const aliased = (value: CommandWord): readonly CommandWord[] =>
  value.text.startsWith('!') ? [] : [{ ...value, text: `git ${value.text}` }];

/** Of the words of a builtin that gives names values, or looks at them. */
export function builtinPayloads(name: string, rest: readonly CommandWord[]): readonly Handed[] {
  if (!expanding.has(name) && !(name === 'printf' && rest[0]?.text.startsWith('-v') === true)) return [];
  return rest.flatMap((word): readonly Handed[] => {
    const found = /^([A-Za-z_][A-Za-z0-9_]*)\+?=/.exec(word.text);
    if (found !== null) return valuePayloads(found[1] ?? '', { ...word, text: word.text.slice(found[0].length) });
    return substitutes(word.text) ? [{ kind: 'text', words: [word] }] : [];
  });
}

/** Of texts that a shell gets from elsewhere, and may take for numbers or names. */
export const substitutesIn = (given: readonly CommandWord[]): readonly Handed[] =>
  given.flatMap((word) => (substitutes(word.text) ? [{ kind: 'text' as const, words: [word] }] : []));

/** Whether a substitution stands in a text; one that has no end is an error in every shell. */
export function substitutes(text: string): boolean {
  const opens = text.indexOf('$(');
  return (opens !== -1 && text.lastIndexOf(')') > opens) || text.indexOf('`') !== text.lastIndexOf('`');
}

/** A line that does nothing but expand a text as the shell does in double quotes. */
export function expandingLine(text: string): string {
  let end = 'E';
  while (text.includes(end)) end += 'E';
  return `<<${end}\n${text}\n${end}\n`;
}
