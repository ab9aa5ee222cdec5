/** Shells, interpreters and builtins (02 §9.3, §9.5). Names are basenames without extension. */

const words = (text: string): readonly string[] => text.split(' ');

export const shells: ReadonlySet<string> = new Set(
  words('sh bash dash ash ksh zsh fish rbash mksh lksh rksh oksh pdksh yash posh csh tcsh'),
);

const interpreters: ReadonlySet<string> = new Set([
  ...shells,
  ...words(
    'elvish nu xonsh python python3 pypy ipython bpython node nodejs deno bun tsx ts-node qjs ruby jruby irb pry perl raku ' +
      'php lua luajit awk gawk mawk nawk original-awk goawk osascript powershell pwsh cmd tclsh wish Rscript R julia guile ' +
      'racket sbcl clisp ecl octave groovy scala kotlin jshell jrunscript erl escript elixir iex ghci runghc runhaskell ocaml ' +
      'swift dart zx expect',
  ),
]);

/** Versions count too: `python3.11`. */
export const isInterpreter = (name: string): boolean =>
  interpreters.has(name) || interpreters.has(name.replace(/-?[0-9][0-9.]*$/, ''));

/** Builtins of the shell that run what their words say, or change what later words mean: there is no file to grant. */
export const builtins: ReadonlySet<string> = new Set(
  words('cd export alias unalias hash set unset trap eval source exec command builtin shopt enable .'),
);

/** The name that a program word goes by when it is read: its last segment, without what Windows puts behind it. */
export const baseName = (word: string): string =>
  word.slice(word.lastIndexOf('/') + 1).replace(/\.(exe|cmd|bat)$/i, '');

/** GNU programs that start others, as systems call them that have such programs of their own: `gtimeout`. */
export const gnuName = (name: string): string =>
  /^g(?:env|nice|nohup|timeout|stdbuf|chroot|xargs|find|time)$/.test(name) ? name.slice(1) : name;
