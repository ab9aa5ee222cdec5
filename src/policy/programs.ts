/** Programs that the policy knows by name (02 §9.5, §9.7). Names are basenames without extension. */

const always: readonly string[] = [];

/**
 * Launchers: programs that start another one named by their words. A list restricts it to calls with one of these
 * subcommands; an empty one means every call.
 */
const launchers: Readonly<Record<string, readonly string[]>> = {
  env: always,
  nice: always,
  ionice: always,
  nohup: always,
  setsid: always,
  timeout: always,
  stdbuf: always,
  time: always,
  command: always,
  builtin: always,
  exec: always,
  eval: always,
  trap: always,
  source: always,
  '.': always,
  sudo: always,
  doas: always,
  su: always,
  runuser: always,
  chroot: always,
  unshare: always,
  nsenter: always,
  strace: always,
  ltrace: always,
  watch: always,
  script: always,
  flock: always,
  xargs: always,
  parallel: always,
  busybox: always,
  toybox: always,
  ssh: always,
  docker: ['run', 'exec'],
  podman: ['run', 'exec'],
  npx: always,
  bunx: always,
  pnpm: ['dlx', 'exec'],
  yarn: ['dlx'],
  uvx: always,
  pipx: ['run'],
  direnv: ['exec'],
  devbox: ['run'],
  'systemd-run': always,
  at: always,
  batch: always,
  find: ['-exec', '-execdir', '-ok', '-okdir'],
};

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh', 'fish']);

const interpreters: ReadonlySet<string> = new Set(
  (
    'sh bash dash ash ksh zsh fish python python3 node deno bun ruby perl php lua awk gawk mawk osascript ' +
    'powershell pwsh cmd tclsh'
  ).split(' '),
);

/** No entry can grant these: `grant: never` of the shipped tables, and those whose tables demand an option. */
const neverGranted: ReadonlySet<string> = new Set(
  (
    'man less more vi vim nano emacs ed awk gawk mawk nawk tee dd xxd install make sed tar tsc ' +
    'cd export alias unalias hash set unset trap eval source exec command builtin shopt'
  ).split(' '),
);

/**
 * Whether the words start a further command that stands in them: its payload. Shells count with `-c` (bundles such as
 * `-lc` too); a launcher with subcommands counts also when an option stands before the subcommand.
 */
export function startsAnother(name: string, words: readonly string[]): boolean {
  if (shells.has(name)) return words.slice(1).some((word) => /^[-+][^-]*c/.test(word));
  const subcommands = Object.hasOwn(launchers, name) ? launchers[name] : undefined;
  if (subcommands === undefined) return false;
  if (subcommands === always) return true;
  const option = name !== 'find' && words[1]?.startsWith('-') === true;
  return option || words.slice(1).some((word) => subcommands.includes(word));
}

export const isLauncher = (name: string): boolean => Object.hasOwn(launchers, name) && launchers[name] === always;
export const isInterpreter = (name: string): boolean => interpreters.has(name);
export const isNeverGranted = (name: string): boolean => neverGranted.has(name);
