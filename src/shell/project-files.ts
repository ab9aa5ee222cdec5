import type { CommandWord } from '../schema/command.ts';
import { type CodeLines, linesInCode } from './code-lines.ts';
import { firstGroups } from '../text/first-groups.ts';
import { isGitConfig, linesOfConfig } from './git-lines.ts';
import { buildReaders, cargoTasks, settings } from './build-files.ts';
import { code, each, own, type Reader, type Readers, spelled } from './file-reader.ts';
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

/** Commands of a program by which it reads others from a file. */
const sourced = /(?:^|[\s;|:])source[ \t]+["']?([^\s"';]+)/g;
const editing =
  /(?:^|[\s:|+])(?:so(?:u(?:r(?:ce?)?)?)?|ru(?:ntime)?|luafile|py(?:thon)?3?f(?:ile)?|rubyfile|perlfile)!?[ \t]+([^\s|]+)/g;
const makefile: Reader = {
  found: /^(?:GNUmakefile|[mM]akefile)$/,
  given: /^(?:-[A-Za-z]*f|--(?:make)?file=?)/,
  within: /^[ \t]*[-s]?include[ \t]+(.+)/gm,
  lines: own,
};
/** Settings of `ssh` that hold a line, and commands of `sftp`. */
const connection: Reader = {
  given: /^-[46AaCfGgKkMNnpqrsTtVvXxYy]*[Fb]/,
  within: /^[ \t]*include[ \t=]+(.+)/gim,
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

const readers: Readers = {
  ...each('make gmake bmake', makefile),
  ...each('npm pnpm yarn bun npm-run-all run-s run-p lerna turbo nx', scripts),
  ...each('node', { ...scripts, behind: ['--run'] }),
  ...each('deno', { ...scripts, found: /^(?:deno\.jsonc?|package\.json)$/, behind: ['task'] }),
  ...each('composer', { ...scripts, found: /^composer\.json$/ }),
  ...each('just', {
    found: /^\.?justfile$/i,
    given: /^(?:-f|--justfile=?)/,
    lines: (text) =>
      spelled(Array.from(text.matchAll(/^[ \t]+[@-]*(.+)|`([^`]+)`/gm), ([, one, two]) => one ?? two ?? '')),
  }),
  ...each('rake', {
    found: /^rakefile(?:\.rb)?$/i,
    given: /^(?:-f|--rakefile=?)/,
    lines: (text) => spelled([...linesInCode('rake', text).lines, ...callsIn(text, 'ruby')]),
  }),
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
  ...each('mix', code(/\.exs?$/)),
  ...each('phpunit pest artisan', code(/\.php$/)),
  ...each('sbt', { found: /\.(?:sbt|scala)$/, lines: (text) => linesInCode('scala', text) }),
  ...each('meson', code(/^meson\.build$/)),
  ...each('scons', code(/^SCons(?:truct|cript)$/)),
  ...each('go', {
    found: /\.go$/,
    behind: words('run test generate'),
    lines: (text, rest, name) => {
      const generates = rest.some((word) => word.text === 'generate');
      return spelled([
        ...callsIn(text, name),
        ...(generates ? firstGroups(/^\/\/go:generate[ \t]+(.+)/gm, text, 256) : []),
      ]);
    },
  }),
  ...each('tcc', code(/\.c$/, ['-run'])),
  ...each('java', code(/\.java$/)),
  ...each('dotnet', code(/\.cs$/, words('run test script watch'))),
  ...each('nim crystal zig v odin', code(/\.(?:nim|cr|zig|v|odin)$/, words('r run c build test'))),
  ...buildReaders,
  ...each('git', {
    found: hooks,
    given: /^include(?:if\..*)?\.path=/i,
    behind: /hookspath|^include.*path/i,
    within: /^[ \t]*path[ \t]*=[ \t]*["']?([^"'\n]+)/gim,
    lines: (text) =>
      isGitConfig(text)
        ? spelled(linesOfConfig(text).map((word) => word.text))
        : { lines: [text], guessed: false, unnamed: null },
  }),
  ...each('ssh scp sftp sshfs autossh', connection),
  ...each('lftp', { given: /^-f/, within: sourced, lines: own }),
  ...each('gnuplot', { operands: true, within: /\b(?:load|call)[ \t]+["']([^"']+)/g, lines: own }),
  ...each('tex pdftex latex pdflatex xelatex lualatex latexmk', {
    operands: true,
    within: /\\(?:input|include)\b[ \t]*\{?[ \t]*([^}\s]+)/g,
    lines: (text) => linesInCode('tex', text),
  }),
  ...each('crontab', { operands: true, lines: own }),
  ...each(
    'cargo',
    code(/\.rs$/, words('run r test t bench build b check c')),
    { found: /^config(?:\.toml)?$/, lines: settings('runner|linker|rustc|rustdoc|rustc-(?:workspace-)?wrapper') },
    { ...cargoTasks, behind: ['make'] },
  ),
  ...each('vi vim view ex', { found: /^\.(?:vim|ex)rc$/, given: /^-[SsuU]/, within: editing, lines: own }),
  ...each('nvim', { given: /^-[SsuUl]/, within: editing, lines: own }),
  ...each('tmux', {
    found: /^\.tmux\.conf$/,
    given: /^-f/,
    within: /\bsource(?:-file)?[ \t]+(?:-\w+[ \t]+){0,16}["']?([^\s"';]+)/g,
    lines: (text) => spelled(text.split('\n').map((line) => `tmux ${line}`)),
  }),
  ...each('screen', {
    found: /^\.screenrc$/,
    given: /^-c/,
    lines: (text) => spelled(text.split('\n').map((line) => `screen ${line}`)),
  }),
  ...each('psql pgcli usql', {
    found: /^\.psqlrc$/,
    given: /^(?:-f|--file=?)/,
    within: /\\(?:ir?|include(?:_relative)?)[ \t]+'?([^\s']+)/g,
    lines: own,
  }),
  ...each('sqlite3 sqlite duckdb', {
    found: /^\.(?:sqlite|duckdb)rc$/,
    given: /^--?init$/,
    within: /^[ \t]*\.rea?d?[ \t]+["']?([^\s"'|]+)/gm,
    lines: own,
  }),
  ...each('mysql mariadb', { within: /(?:^|[;\n])[ \t]*(?:source|\\\.)[ \t]+([^\s;]+)/g, lines: own }),
  ...each('gdb lldb', {
    found: /^\.(?:gdb|lldb)init$/,
    given: /^(?:-[xs]|--command=?|--source=?)/,
    within: sourced,
    lines: own,
  }),
  ...each('emacs emacsclient', {
    given: /^(?:-l|--load=?|--script=?)/,
    within: /\(load(?:-file|-library)?[ \t]+"([^"]+)/g,
    lines: own,
  }),
  ...each('tclsh wish expect', { within: sourced, lines: own }),
  ...each('mutt neomutt', { given: /^-F/, within: sourced, lines: own }),
  ...each('at', { given: /^-f/, lines: (text) => ({ lines: [text], guessed: false, unnamed: null }) }),
};

/** The files of a kind that a command reads so. */
export type ProjectFiles = {
  /** Whether it looks for one of this name by itself, or is given it in its words. */
  reads(file: string): boolean;
  /** Whether it is one that these texts name as it reads them. */
  naming(texts: readonly string[]): (file: string) => boolean;
  /** What it starts from the text of one. */
  lines(text: string): CodeLines;
};

/** By the kinds that it reads; files count among those that a line has written. */
export function projectFiles([program, ...rest]: readonly CommandWord[]): readonly ProjectFiles[] {
  const name = baseName(program?.text ?? '');
  const mine = Object.hasOwn(readers, name) ? (readers[name] ?? []) : [];
  return mine.flatMap(({ found, given: option, within, operands, behind, lines }) => {
    if (behind !== undefined && !isBehind(behind, rest)) return [];
    const given = option === undefined ? [] : givenBehind(option, rest).map(({ text }) => baseName(text));
    const isOperand = oneOf(operands === true ? rest.map(({ text }) => baseName(text)) : []);
    return {
      reads: (file) => (given.length > 0 ? given.includes(file) : isOperand(file) || found?.test(file) === true),
      naming: (texts) => oneOf(within === undefined ? [] : texts.flatMap((text) => namesIn(within, text))),
      lines: (text) => lines(text, rest, name),
    };
  });
}

const namesIn = (within: RegExp, text: string): readonly string[] =>
  firstGroups(within, text, 256).flatMap((names) => names.trim().split(/\s+/).map(baseName));

/** Also without what it ends in. */
function oneOf(names: readonly string[]): (file: string) => boolean {
  const all = new Set(names);
  return (file) => all.has(file) || all.has(stemOf(file));
}

const isBehind = (wanted: readonly string[] | RegExp, rest: readonly CommandWord[]): boolean =>
  rest.some(({ text }) => (wanted instanceof RegExp ? wanted.test(text) : wanted.includes(text)));

const givenBehind = (option: RegExp, rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap(({ text }, index) => {
    const found = option.exec(text)?.[0];
    if (found === undefined) return [];
    return found === text ? rest.slice(index + 1, index + 2) : [literalWord(text.slice(found.length))];
  });
