import { join } from 'node:path';
import type { McpFields, McpIdentity } from '../../src/registry/mcp-fields.ts';
import type { ScriptedApp } from '../support/scripted-app.ts';
import { badServer } from '../tools/mcp/support.ts';

/** A registration of which the operator has said nothing. */
export const nothingSaid: McpIdentity & McpFields = {
  transport: null,
  command: null,
  args: [],
  cwd: null,
  url: null,
  pin_command: false,
  headers: null,
  inject: null,
  env: null,
  auth_type: null,
  auth_env: null,
  auth_token: null,
  oauth_client_id: null,
  oauth_client_secret_env: null,
  oauth_scopes: null,
  connect_timeout_ms: null,
  call_timeout_ms: null,
};

/** Registers the server that misbehaves as `mode` says. */
export const addServer = (
  own: ScriptedApp,
  name: string,
  [mode, ...more]: readonly string[],
  over: Partial<McpIdentity & McpFields> = {},
) =>
  own.client.addMcpServer({
    ...nothingSaid,
    name,
    transport: 'stdio',
    command: process.execPath,
    args: [badServer, mode ?? '', ...more],
    env: { MARK: join(own.place.dir, `${name}.marks`) },
    ...over,
  } as never);
