import { array, nullable, object, optional, string } from 'superstruct';
import { McpCheck, McpServerView, mcpServerFields, mcpServerIdentity } from '../../schema/mcp-server.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });

/** MCP servers (09 §6.10). Signing in is done where the operator's browser is, so it is no entry (05 §10.8.3). */
export const mcpServers = {
  addMcpServer: operation(
    'POST',
    '/api/mcp-servers',
    'operator',
    object({ name: string(), ...mcpServerIdentity, ...mcpServerFields }),
    returns<{ readonly server: McpServerView; readonly warnings: readonly string[] }>(),
  ),
  listMcpServers: operation('GET', '/api/mcp-servers', 'read', object({}), masked(array(McpServerView))),
  showMcpServer: operation('GET', '/api/mcp-servers/{name}', 'read', named, masked(McpServerView)),
  updateMcpServer: operation(
    'PATCH',
    '/api/mcp-servers/{name}',
    'operator',
    object({ name: string(), ...mcpServerFields }),
    returns<{ readonly server: McpServerView; readonly warnings: readonly string[] }>(),
  ),
  removeMcpServer: operation('DELETE', '/api/mcp-servers/{name}', 'operator', named, returns<null>()),
  /** Starts or contacts it and lists its tools; accepts nothing but the first list. */
  checkMcpServer: operation('POST', '/api/mcp-servers/{name}/check', 'operator', named, masked(McpCheck)),
  acceptMcpServer: operation(
    'POST',
    '/api/mcp-servers/{name}/accept',
    'operator',
    /** Without `tools` everything is accepted, also a program that has changed since it was registered. */
    object({ name: string(), definition_sha256: nullable(string()), tools: optional(array(string())) }),
    masked(McpServerView),
  ),
  signOutMcpServer: operation(
    'DELETE',
    '/api/mcp-servers/{name}/sign-in',
    'operator',
    named,
    returns<{ readonly signed_out: boolean }>(),
  ),
} as const;
