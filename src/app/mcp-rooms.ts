import { mcpServers as table } from '../client/operations/mcp-servers.ts';
import type { Services } from '../client/local-client.ts';
import { registerSecrets } from '../registry/mcp-fields.ts';
import { RuntimeError } from '../schema/errors.ts';
import { createToolServers } from '../store/tool-servers.ts';
import { once } from '../text/once.ts';
import { lazyServices } from './lazy-services.ts';
import type { McpServices } from './mcp-services.ts';
import type { RoomsInput } from './rooms-input.ts';
import type { SourceRoom } from './tool-sources.ts';

// True because the table is a constant of these names.
const operations = Object.keys(table) as (keyof typeof table)[];

/** Tool servers, loaded when an operation or a run needs them; a listing of their names needs only the database. */
export function openMcpRooms(input: RoomsInput) {
  const { options, store } = input;
  const rows = createToolServers(store.sql, options.tenant);
  // Every secret is known to the mask before anything runs, whether or not its server is used (11 §5.3.1).
  for (const row of rows.all()) registerSecrets(row, input.secrets);
  let loaded: Promise<McpServices> | null = null;
  const mcp = once((): Promise<McpServices> => {
    loaded = import('./mcp-services.ts').then(({ openMcpServices }) => openMcpServices(input, rows));
    return loaded;
  });
  const names = (): readonly string[] => {
    const found = rows.names();
    const unknown = (options.requireMcp ?? []).find((name) => !found.includes(name));
    if (unknown === undefined) return found;
    throw new RuntimeError('usage', `--require-mcp: there is no MCP server named "${unknown}"`, {
      hints: ['reins mcp list'],
    });
  };
  const room: SourceRoom = {
    names,
    open: async (wanted) => (await mcp()).sources.open(wanted),
    check: async (ask) => (await mcp()).check(ask),
    argumentNames: async () => (await mcp()).argumentNames,
    tools: async () => (await mcp()).tools(),
  };
  const services: Pick<Services, keyof typeof table | 'signInMcpServer'> = {
    ...lazyServices(operations, async () => (await mcp()).operations),
    signInMcpServer: async (...wanted) => (await mcp()).signInMcpServer(...wanted),
  };
  return {
    room,
    services,
    /** Ends every server that this process has started. */
    close: async (): Promise<void> => (await loaded)?.sources.close(),
  };
}
