import type { Repository } from '../schema/policy.ts';

/** Granted `git` runs hardened (02 §9.8): nothing that a repository configures may start a program. */

const globals: readonly string[] = [
  '--no-pager',
  '--no-optional-locks',
  ...[
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'core.pager=cat',
    'core.editor=false',
    'core.askPass=',
    'core.sshCommand=false',
    'credential.helper=',
    'diff.external=',
    'protocol.ext.allow=never',
    'protocol.allow=user',
    'log.showSignature=false',
    // `%G?` in a format asks who signed.
    ...['', 'openpgp.', 'x509.', 'ssh.'].map((format) => `gpg.${format}program=false`),
    'diff.submodule=short',
    'status.submoduleSummary=false',
    'submodule.recurse=false',
    // Its threads begin where the index itself says, at names that nobody has looked at (`gate/git-index.ts`).
    'index.threads=1',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Options behind a subcommand. A repository within the repository has configuration of its own, which is not looked at:
 * whatever is changed in its working tree stays out of view, because `git` would start another one in it to see.
 */
const noDrivers = ['--no-ext-diff', '--no-textconv'] as const;
const noInner = '--ignore-submodules=dirty';
const behind: Readonly<Record<string, readonly string[]>> = {
  log: [...noDrivers, noInner],
  show: [...noDrivers, noInner],
  diff: [...noDrivers, noInner],
  // A file that holds no list of revisions would be told in the error.
  blame: [...noDrivers, '--no-ignore-revs-file'],
  status: [noInner],
};

/**
 * Variables of a hardened `git`; all others that begin with `GIT_` are taken away. No transport is allowed: for an object
 * that is missing, a partial clone would turn to whatever place its configuration names.
 */
export const gitEnvironment: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
};

/** The words of a granted `git` as they run: hardening stands behind the program and behind the subcommand. */
export function hardened(words: readonly string[]): readonly string[] {
  const [program = '', subcommand = '', ...rest] = words;
  const own = Object.hasOwn(behind, subcommand) ? (behind[subcommand] ?? []) : [];
  return [program, ...globals, subcommand, ...own, ...rest];
}

/**
 * Why the repository around a call withdraws the allow, or null. Where there is none `git` tells so and ends, but for
 * `git diff`, which then compares any two files, and directories with all they hold.
 */
export function repositoryProblem(repository: Repository | null, subcommand: string): string | null {
  if (repository === null) return subcommand === 'diff' ? 'git_config: there is no repository here' : null;
  if (repository.outside) return 'git_config: the git directory, or a part of it, lies elsewhere';
  for (const { path, text } of repository.configs) {
    const entries = text === null ? null : parseConfig(text);
    if (entries === null) return `git_config: ${path} cannot be read`;
    const bad = entries.find(startsProgram);
    if (bad !== undefined) return `git_config: ${bad.key}`;
  }
  return repository.namesOutside === true ? 'git_config: the index names a file outside, or cannot be read' : null;
}

/** How long the names of objects are; the last setting counts. */
export function objectNameBytes(configs: Repository['configs']): number {
  const formats = configs
    .flatMap(({ text }) => (text === null ? [] : (parseConfig(text) ?? [])))
    .filter(({ key }) => key.toLowerCase() === 'extensions.objectformat');
  return formats.at(-1)?.value.toLowerCase() === 'sha256' ? 32 : 20;
}

type Entry = { readonly key: string; readonly value: string };

/** Keys by which a repository starts a program, leads to other configuration, or to a file or place elsewhere (lower case). */
const dangerous =
  /^(include|includeif|alias|credential|uploadpack|url)\.|^filter\.(.*\.)?(clean|smudge|process)$|^diff\.(.*\.)?(textconv|command)$|^merge\.(.*\.)?driver$|^core\.(attributesfile|sshcommand|gitproxy|editor|askpass|pager|hookspath|worktree)$|^mailmap\.file$|^gpg.*\.program$|^remote\.(.*\.)?(vcs|uploadpack|receivepack)$/s;

/** Whether by a setting `git` starts a program, or takes its settings or hooks from elsewhere. */
function startsProgram({ key, value }: Entry): boolean {
  const folded = key.toLowerCase();
  if (folded === 'core.fsmonitor') return !/^(false|no|off|0)$/i.test(value);
  if (/^submodule\.(.*\.)?update$/s.test(folded)) return value.startsWith('!');
  return dangerous.test(folded);
}

/** Reads a git configuration file: `section.subsection.key` with its value; null when it breaks git's grammar. */
function parseConfig(source: string): readonly Entry[] | null {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  if (text.includes('\0')) return null;
  const entries: Entry[] = [];
  let section: string | null = null;
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === '#' || char === ';') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end + 1;
    } else if (char === '[') {
      const header = /\[[ \t]*([A-Za-z0-9.-]+)[ \t]*(?:"((?:[^"\\\n]|\\[^\n])*)")?[ \t]*\]/y;
      header.lastIndex = at;
      const found = header.exec(text);
      if (found === null) return null;
      section = found[2] === undefined ? (found[1] ?? '') : `${found[1]}.${found[2].replace(/\\(.)/g, '$1')}`;
      at += found[0].length;
    } else {
      const name = /[A-Za-z][A-Za-z0-9-]*/y;
      name.lastIndex = at;
      const found = name.exec(text);
      if (found === null || section === null) return null;
      const value = readValue(text, at + found[0].length);
      if (value === null) return null;
      entries.push({ key: `${section}.${found[0]}`, value: value.text });
      at = value.end;
    }
  }
  return entries;
}

/** What stands behind a name; a name alone is `true`. */
function readValue(text: string, from: number): { readonly text: string; readonly end: number } | null {
  const start = /[ \t]*(=)?[ \t]*/y;
  start.lastIndex = from;
  const found = start.exec(text);
  let at = from + (found?.[0].length ?? 0);
  if (found?.[1] === undefined) {
    const rest = /(?:[#;][^\n]*)?(?:\n|$)/y;
    rest.lastIndex = at;
    const end = rest.exec(text);
    return end === null ? null : { text: 'true', end: at + end[0].length };
  }
  let value = '';
  let quoted = false;
  for (; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\n') {
      if (quoted) return null;
      break;
    }
    if (char === '\\') {
      at += 1;
      const escaped = text.charAt(at);
      if (escaped === '\n') continue;
      if (!'ntb"\\'.includes(escaped) || escaped === '') return null;
      value += escaped;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (!quoted && (char === '#' || char === ';')) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
      break;
    } else {
      value += char;
    }
  }
  return quoted ? null : { text: value.trimEnd(), end: at + 1 };
}
