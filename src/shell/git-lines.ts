import type { CommandWord } from '../schema/command.ts';
import { cut, valuesOf } from './option-values.ts';
import { literalWord } from './words.ts';

/** What the words of `git` have it start: options of its subcommands, settings, transports. */

const words = (text: string): readonly string[] => text.split(' ');

/** By subcommand; those before it are settings. */
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
  svn: ['--authors-prog'],
  merge: ['--editor'],
  'filter-branch': words('--tree-filter --index-filter --env-filter --msg-filter --commit-filter --tag-name-filter'),
};

/** Settings by which `git` starts a program, by how their names end: each of its commands has some. */
const gitSetting =
  /^(?:pager|credential|gpg)\.|(?:command|cmd|editor|pager|program|hook|filter|driver|textconv|clean|smudge|process|helper|tunnel|pack|vcs|askpass|fsmonitor|gitproxy|external|httpd|smtpserver)$/is;

/** Of programs that have a section of their own, and their files in it. */
const gitPath = /^(?:man|browser|difftool|mergetool|guitool|lfs\.customtransfer)\..*\.(?:path|args)$/is;

/** The lines that a `git` is given by its words. Linear in them. */
export function gitLines(rest: readonly CommandWord[]): readonly CommandWord[] {
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
  found.push(
    ...operands.flatMap((word) => (word.text.startsWith('ext::') ? [unescaped(cut(word, 'ext::'.length))] : [])),
  );
  if (subcommand === 'remote-ext') found.push(...operands.map(unescaped));
  if (subcommand === 'config') found.push(...configLine(operands));
  const runs = subcommand === 'bisect' ? 'run' : /^submodule(?:--helper)?$/.test(subcommand) ? 'foreach' : null;
  const run = runs === null ? -1 : operands.findIndex(({ text }) => text === runs);
  if (subcommand === 'for-each-repo') found.push(...joined([{ ...gitWord }, ...operandsBehind(operands)]));
  if (run !== -1) found.push(...joined(operands.slice(run + 1).filter(({ text }) => text !== '--recursive')));
  return found;
}

/** In the command of a transport `% ` is a blank, and other letters behind the mark stand for words of `git`. */
const unescaped = (word: CommandWord): CommandWord => ({
  ...word,
  text: word.text.replace(/%([ %GSVs])/g, (_, mark: string) => (mark === ' ' || mark === '%' ? mark : '')),
});

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
  // The transport that takes the place of an address.
  const [, transport = null] = /^url\.ext::(.*)\.(?:pushinsteadof|insteadof)$/is.exec(key) ?? [];
  if (transport !== null) return [unescaped({ ...value, text: transport })];
  return gitSetting.test(key) || gitPath.test(key) ? [value] : [];
}

/** Whether a text is a file of settings: it begins with the name of a section. */
export const isGitConfig = (text: string): boolean => /^(?:\s|[#;][^\n]*\n)*\[[\w.-]+(?:[ \t]+"[^"\n]*")?\]/.test(text);

/** What the settings of a file start. */
export function linesOfConfig(text: string): readonly CommandWord[] {
  let section = '';
  // A line that ends with a backslash goes on in the next one.
  return text
    .replace(/\\\n/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, head, name = '', key, value = ''] =
        /^[ \t]*(?:\[([\w.-]+)(?:[ \t]+"([^"]*)")?\])?[ \t]*(?:([\w-]+)[ \t]*=[ \t]*(.*))?$/.exec(line) ?? [];
      if (head !== undefined) section = name === '' ? head : `${head}.${name}`;
      if (key === undefined) return [];
      return settingLine(literalWord(`${section}.${key}=${value.replace(/^"(.*)"[ \t]*$/, '$1')}`));
    });
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
