import { absoluteElements } from '../text/search-path.ts';

export type EnvironmentOptions = {
  /** The environment of this process. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Config `shell-env`: names, or `PREFIX_*`. */
  readonly allow: readonly string[];
  /** What the record of a tool server declares. */
  readonly declared?: Readonly<Record<string, string>>;
  /** The marker that every child carries (11 §5.4): a run id, or `mcp:<name>`. */
  readonly marker: string;
  /** `dumb` for `local_shell`; the parent's value when absent. */
  readonly term?: string;
};

const inherited = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'TZ'];

/** Never given to a child, even if listed (05 §2.8): they load code, or change what a shell or an interpreter runs. */
const removed: ReadonlySet<string> = new Set([
  'NODE_OPTIONS',
  'BASH_ENV',
  'ENV',
  'SHELLOPTS',
  'BASHOPTS',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
]);

/** Of git's variables only those that name neither a program nor a directory nor configuration. */
const harmlessGit = /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$|^GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)$/;

/** The variables of a child (05 §2.8). Pure; each call makes a fresh object. */
export function childEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { parent } = options;
  const result: Record<string, string> = {};
  const take = (name: string, value: string | undefined): void => {
    if (value !== undefined && mayPass(name)) result[name] = value;
  };
  for (const name of Object.keys(parent)) {
    if (inherited.includes(name) || name.startsWith('LC_') || options.allow.some((entry) => covers(entry, name))) {
      take(name, parent[name]);
    }
  }
  for (const [name, value] of Object.entries(options.declared ?? {})) take(name, value);
  if (result['PATH'] !== undefined) result['PATH'] = absoluteElements(result['PATH']);
  if (options.term !== undefined) result['TERM'] = options.term;
  result['REINS_RUN_ID'] = options.marker;
  return result;
}

const covers = (entry: string, name: string): boolean =>
  entry.endsWith('*') ? entry.length > 1 && name.startsWith(entry.slice(0, -1)) : entry === name;

/** Also keeps out names that no shell variable can have, such as exported bash functions. */
function mayPass(name: string): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return false;
  if (/^(?:REINS_|LD_|DYLD_)/.test(name) || removed.has(name)) return false;
  return !name.startsWith('GIT_') || harmlessGit.test(name);
}
