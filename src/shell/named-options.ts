import type { CommandWord } from '../schema/command.ts';
import { heldBy, namesLine } from './line-names.ts';
import { cut } from './option-values.ts';

/**
 * What may be a line by the name that stands before it: an option, a property, a setting, a variable among the words. It is a
 * guess, of programs that are in no table and of those that are, so only what parses and is denied counts.
 */

/** Their words are texts; `git` has a reading of its own. */
const texts: ReadonlySet<string> = new Set(['git', 'echo', 'printf']);
/** What stands before a `=` in their words is a name of the line, or code. */
const namesOfTheLine: ReadonlySet<string> = new Set(
  (
    'export declare typeset local readonly integer let set unset read eval grep egrep fgrep rg ag ack test [ [[ awk gawk mawk ' +
    'sed jq yq expr'
  ).split(' '),
);

/** An option, also with one dash; one letter and its value as `-D` has it are not meant. */
const option = /^(?:--|-(?!D))([A-Za-z][\w.-]+)(=?)/;
const property = /^(?:-[DP])?([A-Za-z][\w.-]*)(?::[A-Za-z]+)?=/;
/** Options that take a name and its value together. */
const settings = /^(?:-[Docs]|--?(?:config|option|set|setting|define|opt)(?:=|$))/;
const sets: ReadonlySet<string> = new Set('config configure set setting settings'.split(' '));

/** A line begins with the name of a program: a list, a pattern or a text in braces is a value of another kind. */
const begins = /^(?:\w+=\S*\s+)*["']?[\w./+~][\w./+~-]*["']?(?:[\s;|&,]|$)/;

/**
 * Linear in the words of the command.
 * @param starts it is a launcher: what it starts is read by itself
 */
export function namedLines(name: string, rest: readonly CommandWord[], starts = false): readonly CommandWord[] {
  if (texts.has(name)) return [];
  const known = rest.map((word, index) => ({ word, next: rest[index + 1] })).filter(({ word }) => !word.open);
  const given = known.flatMap(({ word, next }) => behindOption(word, next));
  const plain = starts || namesOfTheLine.has(name);
  const set = plain
    ? []
    : [...known.flatMap(({ word }) => behindProperty(name, word)), ...settingsIn(rest), ...aliasesIn(rest)];
  const lines = set.filter(({ text }) => begins.test(text));
  return [...given, ...lines].filter(({ open, text }) => !open && text !== '' && !text.startsWith('-'));
}

/** `--name=line`, `-name line`. */
function behindOption(word: CommandWord, next: CommandWord | undefined): readonly CommandWord[] {
  const [all = '', option_ = '', equals = ''] = option.exec(word.text) ?? [];
  if (!namesLine(option_)) return [];
  if (equals !== '') return [cut(word, all.length)];
  return all.length < word.text.length || next === undefined || next.text.startsWith('-') ? [] : [next];
}

/** `NAME=line`, `-Dname=line`, `--config=name=line`; what a Java program is told by `-D` is its own. */
function behindProperty(name: string, word: CommandWord): readonly CommandWord[] {
  const before = settings.exec(word.text)?.[0] ?? '';
  if (before === '-D' && name === 'java') return [];
  const setting = before === '' || before === word.text ? word : cut(word, before.length);
  const [all = '', key = ''] = property.exec(setting.text) ?? [];
  if (all === '') return [];
  return heldBy(key) !== null || namesLine(key) ? [cut(setting, all.length)] : [];
}

/** `config set name line`, `config name line`. */
function settingsIn(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }) => sets.has(text));
  if (at === -1) return [];
  return rest.slice(at + 1).flatMap(({ text }, index, words) => {
    const value = words[index + 1];
    return value !== undefined && /^[A-Za-z][\w.:-]*$/.test(text) && namesLine(text) ? [value] : [];
  });
}

/** `alias set name '!line'`, or a line as it is where the option for one stands. */
function aliasesIn(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }, index) => text === 'set' && rest[index - 1]?.text === 'alias');
  const line = rest.at(-1);
  if (at === -1 || line === undefined) return [];
  if (line.text.startsWith('!')) return [cut(line, 1)];
  return rest.some(({ text }) => /^(?:-s|--shell)$/.test(text)) ? [line] : [];
}
