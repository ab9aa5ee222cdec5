import type { CommandWord } from '../schema/command.ts';
import { callsIn, type CodeLines, linesInCode } from './code-lines.ts';
import { baseName } from './programs.ts';
import { literalWord } from './words.ts';

/**
 * Files from which a program starts what they hold, and that it looks for by their names or takes behind an option: makefiles,
 * the scripts of a package, the modules of a language, commands of an editor. They count only where the line has written them.
 */

type Reader = {
  /** Names of files that are found without being given; absent: none are. */
  readonly found?: RegExp;
  /** The option behind which another one is given, also attached. */
  readonly given?: RegExp;
  /** Only with one of these words. */
  readonly behind?: readonly string[];
  lines(text: string, rest: readonly CommandWord[], name: string): CodeLines;
};

const words = (text: string): readonly string[] => text.split(' ');
const spelled = (lines: readonly string[]): CodeLines => ({ lines, guessed: true, unnamed: null });

const code = (found: RegExp, behind?: readonly string[]): Reader => ({
  found,
  ...(behind === undefined ? {} : { behind }),
  lines: (text, _rest, name) => spelled(callsIn(text, name)),
});

/** What the language of the program itself hands to a shell. */
const own: Reader['lines'] = (text, _rest, name) => linesInCode(name, text);

const makefile: Reader = {
  found: /^(?:GNUmakefile|[mM]akefile)$/,
  given: /^(?:-[A-Za-z]*f|--(?:make)?file=?)/,
  lines: own,
};
const scripts: Reader = { found: /^package\.json$/, lines: (text, rest) => scriptsOf(text, rest) };
const javascript = code(/\.[cm]?[jt]sx?$/);
const python = code(/\.py$/);

const readers: Readonly<Record<string, Reader>> = {
  ...each('make gmake bmake', makefile),
  ...each('npm pnpm yarn bun npm-run-all run-s run-p', scripts),
  node: { ...scripts, behind: ['--run'] },
  deno: { ...scripts, found: /^(?:deno\.jsonc?|package\.json)$/, behind: ['task'] },
  composer: { ...scripts, found: /^composer\.json$/ },
  just: {
    found: /^\.?justfile$/i,
    given: /^(?:-f|--justfile=?)/,
    lines: (text) =>
      spelled(Array.from(text.matchAll(/^[ \t]+[@-]*(.+)|`([^`]+)`/gm), ([, one, two]) => one ?? two ?? '')),
  },
  rake: {
    found: /^rakefile(?:\.rb)?$/i,
    given: /^(?:-f|--rakefile=?)/,
    lines: (text) => spelled([...linesInCode('rake', text).lines, ...callsIn(text, 'ruby')]),
  },
  ...each('pytest py.test', python),
  ...each('pip pip3', code(/^setup\.py$/)),
  ...each('jest vitest mocha ava', javascript),
  go: code(/\.go$/, words('run test generate')),
  cargo: code(/\.rs$/, words('run r test t bench build b check c')),
  ...each('vi vim nvim view ex', { given: /^-[SsuU]/, lines: own }),
  ...each('psql pgcli', { given: /^(?:-f|--file=?)/, lines: own }),
  ...each('sqlite3 sqlite', { given: /^--?init$/, lines: own }),
  ...each('gdb lldb', { given: /^(?:-[xs]|--command=?|--source=?)/, lines: own }),
  ...each('emacs', { given: /^(?:-l|--load=?|--script=?)/, lines: own }),
  at: { given: /^-f/, lines: (text) => ({ lines: [text], guessed: false, unnamed: null }) },
};

function each(names: string, reader: Reader): Record<string, Reader> {
  return Object.fromEntries(words(names).map((name) => [name, reader]));
}

/** The files that a command reads so, among those that a line has written, and what it starts from the text of one. */
export function projectFiles([program, ...rest]: readonly CommandWord[]): {
  reads(file: string): boolean;
  lines(text: string): CodeLines;
} | null {
  const name = baseName(program?.text ?? '');
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (reader === undefined) return null;
  if (reader.behind !== undefined && !rest.some(({ text }) => reader.behind?.includes(text))) return null;
  const given = reader.given === undefined ? [] : givenBehind(reader.given, rest).map(({ text }) => baseName(text));
  return {
    reads: (file) => (given.length > 0 ? given.includes(file) : reader.found?.test(file) === true),
    lines: (text) => reader.lines(text, rest, name),
  };
}

const givenBehind = (option: RegExp, rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap(({ text }, index) => {
    const found = option.exec(text)?.[0];
    if (found === undefined) return [];
    return found === text ? rest.slice(index + 1, index + 2) : [literalWord(text.slice(found.length))];
  });

/** Scripts that package managers start by themselves. */
const lifecycle =
  /^(?:dev|pre|post)?(?:install|uninstall|prepare|publish|publishOnly|pack|version|dependencies)$|-cmd$/;
/** Words that stand for a script by another name. */
const shortened: Readonly<Record<string, string>> = { t: 'test', tst: 'test', 'install-test': 'test', it: 'test' };

/** The scripts of a package that the words of a command name, with those before and behind them; all where a word is open. */
function scriptsOf(text: string, rest: readonly CommandWord[]): CodeLines {
  const named = new Set(rest.flatMap((word) => [word.text, shortened[word.text] ?? word.text]));
  const all = rest.some((word) => word.open || word.filled === true || /[*{,]/.test(word.text));
  const lines = Object.entries(tableOf(text)).flatMap(([name, line]) =>
    all || lifecycle.test(name) || named.has(name) || named.has(name.replace(/^(?:pre|post)/, '')) ? [line].flat() : [],
  );
  return { lines: lines.filter((line): line is string => typeof line === 'string'), guessed: false, unnamed: null };
}

/** What the text holds under `scripts`, or `tasks`; nothing where it is no such document, which no manager would read. */
function tableOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    return { ...membersOf(document, 'scripts'), ...membersOf(document, 'tasks') };
  } catch {
    return {};
  }
}

function membersOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return {};
  const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  return typeof member === 'object' && member !== null ? { ...member } : {};
}
