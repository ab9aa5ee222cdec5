import type { CommandWord, FoundCommand } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';

/** Words that an option makes a text, whatever else stands in a command: what is left out, a title, code of a language. */

type Texts = {
  /** The option whose next word is a text, and the same with the text attached. */
  readonly option: RegExp;
  readonly attached: RegExp;
  /** Options without a value: in front of the option another one might take it for its own. */
  readonly flags: RegExp;
  /** Behind the first word that is no option all others are for somebody else: a script. */
  readonly first?: true;
};

const none = /(?!)/;
const titles: Texts = {
  option: /^(?:-[tbn]|--(?:title|body|notes|comment|message|description))$/,
  attached: /^--(?:title|body|notes|comment|message|description)=/,
  flags: /^--(?:draft|fill(?:-first|-verbose)?|web|prerelease|latest|generate-notes|yes|squash|merge|rebase)$/,
};
const excludes = (option: RegExp, flags: RegExp = none): Texts => ({
  option,
  attached: /^--(?:exclude|exclude-dir|ignore|ignore-dir|ignore-pattern)=/,
  flags,
});
const perl: Texts = { option: /^-[npwlsai0]*[eE]$/, attached: none, flags: /^-[npwlsa]+$|^-i(?:\.\w+)?$/, first: true };
const code = (option: RegExp): Texts => ({ option, attached: none, flags: none, first: true });
const tar = excludes(/^--exclude$/, /^-[cvzjJhpP]+$/);
const compare = excludes(/^(?:-[ruNaqwbBiy]*x|--exclude)$/, /^-[ruNaqwbBiy]+$|^--recursive$/);

const programs: Readonly<Record<string, Texts>> = {
  tar,
  gtar: tar,
  bsdtar: tar,
  rsync: excludes(
    /^--exclude$/,
    /^-[avzrlptgoDhnPucx]+$|^--(?:delete|dry-run|progress|archive|recursive|compress|verbose)$/,
  ),
  diff: compare,
  gdiff: compare,
  colordiff: compare,
  tree: excludes(/^-[adfFlhspugDinCr]*I$/, /^-[adfFlhspugDinCr]+$/),
  du: excludes(/^--exclude$/, /^-[achsLx]+$/),
  fd: excludes(/^(?:-E|--exclude)$/, /^-[HIsigap0]+$/),
  rg: excludes(none),
  eslint: excludes(/^--ignore-pattern$/, /^--(?:fix|quiet)$/),
  gh: titles,
  glab: titles,
  git: {
    option: /^(?:-[aqsnve]*m|--message)$/,
    attached: /^--message=/,
    flags: /^-[aqsnve]+$|^--(?:amend|no-verify|signoff|allow-empty|quiet|no-edit|all|no-ff)$/,
  },
  perl,
  ruby: perl,
  python: code(/^-c$/),
  python3: code(/^-c$/),
  node: code(/^(?:-[ep]|-pe|--eval|--print)$/),
  php: code(/^-r$/),
};

/** A message belongs to what `git` writes; elsewhere `-m` is something else. */
const isWritten = (rest: readonly CommandWord[]): boolean =>
  /^(?:commit|tag|merge|stash|notes|revert)$/.test(
    rest.find(({ text }, at) => !text.startsWith('-') && rest[at - 1]?.text !== '-C')?.text ?? '',
  );

/** Options of `awk` in front of its program. */
const awkOption = /^-(?:[Fv]|[Fv].+|-csv|-posix|-re-interval)$/;

/** The words of a command that its options make texts. */
export function textsByOption({ words: [program, ...rest] }: FoundCommand): readonly CommandWord[] {
  const name = baseName(program?.text ?? '');
  if (/^[gmn]?awk$/.test(name)) return awkProgram(rest);
  if (name === 'zip') return leftOutByZip(rest);
  const texts = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (texts === undefined || (name === 'git' && !isWritten(rest))) return [];
  const end = rest.findIndex(({ text }) => text === '--');
  return rest.filter((word, at) => {
    // In quotes it stays one word, whatever is put in: the here-document of a message.
    if (word.open && (word.unknown?.split === true || !/\s/.test(word.text))) return false;
    if (texts.attached.test(word.text)) return true;
    const before = rest.slice(texts.first === true ? 0 : Math.max(at - 2, 0), Math.max(at - 1, 0));
    const isFree = before.every(
      ({ text, open }) => !open && (texts.flags.test(text) || (texts.first !== true && !text.startsWith('-'))),
    );
    return texts.option.test(rest[at - 1]?.text ?? '') && isFree && (end === -1 || at < end);
  });
}

/** Its first operand, where no file holds the program. */
function awkProgram(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Fv]$/.test(rest[index - 1]?.text ?? ''));
  const word = rest[at];
  const known = rest.slice(0, Math.max(at, 0)).every(({ text, open }, index) => {
    return !open && (awkOption.test(text) || /^-[Fv]$/.test(rest[index - 1]?.text ?? ''));
  });
  return word === undefined || word.open || !known ? [] : [word];
}

/** Behind its `-x` stand patterns up to the next option. */
function leftOutByZip(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }) => text === '-x' || text === '--exclude');
  const before = rest[at - 1];
  if (at < 1 || before?.text.startsWith('-') !== false || rest.some(({ text }) => text === '--')) return [];
  const behind = rest.slice(at + 1);
  const end = behind.findIndex(({ text }) => /^-|^@$/.test(text));
  return behind.slice(0, end === -1 ? undefined : end).filter(({ open }) => !open);
}
