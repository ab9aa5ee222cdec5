import type { CommandWord } from '../schema/command.ts';
import { type CodeLines, linesInCode } from './code-lines.ts';
import { firstGroups } from '../text/first-groups.ts';
import { isGitConfig, linesOfConfig } from './git-lines.ts';
import { buildReaders } from './build-files.ts';
import { code, each, own, type Reader, spelled } from './file-reader.ts';
import { stemOf } from './modules.ts';
import { scriptsOf } from './package-scripts.ts';
import { baseName } from './programs.ts';
import { callsIn } from './spawn-calls.ts';
import { literalWord } from './words.ts';

/**
 * Files from which a program starts what they hold, and that it looks for by their names or takes behind an option: makefiles,
 * the scripts of a package, the modules of a language, commands of an editor. They count only where the line has written them.
 */

const words = (text: string): readonly string[] => text.split(' ');

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
/** What `git` starts by itself where it is told of a directory of such files. */
const hooks =
  /^(?:(?:pre|post)-[a-z-]+|commit-msg|prepare-commit-msg|applypatch-msg|update|reference-transaction|fsmonitor-watchman)$/;
const ruby = (found: RegExp): Reader => ({ found, lines: (text) => spelled(callsIn(text, 'ruby')) });
/** Settings of a tool that are code. */
const config = code(/(?:\.config|rc|\.conf|^gulpfile(?:\.babel)?|^gruntfile)\.[cm]?[jt]s$/i);
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
  ...each(
    'pytest py.test nox inv invoke flask gunicorn uvicorn hypercorn celery alembic sphinx-build scrapy locust',
    python,
  ),
  ...each('pip pip3', code(/^setup\.py$/)),
  ...each('jest vitest mocha ava', javascript),
  ...each(
    'webpack webpack-cli vite eslint rollup babel prettier gulp grunt next nuxt astro playwright cypress tsup postcss ' +
      'tailwindcss karma stylelint',
    config,
  ),
  ...each('bundle rspec rails cucumber jekyll', ruby(/^Gemfile$|\.rb$|\.gemspec$/)),
  ...each(
    'pod fastlane vagrant guard cap thor brew gem',
    ruby(/^(?:Pod|Fast|Vagrant|Guard|Cap|Thor|Brew)file$|\.gemspec$/),
  ),
  mix: code(/\.exs?$/),
  ...each('phpunit pest artisan', code(/\.php$/)),
  sbt: { found: /\.(?:sbt|scala)$/, lines: (text) => linesInCode('scala', text) },
  meson: code(/^meson\.build$/),
  scons: code(/^SCons(?:truct|cript)$/),
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
  ...buildReaders,
  git: {
    found: hooks,
    given: /^include(?:if\..*)?\.path=/i,
    behind: /hookspath|^include.*path/i,
    lines: (text) =>
      isGitConfig(text)
        ? spelled(linesOfConfig(text).map((word) => word.text))
        : { lines: [text], guessed: false, unnamed: null },
  },
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
  screen: { given: /^-c/, lines: (text) => spelled(text.split('\n').map((line) => `screen ${line}`)) },
  ...each('psql pgcli usql', {
    given: /^(?:-f|--file=?)/,
    within: /\\(?:ir?|include(?:_relative)?)[ \t]+'?([^\s']+)/g,
    lines: own,
  }),
  ...each('sqlite3 sqlite duckdb', {
    given: /^--?init$/,
    within: /^[ \t]*\.rea?d?[ \t]+["']?([^\s"'|]+)/gm,
    lines: own,
  }),
  ...each('mysql mariadb', { within: /(?:^|[;\n])[ \t]*(?:source|\\\.)[ \t]+([^\s;]+)/g, lines: own }),
  ...each('gdb lldb', { given: /^(?:-[xs]|--command=?|--source=?)/, lines: own }),
  ...each('emacs', { given: /^(?:-l|--load=?|--script=?)/, lines: own }),
  at: { given: /^-f/, lines: (text) => ({ lines: [text], guessed: false, unnamed: null }) },
};

/** The files that a command reads so, among those that a line has written, and what it starts from the text of one. */
export function projectFiles([program, ...rest]: readonly CommandWord[]): {
  reads(file: string): boolean;
  lines(text: string): CodeLines;
} | null {
  const name = baseName(program?.text ?? '');
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (reader === undefined) return null;
  if (reader.behind !== undefined && !isBehind(reader.behind, rest)) return null;
  const given = reader.given === undefined ? [] : givenBehind(reader.given, rest).map(({ text }) => baseName(text));
  const { within } = reader;
  const inside =
    within === undefined
      ? []
      : rest.flatMap(({ text }) => firstGroups(within, text, 256).map((file) => baseName(file)));
  const operands = reader.operands === true ? rest.map(({ text }) => baseName(text)) : [];
  return {
    reads: (file) =>
      inside.includes(file) ||
      (given.length > 0
        ? given.includes(file)
        : operands.includes(file) || operands.includes(stemOf(file)) || reader.found?.test(file) === true),
    lines: (text) => reader.lines(text, rest, name),
  };
}

const isBehind = (wanted: readonly string[] | RegExp, rest: readonly CommandWord[]): boolean =>
  rest.some(({ text }) => (wanted instanceof RegExp ? wanted.test(text) : wanted.includes(text)));

const givenBehind = (option: RegExp, rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap(({ text }, index) => {
    const found = option.exec(text)?.[0];
    if (found === undefined) return [];
    return found === text ? rest.slice(index + 1, index + 2) : [literalWord(text.slice(found.length))];
  });
