import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { judgeWords, tableOf } from './option-tables.ts';

/**
 * Words that are no paths, whatever they look like: what a search looks for, what `echo` prints. A rule on paths would
 * deny `grep -n .env .gitignore` for what it only reads about.
 */

/** Of their operands the first alone is a text, unless an option gives it. */
const searches: ReadonlySet<string> = new Set('grep egrep fgrep rg jq'.split(' '));
/** All that their tables call text is one. */
const printers: ReadonlySet<string> = new Set('echo printf basename dirname find'.split(' '));
/** Commands by which a later word may mean something else than it says. */
const changing: ReadonlySet<string> = new Set(
  'alias eval source . hash enable set shopt setopt export declare typeset readonly local trap'.split(' '),
);

/** The words of a call that name nothing. Of a line that gives any of its words another meaning there are none. */
export function textWords(analysis: Analysis, host: PolicyHost): ReadonlySet<CommandWord> {
  if (!isPlain(analysis)) return new Set();
  const { commands } = analysis;
  // A command behind it may take what it prints for names, and one in front of it what it writes.
  const known = commands.map((command) => !command.revealed && isKnown(command, host));
  const from = known.lastIndexOf(false) + 1;
  return new Set(commands.slice(from).flatMap((command) => textsOf(command, from === 0)));
}

/** Every word is what it says, or a pattern that stands for files: no value, no function, no program under another name. */
function isPlain({ unread, floor, unquoted, form, commands }: Analysis): boolean {
  if (unread !== null || floor !== null) return false;
  if (unquoted === null ? form !== 'argv' : /[$`]|[<>]\(|\(\s*\)|\bfunction\b/.test(unquoted)) return false;
  return commands.every(
    ({ words }) => words[0] !== undefined && !words[0].open && !changing.has(baseName(words[0].text)),
  );
}

/** All that it does with its words is known: it hands none of them on. */
function isKnown({ words: [program, ...rest] }: FoundCommand, host: PolicyHost): boolean {
  const name = program?.text ?? '';
  if (name === 'cd') return true;
  // A program of that name in the workspace may do anything.
  if (!isSystemName(name) || (host.resolveProgram(name, host.cwd)?.ungrantable ?? null) !== null) return false;
  const table = tableOf(baseName(name), undefined);
  return table !== undefined && judgeWords(table, textOf(rest), undefined).ok;
}

const isSystemName = (program: string): boolean => /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?[^/]+$/.test(program);

const textOf = (words: readonly CommandWord[]): readonly string[] => words.map(({ text }) => text);

/** Most words of a command that are looked at: what is longer is no search by hand. */
const maxWords = 256;

function textsOf({ words: [program, ...rest] }: FoundCommand, alone: boolean): readonly CommandWord[] {
  if (rest.length > maxWords) return [];
  const name = baseName(program?.text ?? '');
  const table = searches.has(name) || (alone && printers.has(name)) ? tableOf(name, undefined) : undefined;
  if (table === undefined) return [];
  const judged = judgeWords(table, textOf(rest), undefined);
  if (!judged.ok) return [];
  const files = new Set(judged.operands.flatMap(({ text, kind }) => (kind === 'text' ? [] : [text])));
  const texts = rest.filter(({ text, open }) => !open && !text.startsWith('-') && !files.has(text));
  if (!searches.has(name)) return texts;
  // A file may have the name of an option, and what stands for it may come first.
  if (rest.some(({ text, open }) => open && /^[-*?[{]/.test(text))) return [];
  // Where options end at the first operand, those behind it are files as well.
  const ends = rest.findIndex(
    ({ text }, at) =>
      (!text.startsWith('-') || rest[at - 1]?.text === '--') &&
      judgeWords(table, textOf(rest.slice(0, at)), undefined).ok,
  );
  const first = texts.filter((word) => ends === -1 || rest.indexOf(word) <= ends);
  // `--exclude=a`: the value of an option that names a file is among the files.
  const isText = (text: string): boolean => ![...files].some((file) => file !== '' && text.endsWith(file));
  return [...first, ...rest.filter(({ text, open }) => !open && text.startsWith('-') && isText(text))];
}
