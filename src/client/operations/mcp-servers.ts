import { array, nullable, object, optional, string } from 'superstruct';
import { McpCheck, McpServerView, mcpServerFields, mcpServerIdentity } from '../../schema/mcp-server.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });

/** MCP servers (09 §6.10). Signing in is done where the operator's browser is, so it is no entry (05 §10.8.3). */
export const mcpServers = {
  addMcpServer: operation(
    'acts',
    object({ name: string(), ...mcpServerIdentity, ...mcpServerFields }),
    returns<{ readonly server: McpServerView; readonly warnings: readonly string[] }>(),
  ),
  listMcpServers: operation('reads', object({}), masked(array(McpServerView))),
  showMcpServer: operation('reads', named, masked(McpServerView)),
  updateMcpServer: operation(
    'acts',
    object({ name: string(), ...mcpServerFields }),
    returns<{ readonly server: McpServerView; readonly warnings: readonly string[] }>(),
  ),
  removeMcpServer: operation('acts', named, returns<null>()),
  /** Starts or contacts it and lists its tools; accepts nothing but the first list. */
  checkMcpServer: operation('acts', named, masked(McpCheck)),
  acceptMcpServer: operation(
    'acts',
    /** Without `tools` everything is accepted, also a program that has changed since it was registered. */
    object({ name: string(), definition_sha256: nullable(string()), tools: optional(array(string())) }),
    masked(McpServerView),
  ),
  signOutMcpServer: operation('acts', named, returns<{ readonly signed_out: boolean }>()),
} as const;
