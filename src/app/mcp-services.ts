import { dirname } from 'node:path';
import { createCommandPins } from '../registry/mcp-command-pin.ts';
import { createLauncher } from '../registry/mcp-launch.ts';
import { knownMcpTools } from '../registry/mcp-known-tools.ts';
import { createMcpServers } from '../registry/mcp-servers.ts';
import { createMcpSources } from '../registry/mcp-sources.ts';
import { createSignIns } from '../registry/mcp-sign-in.ts';
import { createPins } from '../registry/pins.ts';
import { createToolPins } from '../store/tool-pins.ts';
import type { ToolServers } from '../store/tool-servers.ts';
import { isInside } from '../tools/files/root.ts';
import { wholeDiff } from '../tools/files/diff.ts';
import { childEnvironment } from '../tools/environment.ts';
import type { RoomsInput } from './rooms-input.ts';

/** Registered tool servers: their rows, their connections, their sign-ins. Nothing is started before one is used. */
export function openMcpServices(input: RoomsInput, servers: ToolServers) {
  const { options, workspace, secrets, pools, store, now } = input;
  const { settings, record, tell, feed, sql } = store;
  const pins = createPins({ store: createToolPins(sql, options.tenant), feed, record, tell, now });
  const privateHosts = (): readonly string[] => settings.value('web-private-hosts');
  const ownPorts = (): readonly number[] => options.serving?.ports() ?? [];
  const allowed = (): readonly string[] => settings.value('shell-env');
  const directory = ownDirectory(workspace);
  const commandPins = createCommandPins({
    hash: async (path) => {
      const found = await pools.hash(path);
      return found.kind === 'hash' ? found.sha256 : null;
    },
    path: childEnvironment({ parent: options.environment, allow: allowed(), marker: '' })['PATH'] ?? '',
    directory,
  });
  const signIns = createSignIns({
    store: servers,
    secrets,
    record,
    privateHosts,
    ownPorts,
    version: options.version,
    lock: store.documents.lockPath,
    now,
  });
  const launch = createLauncher({
    environment: options.environment,
    allowed,
    privateHosts,
    ownPorts,
    directory,
    version: options.version,
    secrets,
    token: signIns.token,
    refusal: async (row) => {
      const change = row.pin_command === 1 ? await commandPins.change(row) : null;
      return change === null ? null : `${change}; "reins mcp accept ${row.name}" takes it`;
    },
    now,
  });
  const registered = createMcpServers({
    store: servers,
    hooks: () => sql.column<string>('SELECT name FROM hooks WHERE tenant_id = ? ORDER BY name', options.tenant),
    pins,
    diff: wholeDiff,
    secrets,
    record,
    launch,
    commandPins,
    signedIn: signIns.signedIn,
    live: (row) => sources.connection(row),
    by: store.actor.by,
    cwd: workspace.cwd,
    directory,
    now,
  });
  const { find, check, ...operations } = registered;
  const sources = createMcpSources({
    servers: registered,
    store: servers,
    pins,
    secrets,
    launch,
    commandPins,
    directory,
    startWaitMs: () => settings.value('mcp-start-wait'),
    required: options.requireMcp ?? [],
    now,
  });
  return {
    sources,
    check,
    ...knownMcpTools(servers, pins),
    operations: {
      ...operations,
      signOutMcpServer: async ({ name }: { readonly name: string }) => ({ signed_out: signIns.signOut(find(name)) }),
    },
    signInMcpServer: async ({ name }: { readonly name: string }, onUrl: (url: string) => void, signal: AbortSignal) =>
      signIns.signIn(find(name), onUrl, signal),
  };
}

/**
 * Where a server starts that was registered without a directory: in the project whose database holds it. A database that
 * several directories use starts nothing of theirs: programs take modules and packages from where they stand (11 §4.8).
 */
function ownDirectory({ dataDir, root, home }: RoomsInput['workspace']): string {
  return dataDir !== null && isInside(root, dataDir) ? root : dirname(dataDir ?? home);
}

export type McpServices = ReturnType<typeof openMcpServices>;
