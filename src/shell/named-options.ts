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

/** An option, also with one dash; `-D` and its name are not meant. */
const option = /^(--|-(?!D))([A-Za-z][\w.-]+)(=?)/;
const property = /^(?:-[DP])?(?!scripts\.)([A-Za-z][\w.-]*)(?::[A-Za-z]+)?=/;
/** Options that take a name and its value together. */
const settings = /^(?:-[Doc]|--?(?:config|option|set|setting|define|opt)(?:=|$))/;
/** Options behind which nothing else stands than a line. */
const surelyLine =
  /(?:^|[-_])(?:pager|exec|command|cmd|editor|preview|askpass|launcher|linker|renderer|run_under|prgbox)$/;
/** Programs whose properties are their own: of a compiler and of Java they are those of what is built or run. */
const takesProperties: ReadonlySet<string> = new Set(
  'cmake ctest ccmake mvn mvnw gradle gradlew ant sbt meson'.split(' '),
);
/** `--action_env=NAME=line`: an option before the pair, whatever it is called. */
const beforePair = /^--?[A-Za-z][\w.-]*=(?=[A-Za-z_]\w*=)/;
const sets: ReadonlySet<string> = new Set('config configure set setting settings'.split(' '));

/** A line begins with the name of a program: a list, a pattern or a text in braces is a value of another kind. */
const begins = /^(?:\w+=\S*\s+)*["']?[\w./+~][\w./+~-]*["']?(?:[\s;|&,]|$)/;

/**
 * Linear in the words of the command.
 * @param starts it is a launcher: what it starts is read by itself
 */
export function namedLines(name: string, rest: readonly CommandWord[], starts = false): readonly CommandWord[] {
  if (texts.has(name)) return [];
  const known = rest
    .map((word, index) => ({ word, next: rest[index + 1], before: rest[index - 1]?.text ?? '' }))
    .filter(({ word }) => !word.open);
  const given = rest.flatMap((word, index) => behindOption(word, rest[index + 1]));
  const plain = starts || namesOfTheLine.has(name);
  const set = plain
    ? []
    : [
        ...known.flatMap(({ word, before }) => behindProperty(name, word, before)),
        ...settingsIn(rest),
        ...aliasesIn(rest),
      ];
  const lines = set.filter(({ text }) => begins.test(text));
  return [...given, ...lines.filter(({ open }) => !open)].filter(({ text }) => text !== '' && !text.startsWith('-'));
}

/** `--name=line`, `-name line`. */
function behindOption(word: CommandWord, next: CommandWord | undefined): readonly CommandWord[] {
  const [all = '', dashes = '', key = '', equals = ''] = option.exec(word.text) ?? [];
  if (!namesLine(key)) return [];
  const value = equals !== '' ? cut(word, all.length) : all.length < word.text.length ? undefined : next;
  if (value === undefined) return [];
  // One that only the shell knows asks where nothing else than a line stands behind such a name.
  return (dashes === '--' && surelyLine.test(key)) || (!value.open && begins.test(value.text)) ? [value] : [];
}

/** `NAME=line` of a variable; with other names where an option says that such a pair follows. */
function behindProperty(name: string, word: CommandWord, before: string): readonly CommandWord[] {
  const told = settings.exec(word.text)?.[0] ?? '';
  const attached = told === '' ? (beforePair.exec(word.text)?.[0] ?? '') : told;
  if ((attached === '-D' || before === '-D') && !takesProperties.has(name)) return [];
  const setting = attached === '' || attached === word.text ? word : cut(word, attached.length);
  const [all = '', key = ''] = property.exec(setting.text) ?? [];
  if (all === '') return [];
  const isTold = told !== '' || settings.exec(before)?.[0] === before;
  return heldBy(key) !== null || (isTold && namesLine(key)) ? [cut(setting, all.length)] : [];
}

/** `config set name line`, `config name line`, `config set name=line`. */
function settingsIn(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }) => sets.has(text));
  if (at === -1) return [];
  return rest.slice(at + 1).flatMap((word, index, words) => {
    const { text } = word;
    const [pair = '', key = ''] = property.exec(text) ?? [];
    if (pair !== '') return namesLine(key) ? [cut(word, pair.length)] : [];
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
