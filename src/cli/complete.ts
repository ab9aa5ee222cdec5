import type { RuntimeClient } from '../client/operations.ts';
import { configKeys } from '../schema/config.ts';
import type { Argument, Candidates, Command, Flag } from './command.ts';
import { commands, flagsOf } from './table.ts';
import { helpTopics } from './table/surfaces.ts';
import { flagText } from './values.ts';
import { type Walk, walk } from './walk.ts';

/** What `__complete` may look up; null when nothing can be opened. */
export type Lookup = () => Promise<RuntimeClient | null>;

/**
 * Candidates for the last of the words on a command line, sorted, each beginning with it. Never throws: a failed
 * look-up gives no candidates (06 §28).
 */
export async function complete(words: readonly string[], lookup: Lookup): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const { path, positionals, open } = walk(words.slice(0, -1));
  const command = path.at(-1) ?? null;
  const found = await candidatesFor(current, { path, command, positionals, open }, lookup).catch(() => []);
  return [...new Set(found)].filter((candidate) => candidate.startsWith(current)).sort();
}

/** Where the cursor stands. */
type Site = Walk & { readonly command: Command | null };

async function candidatesFor(current: string, site: Site, lookup: Lookup): Promise<readonly string[]> {
  const { command, open, positionals, path } = site;
  if (open !== null) return open.words ?? named(flagCandidates(open), lookup);
  if (current.startsWith('-')) {
    const equals = /^(--[\w-]+)=/.exec(current);
    const flags = flagsOf(command);
    if (equals === null) return flags.map(flagText);
    const words = flags.find((flag) => flagText(flag) === equals[1])?.words ?? [];
    return words.map((word) => `${equals[1]}=${word}`);
  }
  if (command === null) return commands.map((entry) => entry.name);
  if (command.commands !== undefined && path.length === 1 && positionals === 0) {
    return command.commands.map((entry) => entry.name);
  }
  const argument = argumentAt(command.arguments ?? [], positionals);
  if (argument === undefined) return [];
  return [...(argument.words ?? []), ...(await named(argument.candidates ?? null, lookup))];
}

const argumentAt = (given: readonly Argument[], index: number): Argument | undefined =>
  given[index] ?? (given.at(-1)?.many === true ? given.at(-1) : undefined);

const flagCandidates = (flag: Flag): Candidates | null =>
  flag.name === 'session' ? 'session' : flag.name === 'backend' ? 'backend' : flag.name === 'model' ? 'model' : null;

async function named(what: Candidates | null, lookup: Lookup): Promise<readonly string[]> {
  switch (what) {
    case null:
    case 'file':
      return [];
    case 'command':
      return commands.map((command) => command.name);
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

async function stored(what: 'session' | 'backend' | 'model' | 'ask' | 'chain', client: RuntimeClient) {
  switch (what) {
    case 'session':
      return (await client.listSessions({})).map((session) => session.name);
    case 'backend':
      return (await client.listBackends({})).map((backend) => backend.name);
    case 'model':
      return (await client.listModels({ backend: null, refresh: false })).rows.map((row) => row.model);
    case 'chain':
      return (await client.listChains({})).map((chain) => chain.name);
    case 'ask': {
      const { asks } = await client.listAsks({
        state: 'pending',
        kind: null,
        session: null,
        mission: null,
        by: null,
        limit: 50,
      });
      return asks.map((ask) => ask.id);
    }
  }
}
