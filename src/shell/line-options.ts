import type { CommandWord } from '../schema/command.ts';

/**
 * Options of ordinary programs whose value is started. No list grants them, since no table lists them; a rule that denies
 * should see all the same what they run.
 */

const words = (text: string): readonly string[] => text.split(' ');

/** By program: the options, as a word of their own, at the end of a bundle, or attached, a long one by `=`. */
const options: Readonly<Record<string, readonly string[]>> = {
  tar: words(
    '-I -F --to-command --use-compress-program --checkpoint-action --info-script --new-volume-script --rsh-command',
  ),
  rsync: words('-e --rsh --rsync-path'),
  ssh: ['-o'],
  scp: words('-o -S'),
  sftp: words('-o -S'),
  sort: words('--compress-program --compress-prog'),
  rg: words('--pre --hostname-bin'),
  man: words('-P --pager'),
  zip: words('-TT --unzip-command'),
  split: ['--filter'],
  pandoc: words('-F --filter --pdf-engine'),
  ag: ['--pager'],
  restic: ['--password-command'],
  borg: words('--rsh --remote-path'),
  rclone: words('--password-command --exec'),
  'yt-dlp': words('--exec --exec-before-download --downloader --external-downloader'),
  aria2c: words(
    '--on-bt-download-complete --on-download-complete --on-download-error --on-download-pause --on-download-start ' +
      '--on-download-stop',
  ),
  gpg: words('--photo-viewer --agent-program --pinentry-program'),
  wget: ['--use-askpass'],
  tcpdump: words('-z --postrotate-command'),
  cpio: ['--rsh-command'],
  go: words('-exec --exec -toolexec --toolexec -vettool --vettool'),
  ...Object.fromEntries(words('gcc g++ cc c++ clang clang++').map((name) => [name, ['-wrapper']])),
  ...Object.fromEntries(words('apt apt-get aptitude').map((name) => [name, words('-o --option')])),
  dpkg: words('--pre-invoke --post-invoke --status-logger'),
  ansible: words('-a --args'),
  just: words('--shell --command -c'),
  fzf: words('--preview --bind'),
  bat: ['--pager'],
  batcat: ['--pager'],
  ranger: ['--cmd'],
  hg: words('--config -c --command --tool'),
  svn: words('--diff-cmd --diff3-cmd --editor-cmd'),
  npm: words('--script-shell --shell'),
  // `cargo rustc` hands the words behind `--` on.
  cargo: words('--config -C --codegen'),
  rustc: words('-C --codegen'),
  rustdoc: words('-C --codegen'),
  fc: ['-e'],
  jobs: ['-x'],
  history: ['-s'],
  ...Object.fromEntries(
    words('nu xonsh elvish pwsh powershell').map((name) => [name, words('-c --command -Command --commands')]),
  ),
  bind: ['-x'],
  ...Object.fromEntries(words('nc ncat netcat').map((name) => [name, words('-e -c --exec --sh-exec')])),
  ...Object.fromEntries(words('mapfile readarray compgen complete').map((name) => [name, ['-C']])),
  ...Object.fromEntries(words('vi vim nvim view ex').map((name) => [name, words('-c --cmd')])),
};

/** Of `git`, by subcommand; those before it are settings. */
const gitOptions: Readonly<Record<string, readonly string[]>> = {
  rebase: words('-x --exec'),
  difftool: words('-x --extcmd'),
  grep: words('-O --open-files-in-pager'),
  clone: words('-u --upload-pack -c --config'),
  fetch: ['--upload-pack'],
  pull: ['--upload-pack'],
  'ls-remote': words('--upload-pack --exec'),
  push: words('--receive-pack --exec'),
  archive: ['--exec'],
  'send-email': words('--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd'),
  instaweb: words('-d --httpd'),
  daemon: ['--access-hook'],
  merge: ['--editor'],
  'filter-branch': words('--tree-filter --index-filter --env-filter --msg-filter --commit-filter --tag-name-filter'),
};

/** Settings by which `git` starts a program, by how their names end: each of its commands has some. */
const gitSetting =
  /^(?:pager|credential|gpg)\.|(?:command|cmd|editor|pager|program|hook|filter|driver|textconv|clean|smudge|process|helper|tunnel|pack|vcs|askpass|fsmonitor|gitproxy|external|httpd|smtpserver)$/is;

/** Options that most likely hold a line, by the end of their names, of programs that are in no table. */
const guessedOption =
  /^--(?:[\w-]*[-_])?(?:pager|exec|command|cmd|editor|preview|askpass|launcher|linker|renderer|run_under|prgbox)(?:=|$)/;

/** Of a program that is in no table: what may be a line, by the names of its options. */
export function guessedLines(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (name === 'git' || Object.hasOwn(options, name)) return [];
  return rest.flatMap((word, index) => {
    const found = guessedOption.exec(word.text)?.[0];
    if (found === undefined) return [];
    return found.endsWith('=') ? [cut(word, found.length)] : rest.slice(index + 1, index + 2);
  });
}

/** The lines that a command has started by its options. Linear in its words. */
export function lineOptions(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  if (name === 'git') return gitLines(rest);
  const own = Object.hasOwn(options, name) ? options[name] : undefined;
  if (own === undefined) return [];
  return valuesOf(own, rest).flatMap((value) => lineIn(name, value));
}

const valuesOf = (own: readonly string[], rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap((word, index) => {
    for (const option of own) {
      const from = behind(option, word.text);
      if (from === word.text.length) return rest.slice(index + 1, index + 2);
      if (from !== null) return [cut(word, from)];
    }
    return [];
  });

/** Where the value of an option begins in a word; at its end where that is the next one; null for another word. */
function behind(option: string, word: string): number | null {
  if (word === option) return word.length;
  if (option.startsWith('--')) return behindLong(option, word);
  if (word.startsWith(option)) return option.length;
  const bundle = option.length === 2 && /^-[A-Za-z]+/.exec(word);
  const at = bundle ? bundle[0].indexOf(option.charAt(1), 1) : -1;
  return at === -1 ? null : at + 1;
}

/** A long option, also shortened as most programs take it. Where it would be another one that is whole, it is that. */
function behindLong(option: string, word: string): number | null {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word : word.slice(0, equals);
  if (name.length < 3 || !option.startsWith(name) || wholeOptions.has(name)) return null;
  return equals === -1 ? word.length : equals + 1;
}

const wholeOptions: ReadonlySet<string> = new Set(words('--checkpoint --cmd'));

const cut = (word: CommandWord, from: number): CommandWord => ({ ...word, text: word.text.slice(from) });

/** The line that a value holds; none for a setting that starts nothing. */
function lineIn(name: string, value: CommandWord): readonly CommandWord[] {
  const { text } = value;
  const begins = (pattern: RegExp): readonly CommandWord[] => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [cut(value, found.length)];
  };
  switch (name) {
    case 'ssh':
    case 'scp':
    case 'sftp':
      return /^[A-Za-z]+[= ]/.test(text)
        ? begins(/^(?:proxy|local|knownhosts|remote)command[= ]/i)
        : name === 'ssh'
          ? []
          : [value];
    case 'tar':
      return /^(?:dot|echo|bell|sleep|ttyout|totals|wait)\b/.test(text) ? [] : begins(/^(?:exec=)?/);
    case 'sort':
    case 'rg':
    case 'man':
    case 'zip':
    case 'rsync':
    case 'split':
    case 'pandoc':
    case 'ag':
    case 'restic':
    case 'borg':
    case 'rclone':
    case 'aria2c':
    case 'gpg':
    case 'wget':
    case 'tcpdump':
    case 'nc':
    case 'ncat':
    case 'netcat':
    case 'cpio':
    case 'dpkg':
    case 'just':
    case 'bat':
    case 'batcat':
    case 'svn':
    case 'npm':
    case 'fc':
    case 'jobs':
    case 'history':
    case 'ansible':
    case 'mapfile':
    case 'readarray':
    case 'compgen':
    case 'complete':
      return [value];
    case 'gcc':
    case 'g++':
    case 'cc':
    case 'c++':
    case 'clang':
    case 'clang++':
      return [{ ...value, text: text.replaceAll(',', ' ') }];
    // `-vettool=x`
    case 'go':
      return begins(/^=?/);
    case 'apt':
    case 'apt-get':
    case 'aptitude':
      return /invoke|cmd|command|method|pager|proxy-auto-detect/i.test(text) ? begins(/^[^=]*=/) : [];
    case 'fzf':
      return /^[\w-]+:/.test(text)
        ? begins(/^[\w,-]+:(?:execute|execute-silent|become|reload|preview|transform)[(:]/).map(unclosed)
        : [value];
    // The line of another shell: `& program`, `^program`.
    case 'nu':
    case 'xonsh':
    case 'elvish':
    case 'pwsh':
    case 'powershell':
      return begins(/^[&^]?\s*/);
    case 'ranger':
      return begins(/^shell\s+(?:-\w+\s+)?/);
    case 'bind':
      return begins(/^[^:]*:\s*/);
    // `after_move:line`
    case 'yt-dlp':
      return begins(/^(?:[a-z_]+:)?/);
    case 'cargo':
    case 'rustc':
    case 'rustdoc':
      return cargoSetting(value);
    case 'hg':
      return /^[\w.-]+=/.test(text) ? hgSetting(value) : [value];
    default:
      return begins(/^:?!/);
  }
}

/** Without the parenthesis that closes an action, where nothing in the line has opened it. */
const unclosed = (line: CommandWord): CommandWord =>
  line.text.includes('(') ? line : { ...line, text: line.text.replace(/\)$/, '') };

/** `--config key="program"` of Cargo: what it starts in place of the compiler, or to run what was built. */
function cargoSetting(setting: CommandWord): readonly CommandWord[] {
  const found = /(?:rustc|rustdoc|wrapper|runner|linker|provider)["']?\s*=\s*\[?\s*/.exec(setting.text);
  if (found === null) return [];
  return [{ ...setting, text: setting.text.slice(found.index + found[0].length).replace(/["',\]]+/g, ' ') }];
}

/** `--config section.name=value` of Mercurial: an alias with `!`, a hook, a tool. */
function hgSetting(setting: CommandWord): readonly CommandWord[] {
  const [, key = '', mark = ''] = /^([\w.-]+)=(!?)/.exec(setting.text) ?? [];
  const value = cut(setting, key.length + 1 + mark.length);
  if (/^alias\./.test(key)) return mark === '' ? [{ ...value, text: `hg ${value.text}` }] : [value];
  return /^(?:hooks|extdiff|merge-tools|pager|ui\.(?:ssh|editor|merge)|diff-tools)\b/.test(key) ? [value] : [];
}

function gitLines(rest: readonly CommandWord[]): readonly CommandWord[] {
  const found: CommandWord[] = [];
  let at = 0;
  for (; at < rest.length && rest[at]?.text.startsWith('-') === true; at += 1) {
    const option = rest[at]?.text ?? '';
    const word = rest[at];
    if (word !== undefined && option.startsWith('--config-env=')) found.push(...settingFrom(cut(word, 13)));
    if (!/^-[cC]$|^--(?:git-dir|work-tree|namespace|config-env)$/.test(option)) continue;
    at += 1;
    const setting = rest[at];
    if (option === '--config-env' && setting !== undefined) found.push(...settingFrom(setting));
    if (option === '-c' && setting !== undefined) found.push(...settingLine(setting));
  }
  const subcommand = rest[at]?.text ?? '';
  const operands = rest.slice(at + 1);
  const own = Object.hasOwn(gitOptions, subcommand) ? gitOptions[subcommand] : undefined;
  // `git clone -c` takes a setting, every other one a line.
  const takesSetting = (word: CommandWord): boolean => subcommand === 'clone' && /^[\w-]+\..*=/.test(word.text);
  for (const value of valuesOf(own ?? [], operands)) {
    found.push(...(takesSetting(value) ? settingLine(value) : [value]));
  }
  // A transport that is a command: `ext::sh -c x`.
  found.push(...operands.flatMap((word) => (word.text.startsWith('ext::') ? [cut(word, 'ext::'.length)] : [])));
  if (subcommand === 'config') found.push(...configLine(operands));
  const runs = subcommand === 'bisect' ? 'run' : subcommand === 'submodule' ? 'foreach' : null;
  const run = runs === null ? -1 : operands.findIndex(({ text }) => text === runs);
  if (subcommand === 'for-each-repo') found.push(...joined([{ ...gitWord }, ...operandsBehind(operands)]));
  if (run !== -1) found.push(...joined(operands.slice(run + 1).filter(({ text }) => text !== '--recursive')));
  return found;
}

const gitWord: CommandWord = { text: 'git', path: 'git', open: false };

/** What stands behind the options of `for-each-repo`. */
function operandsBehind(words: readonly CommandWord[]): readonly CommandWord[] {
  const at = words.findIndex(({ text }, index) => !text.startsWith('-') && words[index - 1]?.text !== '--config');
  return at === -1 ? [] : words.slice(at);
}

/** `--config-env name=VARIABLE`: a setting whose value the variable holds. */
function settingFrom(setting: CommandWord): readonly CommandWord[] {
  const [, key = '', name = ''] = /^(.*)=(\w+)$/s.exec(setting.text) ?? [];
  const value = `$${name}`;
  return settingLine({ text: `${key}=${value}`, path: value, open: true });
}

/** An alias starts a program with `!`; so may the value of any other setting. */
export function settingLine(setting: CommandWord): readonly CommandWord[] {
  const equals = setting.text.indexOf('=');
  const key = setting.text.slice(0, Math.max(equals, 0));
  const value = cut(setting, equals + 1);
  if (value.text.startsWith('!')) return [cut(value, 1)];
  // Any other alias is the rest of a `git` line.
  if (/^alias\..*[^.]$/is.test(key)) return [{ ...value, text: `git ${value.text}` }];
  return gitSetting.test(key) ? [value] : [];
}

/** `git config name value`, also behind `set`: what `-c name=value` says for one command. */
function configLine(operands: readonly CommandWord[]): readonly CommandWord[] {
  const at = operands.findIndex(({ text }) => /^[\w-]+\..*[\w-]$/s.test(text));
  const [name, value] = at === -1 ? [] : operands.slice(at);
  return name === undefined || value === undefined ? [] : settingLine({ ...value, text: `${name.text}=${value.text}` });
}

function joined(line: readonly CommandWord[]): readonly CommandWord[] {
  const text = line.map((word) => word.text).join(' ');
  return line.length === 0 ? [] : [{ text, path: text, open: line.some((word) => word.open) }];
}
