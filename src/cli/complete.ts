import { type Dirent, readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RuntimeClient } from '../client/operations.ts';
import { everyAsk } from '../schema/ask.ts';
import { type ConfigKey, configKeys, configTable, isConfigKey } from '../schema/config.ts';
import type { Argument, Candidates, Command, Flag } from './command.ts';
import { commands, findCommand, flagsOf } from './table.ts';
import { helpTopics } from './table/surfaces.ts';
import { flagText } from './values.ts';
import { type Walk, walk } from './walk.ts';

/** What `__complete` may look up; null when nothing can be opened. */
export type Lookup = () => Promise<RuntimeClient | null>;

/**
 * Candidates for the last of the words on a command line, sorted, each beginning with it. Never throws: a failed
 * look-up gives no candidates (06 §28).
 * @param cwd where relative paths begin
 */
export async function complete(words: readonly string[], lookup: Lookup, cwd: string): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const { path, positionals, open } = walk(words.slice(0, -1));
  const command = path.at(-1) ?? null;
  const found = await candidatesFor(current, { path, command, positionals, open, cwd }, lookup).catch(() => []);
  return [...new Set(found)].filter((candidate) => candidate.startsWith(current)).sort();
}

/** Where the cursor stands. */
type Site = Walk & { readonly command: Command | null; readonly cwd: string };

async function candidatesFor(current: string, site: Site, lookup: Lookup): Promise<readonly string[]> {
  const { command, open, positionals, path, cwd } = site;
  if (open !== null) return valuesOf(open, current, cwd) ?? named(flagCandidates(open), lookup);
  if (current.startsWith('-')) {
    const equals = current.indexOf('=');
    const flags = flagsOf(command);
    if (equals < 0) return flags.map(flagText);
    const flag = flags.find((entry) => flagText(entry) === current.slice(0, equals));
    const values = flag === undefined ? null : valuesOf(flag, current.slice(equals + 1), cwd);
    return (values ?? []).map((value) => current.slice(0, equals + 1) + value);
  }
  if (command === null) return commands.map((entry) => entry.name);
  if (command.commands !== undefined && path.length === 1 && positionals.length === 0) {
    return command.commands.map((entry) => entry.name);
  }
  const argument = argumentAt(command.arguments ?? [], positionals.length);
  if (argument === undefined) return [];
  return [...(argument.words ?? []), ...(await named(argument.candidates ?? null, lookup, positionals))];
}

/** What a flag itself knows of its values: its words, or the files behind the `@` of one that reads them. */
function valuesOf(flag: Flag, current: string, cwd: string): readonly string[] | null {
  const readsFiles = flag.name === 'input' || flag.value?.includes('@file') === true;
  // `@@` is the sign itself (06 §7).
  if (readsFiles && /^@(?!@)/.test(current)) return filesAt(current.slice(1), cwd).map((path) => `@${path}`);
  return flag.words ?? null;
}

/** Paths that begin with `typed`, a directory with the separator behind it; hidden ones only when they are meant. */
function filesAt(typed: string, cwd: string): readonly string[] {
  const directory = typed.slice(0, typed.lastIndexOf('/') + 1);
  const name = typed.slice(directory.length);
  return (
    readdirSync(resolve(cwd, directory), { withFileTypes: true })
      .filter((entry) => entry.name.startsWith(name) && (name !== '' || !entry.name.startsWith('.')))
      // A candidate is a line, and a shell prints it as it is.
      .filter((entry) => !/\p{Cc}/u.test(entry.name))
      .map((entry) => `${directory}${entry.name}${isDirectory(entry, resolve(cwd, directory)) ? '/' : ''}`)
  );
}

function isDirectory(entry: Dirent, parent: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(resolve(parent, entry.name)).isDirectory();
  } catch {
    // A link to nothing, or in a circle, is a name like any other.
    return false;
  }
}

const argumentAt = (given: readonly Argument[], index: number): Argument | undefined =>
  given[index] ?? (given.at(-1)?.many === true ? given.at(-1) : undefined);

/** Flags whose values are stored names of that kind. */
const namedByFlag: Readonly<Record<string, Candidates>> = {
  session: 'session',
  backend: 'backend',
  model: 'model',
  policy: 'policy',
  plan: 'plan',
};

const flagCandidates = (flag: Flag): Candidates | null => namedByFlag[flag.name] ?? null;

/** Keys whose values are stored names of that kind. */
const namedByKey = (key: ConfigKey): Candidates | null =>
  key.endsWith('-model') ? 'model' : key === 'hitl-policy-name' ? 'policy' : null;

/** @param before the words of the command in front of the one that is completed */
async function named(
  what: Candidates | null,
  lookup: Lookup,
  before: readonly string[] = [],
): Promise<readonly string[]> {
  const [first = ''] = before;
  switch (what) {
    case null:
    case 'file':
      return [];
    case 'command':
      return commands.map((command) => command.name);
    case 'subcommand':
      return findCommand(first)?.commands?.map((command) => command.name) ?? [];
    case 'config-value':
      if (!isConfigKey(first)) return [];
      return configTable[first].words ?? named(namedByKey(first), lookup);
    case 'topic':
      return helpTopics;
    case 'config':
      return configKeys;
    default: {
      const client = await lookup();
      return client === null ? [] : stored(what, client);
    }
  }
}

async function stored(
  what: 'session' | 'plan' | 'backend' | 'hook' | 'mcp' | 'model' | 'ask' | 'run' | 'chain' | 'policy',
  client: RuntimeClient,
) {
  switch (what) {
    case 'session':
      return (await client.sessionNames({})).map((session) => session.name);
    case 'plan':
      return (await client.listPlans({ status: null })).map((plan) => plan.name);
    case 'backend':
      return (await client.listBackends({})).map((backend) => backend.name);
    case 'hook':
      return (await client.listHooks({})).map((hook) => hook.name);
    case 'mcp':
      return (await client.listMcpServers({})).map((server) => server.name);
    case 'model':
      return (await client.listModels({ backend: null, refresh: false })).rows.map((row) => row.model);
    case 'chain':
      return (await client.listChains({})).map((chain) => chain.name);
    case 'policy': {
      const { policies } = await client.listPolicies({ policy: null });
      // `hitl-policy.json` goes without a name: it is what governs when none is given.
      return policies.filter(({ path }) => path?.endsWith('/hitl-policy.json') !== true).map(({ name }) => name);
    }
    case 'run':
      return (await client.listRuns({ status: null, session: null, limit: 50 })).runs.map((run) => run.id);
    case 'ask': {
      const { asks } = await client.listAsks({ ...everyAsk, state: 'pending', limit: 50 });
      return asks.map((ask) => ask.id);
    }
  }
}
