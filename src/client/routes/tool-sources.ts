import { array, boolean, enums, type Infer, nullable, object, optional, record, size, string, type } from 'superstruct';
import { authTypes, McpCheck, McpServerView, transports } from '../../schema/mcp-server.ts';
import { HookView, ListedTool } from '../../schema/tool-sources.ts';
import { count } from '../fields.ts';
import { masked, returns, route } from '../operation.ts';

const named = { name: string() };
const ifMatch = { if_match: optional(string()) };
const tagged = { headers: ({ etag }: { readonly etag: string }) => ({ etag: `"${etag}"` }) };
/** A map replaces the whole map; null inside it keeps the stored value of that name (09 §5.5). */
const writeOnly = optional(record(string(), nullable(string())));
const milliseconds = optional(count(0, 86_400_000));
const accepted = { tools: optional(array(string())) };

/** What is said about an entry beside its fields: its version, and what the operator should know of a change. */
const beside = { etag: string(), warnings: array(string()) };
export const HookShown = type({ ...HookView.schema, ...beside });
export type HookShown = Infer<typeof HookShown>;
export const McpServerShown = type({ ...McpServerView.schema, ...beside });
export type McpServerShown = Infer<typeof McpServerShown>;

const hookFields = {
  spec: optional(string()),
  headers: writeOnly,
  inject: writeOnly,
  timeout_ms: milliseconds,
  allow_private: optional(boolean()),
};
const serverFields = {
  headers: writeOnly,
  inject: writeOnly,
  /** Null passes the operator's own variable of that name. */
  env: writeOnly,
  auth_type: optional(enums(authTypes)),
  auth_env: optional(string()),
  auth_token: optional(string()),
  oauth_client_id: optional(string()),
  oauth_client_secret_env: optional(string()),
  oauth_scopes: optional(string()),
  connect_timeout_ms: milliseconds,
  call_timeout_ms: milliseconds,
};

/** Hooks, MCP servers and the tools of all providers (09 §6.10). */
export const toolSourceRoutes = {
  pageHooks: route('GET', '/api/hooks', 'any', object({}), masked(array(HookShown)), { form: 'items' }),
  /** Registered; nothing is fetched before `refresh` or first use. */
  createHook: route(
    'POST',
    '/api/hooks',
    'recent',
    object({ ...named, url: string(), ...hookFields }),
    masked(HookShown),
    { status: 201, repeatable: true, ...tagged },
  ),
  getHook: route('GET', '/api/hooks/{name}', 'any', object(named), masked(HookShown), tagged),
  patchHook: route(
    'PATCH',
    '/api/hooks/{name}',
    'recent',
    object({ ...named, url: optional(string()), ...hookFields, ...ifMatch }),
    masked(HookShown),
    { precondition: 'if-match', ...tagged },
  ),
  deleteHook: route('DELETE', '/api/hooks/{name}', 'operator', object({ ...named, ...ifMatch }), returns<null>(), {
    status: 204,
    precondition: 'if-match',
  }),
  /** Fetches the description and shows what differs; accepts nothing but the first listing. */
  postHookRefresh: route('POST', '/api/hooks/{name}/refresh', 'operator', object(named), masked(HookShown), tagged),
  postHookAccept: route(
    'POST',
    '/api/hooks/{name}/accept',
    'recent',
    object({ ...named, definition_sha256: size(string(), 64, 64), ...accepted }),
    masked(HookShown),
    tagged,
  ),
  pageMcpServers: route('GET', '/api/mcp-servers', 'any', object({}), masked(array(McpServerShown)), { form: 'items' }),
  /** Registered; nothing is started or contacted before `check` or first use. */
  createMcpServer: route(
    'POST',
    '/api/mcp-servers',
    'recent',
    object({
      ...named,
      transport: optional(enums(transports)),
      command: optional(string()),
      args: optional(array(string())),
      cwd: optional(string()),
      url: optional(string()),
      pin_command: optional(boolean()),
      ...serverFields,
    }),
    masked(McpServerShown),
    { status: 201, repeatable: true, ...tagged },
  ),
  getMcpServer: route('GET', '/api/mcp-servers/{name}', 'any', object(named), masked(McpServerShown), tagged),
  patchMcpServer: route(
    'PATCH',
    '/api/mcp-servers/{name}',
    'recent',
    object({ ...named, ...serverFields, ...ifMatch }),
    masked(McpServerShown),
    { precondition: 'if-match', ...tagged },
  ),
  deleteMcpServer: route(
    'DELETE',
    '/api/mcp-servers/{name}',
    'operator',
    object({ ...named, ...ifMatch }),
    returns<null>(),
    { status: 204, precondition: 'if-match' },
  ),
  /** Starts or contacts it and lists its tools; accepts nothing but the first list. */
  postMcpCheck: route(
    'POST',
    '/api/mcp-servers/{name}/check',
    'operator',
    object(named),
    masked(type({ ...McpCheck.schema, server: McpServerShown })),
  ),
  postMcpAccept: route(
    'POST',
    '/api/mcp-servers/{name}/accept',
    'recent',
    object({ ...named, definition_sha256: nullable(size(string(), 64, 64)), ...accepted }),
    masked(McpServerShown),
    tagged,
  ),
  /** With what the policy says of a call of each without arguments. */
  pageTools: route(
    'GET',
    '/api/tools',
    'any',
    object({ policy: optional(string()), chain: optional(string()) }),
    masked(array(ListedTool)),
    { form: 'items' },
  ),
} as const;
