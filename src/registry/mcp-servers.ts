import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { SourceCheck } from '../schema/tool-sources.ts';
import type { McpCheck, McpServerView } from '../schema/mcp-server.ts';
import type { ToolServerRow, ToolServers } from '../store/tool-servers.ts';
import { ulid } from '../text/ids.ts';
import type { Connection } from '../tools/mcp/connection.ts';
import type { Listing } from '../tools/mcp/listing.ts';
import type { CommandPins } from './mcp-command-pin.ts';
import {
  checkIdentity,
  checkMcpFields,
  type GivenMcpFields,
  type McpIdentity,
  registerSecrets,
  warningsOf,
  withFields,
  withKept,
} from './mcp-fields.ts';
import type { Launcher } from './mcp-launch.ts';
import { lastWords, sourceOf, transportOf, viewOf } from './mcp-view.ts';
import type { ListedTool, Pins } from './pins.ts';
import type { RecordChange } from './ports.ts';
import type { Secrets } from './secrets.ts';
import type { DiffPort } from './drift-view.ts';
import { lookedAt } from './source-checks.ts';
import { checkSourceName } from './source-names.ts';

export type McpServersDeps = {
  readonly store: ToolServers;
  /** Names of registered hooks. */
  readonly hooks: () => readonly string[];
  readonly pins: Pins;
  readonly diff: DiffPort;
  readonly secrets: Secrets;
  readonly record: RecordChange;
  readonly launch: Launcher;
  readonly commandPins: CommandPins;
  readonly signedIn: (row: ToolServerRow) => boolean;
  /** The connection that this process uses in its runs; null where there is none. */
  readonly live: (row: ToolServerRow) => Connection | null;
  /** Attribution of what the operator accepts. */
  readonly by: string;
  readonly cwd: string;
  /** Where a server starts unless its record says otherwise. */
  readonly directory: string;
  readonly now: () => number;
};

type Changed = { readonly server: McpServerView; readonly warnings: readonly string[] };

const maxServers = 100;

/** The registered tool servers (05 §10.1): what the operator says of them, and what they were last seen to offer. */
export function createMcpServers(deps: McpServersDeps) {
  const { store, pins, record, now } = deps;

  const known = (row: ToolServerRow): ToolServerRow => {
    registerSecrets(row, deps.secrets);
    return row;
  };
  const all = (): readonly ToolServerRow[] => store.all().map(known);

  const find = (name: string): ToolServerRow => {
    const row = store.find(name);
    if (row !== undefined) return known(row);
    throw new RuntimeError('not_found', `There is no MCP server named "${name}".`, { hints: ['reins mcp list'] });
  };

  const view = async (row: ToolServerRow, connection = deps.live(row)): Promise<McpServerView> => {
    const shown = await viewOf(row, {
      pins,
      diff: deps.diff,
      signedIn: deps.signedIn,
      connection,
      words: ({ id }) => store.words(id),
      instructions: ({ id }) => store.instructions(id),
      commandChanged: (await deps.commandPins.change(row)) !== null,
      mask: deps.secrets.mask,
    });
    // A description may tell what its server was given.
    return { ...shown, tools: deps.secrets.maskDeep(shown.tools), drift: deps.secrets.maskDeep(shown.drift) };
  };

  /** Connects and lists once, holds the list against the pins, and closes again. */
  const check = async (row: ToolServerRow, by: string): Promise<McpCheck> => {
    const notices: string[] = [];
    const connection = deps.launch(row, {
      notice: (text) => void notices.push(text),
      // What connecting gives is what is looked at.
      listed: () => {},
    });
    try {
      const connected = await connection.connect(true);
      const reason = connected.kind === 'ready' ? null : deps.secrets.mask(connected.reason);
      store.noteError(row.id, reason);
      store.noteWords(row.id, lastWords(connection).map(deps.secrets.mask), now());
      if (connected.kind === 'ready') {
        const instructions = connection.instructions()?.slice(0, mostInstructions) ?? null;
        store.noteInstructions(row.id, instructions === null ? null : deps.secrets.mask(instructions), now());
        pins.observe(sourceOf(row), listedTools(connected.listing), by);
      }
      return {
        server: await view(find(row.name), connection),
        reachable: reason === null,
        reason,
        protocol: connection.protocol(),
        connect_ms: connected.kind === 'ready' ? connected.times.connectMs : 0,
        list_ms: connected.kind === 'ready' ? connected.times.listMs : 0,
        tools: connected.kind === 'ready' ? connected.listing.definitions.length : 0,
        notices: notices.map((text) => deps.secrets.mask(text)),
      };
    } finally {
      await connection.close();
    }
  };

  const sourceCheck = async (row: ToolServerRow, ask: { readonly timeoutMs: number } | null): Promise<SourceCheck> => {
    const seen =
      ask === null
        ? null
        : await check({ ...row, connect_timeout_ms: Math.min(row.connect_timeout_ms, ask.timeoutMs) }, deps.by);
    const server = seen?.server ?? (await view(row));
    const change = await deps.commandPins.change(row);
    const failed = seen === null ? row.last_error : seen.reason;
    return {
      kind: 'mcp',
      name: row.name,
      place: placeOf(row),
      state: failed !== null || change !== null ? 'error' : seen === null ? 'pending' : 'ready',
      tools: server.tools.length,
      waiting: server.drift.map(({ tool }) => tool),
      latencyMs: seen?.reachable === true ? seen.connect_ms + seen.list_ms : null,
      errorClass: server.state === 'needs_auth' ? 'needs_auth' : failed === null ? null : 'unavailable',
      error: failed ?? (change === null ? null : `${change}; reins mcp accept ${row.name} takes it`),
    };
  };

  return {
    /** Registers; nothing is started or contacted. @throws RuntimeError usage, already_exists */
    async addMcpServer(input: McpIdentity & GivenMcpFields & { readonly name: string }): Promise<Changed> {
      const { name } = input;
      const refuse = (): void => {
        const hooks = deps.hooks().map((one) => ({ name: one, what: 'hook' as const }));
        const servers = store.names().map((one) => ({ name: one, what: 'MCP server' as const }));
        checkSourceName(name, 'MCP server', [...hooks, ...servers], input.url);
      };
      refuse();
      if (store.names().length >= maxServers)
        throw new RuntimeError('usage', `At most ${maxServers} MCP servers can be registered.`, {
          hints: ['reins mcp list', 'reins mcp remove <name>'],
        });
      const transport = checkIdentity(name, input);
      const fields = withKept(input, emptyRow);
      checkMcpFields(transport, fields);
      if (transport === 'stdio' && input.cwd === null) checkRelative(input, deps);
      const at = now();
      const fresh: ToolServerRow = {
        ...emptyRow,
        id: `m_${ulid(at)}`,
        name,
        transport,
        command: input.command,
        args: JSON.stringify(input.args),
        cwd: input.cwd === null ? null : resolve(deps.cwd, input.cwd),
        url: input.url,
        pin_command: input.pin_command ? 1 : 0,
        created_at: at,
        updated_at: at,
      };
      const row = withFields({ ...fresh, command_pin: await deps.commandPins.pin(fresh) }, fields, at);
      record('registry_changed', { registry: 'mcp', name, change: 'added' }, () => {
        // Once more under the lock: another process may have taken the name meanwhile.
        refuse();
        store.insert(row);
      });
      return { server: await view(known(row)), warnings: warningsOf(row, deps.secrets.isSet) };
    },

    /** Sorted by name. */
    async listMcpServers(_input: Readonly<Record<string, never>> = {}): Promise<McpServerView[]> {
      return Promise.all(all().map((row) => view(row)));
    },

    /** @throws RuntimeError not_found */
    async showMcpServer(input: { readonly name: string }): Promise<McpServerView> {
      return view(find(input.name));
    },

    /**
     * Changes what was said; each map is replaced whole. A client that is named ends the sign-in of the one before.
     * @throws RuntimeError not_found, usage
     */
    async updateMcpServer(input: GivenMcpFields & { readonly name: string }): Promise<Changed> {
      const { name } = find(input.name);
      const entry = { registry: 'mcp', name, change: 'updated' };
      record('registry_changed', entry, () => {
        // Read under the lock: what another process has changed meanwhile stays.
        const row = find(name);
        const fields = withKept(input, row);
        checkMcpFields(transportOf(row), fields);
        store.update(withFields(row, fields, now()));
        // A client that is registered anew belongs to no authorisation server yet.
        if (input.oauth_client_id !== null) store.putSignIn(row.id, { client: null, token: null }, now());
      });
      const changed = find(name);
      return { server: await view(changed), warnings: warningsOf(changed, deps.secrets.isSet) };
    },

    /** With its pins and what its sign-in has left. @throws RuntimeError not_found */
    async removeMcpServer(input: { readonly name: string }): Promise<null> {
      const row = find(input.name);
      record('registry_changed', { registry: 'mcp', name: row.name, change: 'removed' }, () => {
        pins.forget(sourceOf(row));
        store.remove(row.id);
      });
      return null;
    },

    /** Starts or contacts it and lists its tools; what has changed is shown and not accepted. @throws RuntimeError not_found */
    async checkMcpServer(input: { readonly name: string }): Promise<McpCheck> {
      return check(find(input.name), deps.by);
    },

    /**
     * Accepts the definitions that were shown, and the program where that has changed.
     * @throws RuntimeError not_found, conflict
     */
    async acceptMcpServer(input: {
      readonly name: string;
      readonly definition_sha256: string | null;
      readonly tools?: readonly string[] | undefined;
    }): Promise<McpServerView> {
      const row = find(input.name);
      if (input.definition_sha256 !== null) {
        // Where the server cannot be asked, what was shown is the last that is known.
        await check(row, deps.by);
        pins.accept(sourceOf(row), input.definition_sha256, input.tools ?? null, deps.by);
      }
      if (input.tools === undefined && (await deps.commandPins.change(row)) !== null) {
        const changed = { ...row, command_pin: await deps.commandPins.pin(row), updated_at: now() };
        const entry = { registry: 'mcp', name: row.name, change: 'command_accepted', by: deps.by };
        record('registry_changed', entry, () => store.update(changed));
      }
      return view(find(input.name));
    },

    /** How each server is found by `doctor`; without `ask` as it was last known. Never rejects. */
    check: (ask: { readonly timeoutMs: number } | null): Promise<readonly SourceCheck[]> =>
      Promise.all(
        all().map((row) => {
          const about = { kind: 'mcp', name: row.name, place: placeOf(row) } as const;
          return lookedAt(about, () => sourceCheck(row, ask));
        }),
      ),

    find,
  };
}

export type McpServers = ReturnType<typeof createMcpServers>;

const placeOf = (row: ToolServerRow): string => row.url ?? row.command ?? '';

/** Characters of the instructions of a server that are kept for people. */
const mostInstructions = 16_384;

const emptyRow = {
  command: null,
  args: '[]',
  cwd: null,
  env: '{}',
  url: null,
  auth_type: 'none',
  auth_env: null,
  auth_token: null,
  oauth: null,
  headers: '{}',
  inject: '{}',
  connect_timeout_ms: 30_000,
  call_timeout_ms: 120_000,
  pin_command: 0,
  command_pin: null,
  last_error: null,
} as const;

/** A list as the pins take it. */
export const listedTools = ({ definitions }: Listing): readonly ListedTool[] =>
  definitions.map((definition) => ({ tool: definition.name, definition: { ...definition } }));

/** A file named from where the operator is, which the server would not find from where it starts. @throws RuntimeError usage */
function checkRelative(
  { command, args }: McpIdentity,
  { cwd, directory }: Pick<McpServersDeps, 'cwd' | 'directory'>,
): void {
  const script = args.find((argument) => !argument.startsWith('-'));
  for (const name of [command?.includes('/') === true ? command : undefined, script]) {
    if (name === undefined || !isFile(resolve(cwd, name)) || isFile(resolve(directory, name))) continue;
    throw new RuntimeError('usage', `${name} is not in ${directory}, where the server starts`, {
      hints: [`give its whole path, ${resolve(cwd, name)}`, 'or say where it starts: --cwd .'],
    });
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
