import { stamp } from '../text/stamp.ts';
import type { McpServerView, McpTransport } from '../schema/mcp-server.ts';
import { authTypes, transports } from '../schema/mcp-server.ts';
import type { SourceTool } from '../schema/tool-sources.ts';
import type { ToolServerRow } from '../store/tool-servers.ts';
import { offeredDefinition } from '../tools/definition.ts';
import type { Connection } from '../tools/mcp/connection.ts';
import { readDefinition } from '../tools/mcp/definition.ts';
import { readTexts } from './backend-fields.ts';
import { type DiffPort, driftView } from './drift-view.ts';
import { envMap, readJson, textList } from './mcp-fields.ts';
import type { PinnedTool, Pins, SourceRef } from './pins.ts';

export type ViewDeps = {
  readonly pins: Pins;
  readonly diff: DiffPort;
  signedIn(row: ToolServerRow): boolean;
  /** The connection of this process, where there is one. */
  readonly connection: Connection | null;
  /** What the server wrote last beside the protocol, as it was noted. */
  words(row: ToolServerRow): readonly string[];
  /** What it told its clients to do when it was looked at last. */
  instructions(row: ToolServerRow): string | null;
  readonly commandChanged: boolean;
  /** Takes known secrets out of a text that comes from the server. */
  mask(text: string): string;
};

export const sourceOf = ({ id, name }: Pick<ToolServerRow, 'id' | 'name'>): SourceRef => ({ kind: 'mcp', id, name });

/** Only words of the list are ever written; another one would be a newer program's. */
export const transportOf = ({ transport }: Pick<ToolServerRow, 'transport'>): McpTransport =>
  transports.find((one) => one === transport) ?? 'http';

/** A server as every surface shows it: names of secrets, never their values. */
export async function viewOf(row: ToolServerRow, deps: ViewDeps): Promise<McpServerView> {
  const { pins, connection } = deps;
  const listing = pins.known(sourceOf(row));
  const oauth = readJson(row.oauth ?? 'null') as Readonly<Record<string, string | null>> | null;
  const instructions = connection?.instructions() ?? deps.instructions(row);
  const said = connection === null ? [] : lastWords(connection);
  const lastError = row.last_error ?? connection?.reason() ?? null;
  const signedIn = row.auth_type === 'oauth' ? deps.signedIn(row) : null;
  return {
    name: row.name,
    transport: transportOf(row),
    command: row.command,
    args: [...textList(row.args)],
    cwd: row.cwd,
    env: Object.keys(envMap(row.env)),
    url: row.url,
    auth_type: authTypes.find((one) => one === row.auth_type) ?? 'none',
    token_source: row.auth_env !== null ? `env:${row.auth_env}` : row.auth_token !== null ? 'stored' : 'none',
    signed_in: signedIn,
    oauth_client_id: oauth?.['client_id'] ?? null,
    oauth_client_secret_env: oauth?.['client_secret_env'] ?? null,
    oauth_scopes: oauth?.['scopes'] ?? null,
    headers: Object.keys(readTexts(row.headers)),
    inject: Object.keys(readTexts(row.inject)),
    connect_timeout_ms: row.connect_timeout_ms,
    call_timeout_ms: row.call_timeout_ms,
    pin_command: row.pin_command === 1,
    command_changed: deps.commandChanged,
    created_at: stamp(row.created_at),
    updated_at: stamp(row.updated_at),
    state: stateOf(row, deps, signedIn),
    tools: listing.tools.map(toolView),
    definition_sha256: listing.tools.length === 0 ? null : listing.sha256,
    drift: await driftView(pins.drift(sourceOf(row)), deps.diff),
    last_error: lastError === null ? null : deps.mask(lastError),
    instructions: instructions === null ? null : deps.mask(instructions),
    stderr: (said.length > 0 ? said : deps.words(row)).map((line) => deps.mask(line)),
  };
}

/** The last lines of what a server wrote beside the protocol, as far as people read them: foreign text. */
export const lastWords = (connection: Connection): readonly string[] =>
  connection.lastLines(20).map((line) => line.slice(0, 500));

function stateOf(row: ToolServerRow, deps: ViewDeps, signedIn: boolean | null): McpServerView['state'] {
  if (row.pin_command === 1 && deps.commandChanged) return 'quarantined';
  const live = deps.connection?.state() ?? 'idle';
  if (live !== 'idle') return live;
  if (signedIn === false) return 'needs_auth';
  return row.last_error === null ? 'idle' : 'failed';
}

function toolView({ tool, definition, sha256, state }: PinnedTool): SourceTool {
  const read = readDefinition(definition);
  const description = read?.description ?? read?.title ?? '';
  const offered = offeredDefinition(description, read?.inputSchema ?? {});
  const flags = offered.ok ? [...offered.flags] : [`not offered: ${offered.reason}`];
  return { tool, description, sha256, state: offered.ok ? state : 'unavailable', flags };
}
