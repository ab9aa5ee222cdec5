import type { CommandWord } from '../schema/command.ts';
import { type CodeLines, linesInCode } from './code-lines.ts';
import { firstGroups } from '../text/first-groups.ts';
import { linesOfConfig } from './git-lines.ts';
import { scriptsOf } from './package-scripts.ts';
import { baseName } from './programs.ts';
import { callsIn } from './spawn-calls.ts';
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
  /** Its operands are such files, also without what their names end in. */
  readonly operands?: true;
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
/** Settings of `ssh` that hold a line, and commands of `sftp`. */
const connection: Reader = {
  given: /^-[46AaCfGgKkMNnpqrsTtVvXxYy]*[Fb]/,
  lines: (text) =>
    spelled([
      ...firstGroups(
        /^[ \t]*(?:(?:proxy|local|remote|knownhosts)command|xauthlocation)[ \t]*[= \t][ \t]*(.+)/gim,
        text,
        256,
      ),
      ...firstGroups(/^[ \t]*match\b.*?\bexec[ \t=]+("[^"]*"|\S+)/gim, text, 256).map((line) =>
        line.replaceAll('"', ''),
      ),
      ...linesInCode('sftp', text).lines,
    ]),
};
const scripts: Reader = { found: /^package\.json$/, lines: (text, rest) => scriptsOf(text, rest) };
const javascript = code(/\.[cm]?[jt]sx?$/);
const python = code(/\.py$/);

const readers: Readonly<Record<string, Reader>> = {
  ...each('make gmake bmake', makefile),
  ...each('npm pnpm yarn bun npm-run-all run-s run-p lerna turbo nx', scripts),
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
  ...each('pytest py.test nox inv invoke', python),
  ...each('pip pip3', code(/^setup\.py$/)),
  ...each('jest vitest mocha ava', javascript),
  go: {
    found: /\.go$/,
    behind: words('run test generate'),
    lines: (text, rest, name) => {
      const generates = rest.some((word) => word.text === 'generate');
      return spelled([
        ...callsIn(text, name),
        ...(generates ? firstGroups(/^\/\/go:generate[ \t]+(.+)/gm, text, 256) : []),
      ]);
    },
  },
  tcc: code(/\.c$/, ['-run']),
  java: code(/\.java$/),
  ...each('dotnet', code(/\.cs$/, words('run test script watch'))),
  ...each('nim crystal zig v odin', code(/\.(?:nim|cr|zig|v|odin)$/, words('r run c build test'))),
  ...each('gradle gradlew', {
    found: /\.gradle(?:\.kts)?$/,
    lines: (text) =>
      spelled([
        ...linesInCode('groovy', text).lines,
        ...firstGroups(/\b(?:commandLine|executable)\b[ \t(=]*["']([^"'\n]+)/g, text, 256),
      ]),
  }),
  ...each('mvn mvnw', {
    found: /^pom\.xml$/,
    lines: (text) => spelled(firstGroups(/<(?:executable|exec)>\s*([^<]+)</g, text, 256)),
  }),
  cmake: {
    found: /^CMakeLists\.txt$|\.cmake$/,
    lines: (text) => spelled(firstGroups(/\bCOMMAND\s+([^)\n]+)/g, text, 256)),
  },
  ...each('foreman honcho overmind hivemind', {
    found: /^Procfile/,
    lines: (text) => spelled(firstGroups(/^[\w-]+:[ \t]*(.+)/gm, text, 256)),
  }),
  'ansible-playbook': {
    operands: true,
    lines: (text) =>
      spelled(
        firstGroups(/^[ \t-]*(?:ansible\.builtin\.)?(?:shell|command|raw|cmd):[ \t]*["']?(.+?)["']?$/gm, text, 256),
      ),
  },
  git: { given: /^include(?:if\..*)?\.path=/i, lines: (text) => spelled(linesOfConfig(text).map((word) => word.text)) },
  ...each('ssh scp sftp sshfs autossh', connection),
  lftp: { given: /^-f/, lines: own },
  gnuplot: { operands: true, lines: own },
  ...each('tex pdftex latex pdflatex xelatex lualatex latexmk', {
    operands: true,
    lines: (text) => linesInCode('tex', text),
  }),
  crontab: { operands: true, lines: own },
  cargo: code(/\.rs$/, words('run r test t bench build b check c')),
  ...each('vi vim view ex', { given: /^-[SsuU]/, lines: own }),
  nvim: { given: /^-[SsuUl]/, lines: own },
  tmux: { given: /^-f/, lines: (text) => spelled(text.split('\n').map((line) => `tmux ${line}`)) },
  nodemon: {
    found: /^nodemon\.json$/,
    lines: (text) => spelled(firstGroups(/"exec"\s*:\s*"((?:[^"\\]|\\.)*)"/g, text, 256)),
  },
  task: {
    found: /^taskfile(?:\.dist)?\.ya?ml$/i,
    lines: (text) => spelled(firstGroups(/^[ \t]*(?:-[ \t]+)?(?:cmd:|sh:|-)[ \t]*["']?(.+?)["']?$/gm, text, 256)),
  },
  ...each('psql pgcli usql', { given: /^(?:-f|--file=?)/, lines: own }),
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
  const operands = reader.operands === true ? rest.map(({ text }) => baseName(text)) : [];
  return {
    reads: (file) =>
      given.length > 0
        ? given.includes(file)
        : operands.includes(file) || operands.includes(stemOf(file)) || reader.found?.test(file) === true,
    lines: (text) => reader.lines(text, rest, name),
  };
}

const stemOf = (file: string): string => file.replace(/(?<=.)\.\w+$/, '');

const givenBehind = (option: RegExp, rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap(({ text }, index) => {
    const found = option.exec(text)?.[0];
    if (found === undefined) return [];
    return found === text ? rest.slice(index + 1, index + 2) : [literalWord(text.slice(found.length))];
  });
