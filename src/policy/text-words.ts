import type { OptionTable } from '../schema/command-tables.ts';
import type { CommandWord, FoundCommand, Origin } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { judgeWords, tableOf } from './option-tables.ts';
import { pipelinesOf } from './pipelines.ts';
import { textsByOption } from './text-options.ts';
import { handingTables, textTables } from './text-tables.ts';

/**
 * Words that are no paths, whatever they look like: what a search looks for, what `echo` prints, the message of a commit. A
 * rule on paths would deny `grep -n .env .gitignore` for what it only reads about.
 */

/** Of their operands the first alone is a text, unless an option gives it; of `git` what its subcommand takes for one. */
const searches: ReadonlySet<string> = new Set('grep egrep fgrep rg jq ag ack git'.split(' '));
/** All that their tables call text is one. */
const printers: ReadonlySet<string> = new Set('echo printf basename dirname find'.split(' '));
/** Commands by which a later word may mean something else than it says. */
const changing: ReadonlySet<string> = new Set(
  'alias eval source . hash enable set shopt setopt export declare typeset readonly local trap'.split(' '),
);

/** Builtins that do nothing with their words that a path could be behind. */
const quiet: ReadonlySet<string> = new Set('cd exit return true false : break continue'.split(' '));

/** What of a call's words names nothing. */
export type TextWords = {
  readonly texts: ReadonlySet<CommandWord>;
  /** Those that name nothing unless another word, which only the run knows, is an option. */
  readonly doubtful: ReadonlySet<CommandWord>;
};

export const noTexts: TextWords = { texts: new Set(), doubtful: new Set() };

/** The words of a call that name nothing. Of a line that gives any of its words another meaning there are none. */
export function textWords(analysis: Analysis, host: PolicyHost): TextWords {
  if (!isSteady(analysis)) return noTexts;
  if (!isPlain(analysis)) return { ...noTexts, texts: messagesOf(analysis.commands) };
  const texts = new Set<CommandWord>();
  const doubtful = new Set<CommandWord>();
  const all = analysis.commands;
  const calm = all.every((command) => isKnown(command, all, host) && !writes(command));
  for (const commands of pipelinesOf(analysis)) {
    // A command behind it may take what it prints for names, and one in front of it what it writes.
    const known = commands.map((command) => isKnown(command, commands, host) && nameOf(command) !== 'xargs');
    const from = known.lastIndexOf(false) + 1;
    for (const [index, command] of commands.entries()) {
      for (const word of textsByOption(command)) texts.add(word);
      if (index < from || !isStarted(command, commands, host)) continue;
      const own = textsOf(command, from === 0);
      const may = own.length === 0 ? 'no' : mayBeOption(command, host, calm);
      for (const word of may === 'yes' ? [] : own) (may === 'no' ? texts : doubtful).add(word);
    }
  }
  return { texts, doubtful };
}

/** What is put into some words is not known, but those of a command in front of its message are. */
const messagesOf = (commands: readonly FoundCommand[]): ReadonlySet<CommandWord> =>
  new Set(
    commands.flatMap((command) => {
      const texts = textsByOption(command);
      return command.words.every((word) => !word.open || texts.includes(word)) ? texts : [];
    }),
  );

/** Every word is what it says, or a pattern that stands for files. */
const isPlain = ({ unquoted, form }: Analysis): boolean =>
  unquoted === null ? form === 'argv' : !/[$`]|[<>]\(/.test(unquoted);

/** Every name means what it says: no value, no function, no program under another name. */
function isSteady({ unread, floor, unquoted, commands }: Analysis): boolean {
  if (unread !== null || floor !== null || /\(\s*\)|\bfunction\b/.test(unquoted ?? '')) return false;
  return commands.every(
    ({ words }) => words[0] !== undefined && !words[0].open && !changing.has(baseName(words[0].text)),
  );
}

const nameOf = ({ words: [program] }: FoundCommand): string => baseName(program?.text ?? '');

/** The words behind a program, without the directory that `git` goes to. */
function behind({ words: [program, ...rest] }: FoundCommand): readonly CommandWord[] {
  return baseName(program?.text ?? '') === 'git' && rest[0]?.text === '-C' ? rest.slice(2) : rest;
}

const writes = ({ redirects }: FoundCommand): boolean =>
  redirects.some(({ target, writes }) => writes && target !== null && target.path !== '/dev/null');

/** All that it does with its words is known: it hands none of them on, but to a command that is looked at itself. */
function isKnown(command: FoundCommand, commands: readonly FoundCommand[], host: PolicyHost): boolean {
  const name = command.words[0]?.text ?? '';
  if (quiet.has(name)) return true;
  // A program of that name in the workspace may do anything.
  if (!isSystemName(name) || (host.resolveProgram(name, host.cwd)?.ungrantable ?? null) !== null) return false;
  const own = ownWords(command, commands);
  const table = own === null ? tableFor(baseName(name)) : handing(baseName(name));
  return table !== undefined && judgeWords(table, textOf(own ?? behind(command)), textTables).ok;
}

/** A command in the words of another one gets them as they stand there, from launchers that are known. */
function isStarted(command: FoundCommand, commands: readonly FoundCommand[], host: PolicyHost): boolean {
  if (!command.revealed) return true;
  const [program] = command.words;
  const around = commands.filter((one) => one !== command && one.words.some((word) => word === program));
  return around.length > 0 && around.every((one) => ownWords(one, commands) !== null && isKnown(one, commands, host));
}

const tableFor = (name: string): OptionTable | undefined => tableOf(name, textTables);

const handing = (name: string): OptionTable | undefined =>
  name === 'find' || name === 'gfind'
    ? tableFor('find')
    : Object.hasOwn(handingTables, name)
      ? handingTables[name]
      : undefined;

/** The words of a launcher without those that are the command which it starts; null for any other. */
function ownWords(
  { words: [program, ...rest] }: FoundCommand,
  commands: readonly FoundCommand[],
): readonly CommandWord[] | null {
  if (handing(baseName(program?.text ?? '')) === undefined) return null;
  const starts = rest.findIndex((word) => commands.some(({ words, revealed }) => revealed && words[0] === word));
  if (starts === -1) return null;
  if (!/^g?find$/.test(baseName(program?.text ?? ''))) return rest.slice(0, starts);
  const left: CommandWord[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) continue;
    if (!/^-exec(?:dir)?$/.test(word.text)) {
      left.push(word);
      continue;
    }
    while (at < rest.length && !/^[;+]$/.test(rest[at]?.text ?? '')) at += 1;
  }
  return left;
}

const isSystemName = (program: string): boolean => /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?[^/]+$/.test(program);

const textOf = (words: readonly CommandWord[]): readonly string[] => words.map(({ text }) => text);

/** Most words of a command that are looked at: what is longer is no search by hand. */
const maxWords = 256;

function textsOf(command: FoundCommand, alone: boolean): readonly CommandWord[] {
  const rest = behind(command);
  if (rest.length > maxWords) return [];
  const name = nameOf(command);
  const table = searches.has(name) || (alone && printers.has(name)) ? tableFor(name) : undefined;
  if (table === undefined) return [];
  const judged = judgeWords(table, textOf(rest), textTables);
  if (!judged.ok) return [];
  const files = new Set(judged.operands.flatMap(({ text, kind }) => (kind === 'text' ? [] : [text])));
  const texts = rest.filter(
    ({ text, open, filled }) => !open && filled !== true && !text.startsWith('-') && !files.has(text),
  );
  if (!searches.has(name)) return texts;
  // A file may have the name of an option, and what stands for it may come first.
  if (rest.some(({ text, open }) => open && /^[-*?[{]/.test(text))) return [];
  // Where options end at the first operand, those behind it are files as well; most of `git` goes on with options.
  const goesOn = name === 'git' && rest.every(({ text }) => text !== 'grep');
  const ends = goesOn
    ? -1
    : rest.findIndex(
        ({ text }, at) =>
          (!text.startsWith('-') || rest[at - 1]?.text === '--') &&
          judgeWords(table, textOf(rest.slice(0, at)), textTables).ok,
      );
  const first = texts.filter((word) => ends === -1 || rest.indexOf(word) <= ends);
  // `--exclude=a`: the value of an option that names a file is among the files.
  const isText = (text: string): boolean => ![...files].some((file) => file !== '' && text.endsWith(file));
  return [...first, ...rest.filter(({ text, open }) => !open && text.startsWith('-') && isText(text))];
}

type May = 'yes' | 'no' | 'perhaps';

/** Whether what a launcher puts into a command may be an option of it, by which another word would be a file. */
function mayBeOption({ words, directories }: FoundCommand, host: PolicyHost, calm: boolean): May {
  const filled = words.filter((word) => word.filled === true && word.unknown?.before === '');
  const may = filled.flatMap(({ unknown }) =>
    (unknown?.origins ?? []).map((origin) => dashed(origin, directories, host)),
  );
  // What is put there in the same line may have any name.
  return may.includes('yes') ? 'yes' : may.includes('perhaps') || (filled.length > 0 && !calm) ? 'perhaps' : 'no';
}

const sieves: ReadonlySet<string> = new Set('head tail sort uniq tac grep egrep fgrep'.split(' '));
const listings = /^(?:ls|fd|fdfind|rg|[ef]?grep|git)$/;

/** Whether a line that this prints may begin with a dash. */
function dashed(origin: Origin, directories: readonly string[], host: PolicyHost): May {
  if (origin.kind === 'file') return 'perhaps';
  if (origin.kind === 'text') return /(?:^|\s)-/.test(origin.text) ? 'yes' : 'no';
  const { words, input, texts } = origin;
  const [program, ...rest] = words;
  const name = baseName(program?.text ?? '');
  if (texts.some((text) => /(?:^|\s)-/.test(text))) return 'yes';
  if (/^g?find$/.test(name)) {
    const [place] = rest;
    const prints = rest.some(({ text }) => /^-(?:printf|files0-from)$/.test(text));
    // Each path begins with the place where it was found.
    return prints || rest.some(({ open, text }) => open && !/[*?]/.test(text)) || place?.open === true
      ? 'perhaps'
      : 'no';
  }
  if (sieves.has(name) && input.length > 0) {
    const all = input.map((one) => dashed(one, directories, host));
    return all.includes('yes') ? 'yes' : all.includes('perhaps') ? 'perhaps' : 'no';
  }
  if (!listings.test(name)) return texts.length > 0 ? 'no' : 'perhaps';
  const places = [...directories, ...textOf(rest).filter((text) => !text.startsWith('-') && !text.includes('\0'))];
  const named = places.some((place) => {
    const path = place.startsWith('/') ? place : place === '' ? host.cwd : `${host.cwd}/${place}`;
    return host.filesLike(`${path}/-*`).length > 0;
  });
  return named ? 'perhaps' : 'no';
}
