import { array, boolean, enums, type Infer, nullable, number, record, string, type } from 'superstruct';
import { Drift, SourceTool } from './tool-sources.ts';

/** How a server is reached (05 §10.1). */
export const transports = ['stdio', 'sse', 'http'] as const;
export type McpTransport = (typeof transports)[number];

export const authTypes = ['none', 'bearer', 'oauth'] as const;

/**
 * What the operator says about a server besides its name; null = not said. A map is replaced as a whole; null inside it
 * keeps the stored value of that name (09 §5.5).
 */
export const mcpServerFields = {
  headers: nullable(record(string(), nullable(string()))),
  inject: nullable(record(string(), nullable(string()))),
  /** A null value passes the operator's own variable of that name. */
  env: nullable(record(string(), nullable(string()))),
  auth_type: nullable(enums(authTypes)),
  auth_env: nullable(string()),
  auth_token: nullable(string()),
  oauth_client_id: nullable(string()),
  oauth_client_secret_env: nullable(string()),
  oauth_scopes: nullable(string()),
  connect_timeout_ms: nullable(number()),
  call_timeout_ms: nullable(number()),
};

/** What cannot be changed later: another of these is another server. */
export const mcpServerIdentity = {
  transport: nullable(enums(transports)),
  command: nullable(string()),
  args: array(string()),
  cwd: nullable(string()),
  url: nullable(string()),
  pin_command: boolean(),
};

/** A registered server as it is shown (05 §10.1, 09 §6.10): names of headers, injects and variables, never their values. */
export const McpServerView = type({
  name: string(),
  transport: enums(transports),
  command: nullable(string()),
  args: array(string()),
  /** Null = the root of the workspace. */
  cwd: nullable(string()),
  env: array(string()),
  url: nullable(string()),
  auth_type: enums(authTypes),
  /** `env:NAME`, `stored` or `none`. */
  token_source: string(),
  /** Whether somebody has signed in; null where nobody has to. */
  signed_in: nullable(boolean()),
  oauth_client_id: nullable(string()),
  oauth_client_secret_env: nullable(string()),
  oauth_scopes: nullable(string()),
  headers: array(string()),
  inject: array(string()),
  connect_timeout_ms: number(),
  call_timeout_ms: number(),
  pin_command: boolean(),
  /** The program is another one than when it was registered. */
  command_changed: boolean(),
  created_at: string(),
  updated_at: string(),
  state: enums(['idle', 'connecting', 'ready', 'needs_auth', 'failed', 'quarantined', 'stopped']),
  tools: array(SourceTool),
  /** Of the names and pins of the last listing; null before the first. */
  definition_sha256: nullable(string()),
  drift: array(Drift),
  last_error: nullable(string()),
  /** What the server says about its use; shown, and sent to no model. */
  instructions: nullable(string()),
  /** The last lines of its standard error: foreign text. */
  stderr: array(string()),
});
export type McpServerView = Infer<typeof McpServerView>;

/** What connecting to a server and listing its tools came to. */
export const McpCheck = type({
  server: McpServerView,
  reachable: boolean(),
  reason: nullable(string()),
  protocol: nullable(string()),
  connect_ms: number(),
  list_ms: number(),
  tools: number(),
  /** What was odd about it, one sentence each. */
  notices: array(string()),
});
export type McpCheck = Infer<typeof McpCheck>;
