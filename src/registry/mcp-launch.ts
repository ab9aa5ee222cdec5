import { lookup } from 'node:dns/promises';
import { createGroupGuard, type GroupGuard } from '../children/group-guard.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ToolServerRow } from '../store/tool-servers.ts';
import { createEgress, type Egress, parseTarget } from '../tools/egress.ts';
import { childEnvironment } from '../tools/environment.ts';
import { type Connection, createConnection } from '../tools/mcp/connection.ts';
import { isSendable, signInMend } from '../tools/mcp/credentials.ts';
import type { Listing } from '../tools/mcp/listing.ts';
import { createRing } from '../tools/mcp/ring.ts';
import { createStdioPipe } from '../tools/mcp/stdio.ts';
import type { Route } from '../tools/mcp/transports.ts';
import { readTexts } from './backend-fields.ts';
import { namesPrivate } from './hook-egress.ts';
import { credentialsOf, envMap, isCredential, textList } from './mcp-fields.ts';
import type { Secrets } from './secrets.ts';

export type LaunchDeps = {
  /** The environment of this process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Config `shell-env`. */
  readonly allowed: () => readonly string[];
  /** Config `web-private-hosts`. */
  readonly privateHosts: () => readonly string[];
  /** Where this program itself listens. */
  readonly ownPorts: () => readonly number[];
  /** Where a child starts unless its record says otherwise. */
  readonly directory: string;
  readonly version: string;
  readonly secrets: Secrets;
  /** The token of a server that signs in; after a refusal another one, or null. */
  token(row: ToolServerRow, refused: boolean): Promise<string | null>;
  /** Why the program of a server may not be started, or null (05 §10.3.4). */
  refusal(row: ToolServerRow): Promise<string | null>;
  readonly now: () => number;
};

/** What whoever uses a connection wants to hear. */
type ConnectionEvents = {
  notice(text: string): void;
  listed(listing: Listing): void;
};

/** Makes connections to registered servers. Nothing is started or contacted before one is used. */
export function createLauncher(deps: LaunchDeps) {
  let guard: GroupGuard | null = null;

  return (row: ToolServerRow, events: ConnectionEvents): Connection => {
    const ring = createRing();
    const stdio = async (): Promise<Route> => {
      const refused = await deps.refusal(row);
      if (refused !== null) throw new RuntimeError('mcp_error', refused);
      guard ??= createGroupGuard();
      const declared = declaredVariables(row, deps);
      const launch = {
        command: row.command ?? '',
        args: textList(row.args),
        cwd: row.cwd ?? deps.directory,
        environment: childEnvironment({
          parent: deps.environment,
          allow: deps.allowed(),
          declared,
          marker: `mcp:${row.name}`,
        }),
      };
      return { kind: 'stdio', pipe: createStdioPipe(launch, { guard, ring }) };
    };
    const remote = (kind: 'http' | 'sse'): Route => {
      const url = new URL(row.url ?? '');
      const headers = expandedHeaders(row, deps.secrets);
      return {
        kind,
        url,
        egress: egressTo(url, deps),
        headers: () => headers,
        bearer: (refused) => bearerOf(row, refused, deps),
      };
    };
    return createConnection({
      version: deps.version,
      route: async () => (row.transport === 'stdio' ? stdio() : remote(row.transport === 'sse' ? 'sse' : 'http')),
      connectTimeoutMs: row.connect_timeout_ms,
      callTimeoutMs: row.call_timeout_ms,
      signsIn: row.auth_type === 'oauth',
      refusalMend: refusalMend(row),
      ring,
      notice: events.notice,
      listed: events.listed,
      now: deps.now,
    });
  };
}

export type Launcher = ReturnType<typeof createLauncher>;

/**
 * Where the operator named a place in a private network, it is reached as named (05 §9.2); a public name that leads there
 * is not, unless he lists it in `web-private-hosts`.
 */
export function egressTo(url: URL, { privateHosts, ownPorts }: Pick<LaunchDeps, 'privateHosts' | 'ownPorts'>): Egress {
  const network = { ownPorts, lookup: (name: string) => lookup(name, { all: true, verbatim: true }) };
  const target = parseTarget(url.href);
  const named = typeof target !== 'string' && namesPrivate(network, target) ? [target.host] : [];
  return createEgress({ ...network, privateHosts: [...privateHosts(), ...named] });
}

/** What an operator does where a server does not take what it is sent; null where the state says it. */
function refusalMend(row: ToolServerRow): string | null {
  switch (credentialsOf(row)) {
    case 'sign_in':
      return null;
    case 'none':
      return signInMend(row.name);
    case 'registered':
      return row.auth_env === null
        ? 'it does not take what is registered for it'
        : `it does not take what the variable ${row.auth_env} holds`;
  }
}

function declaredVariables(row: ToolServerRow, { environment, secrets }: LaunchDeps): Record<string, string> {
  const declared: Record<string, string> = {};
  for (const [name, value] of Object.entries(envMap(row.env))) {
    const found = value ?? (Object.hasOwn(environment, name) ? environment[name] : undefined);
    if (found === undefined) continue;
    if (isCredential(name)) secrets.register(`${row.name}.${name}`, found);
    declared[name] = found;
  }
  return declared;
}

function expandedHeaders(row: ToolServerRow, secrets: Secrets): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(readTexts(row.headers))) {
    const found = secrets.expand(text, `${row.name}.${name}`);
    if (found.kind === 'missing') {
      throw new RuntimeError('mcp_error', `the variable ${found.variable} of its header ${name} is not set`);
    }
    if (!isSendable(found.value)) {
      throw new RuntimeError('mcp_error', `the value of its header ${name} is not one line of plain text`);
    }
    headers[name] = found.value;
  }
  return headers;
}

async function bearerOf(row: ToolServerRow, refused: boolean, deps: LaunchDeps): Promise<string | null> {
  const token = await tokenOf(row, refused, deps);
  if (token === null || isSendable(token.trim())) return token;
  throw new RuntimeError('mcp_error', 'its token is not one line of plain text');
}

async function tokenOf(row: ToolServerRow, refused: boolean, deps: LaunchDeps): Promise<string | null> {
  if (row.auth_type === 'oauth') return deps.token(row, refused);
  if (row.auth_type !== 'bearer' || refused) return null;
  if (row.auth_token !== null) {
    deps.secrets.register(`${row.name}.token`, row.auth_token);
    return row.auth_token;
  }
  const value = deps.secrets.read(row.auth_env ?? '', `${row.name}.token`);
  if (value === null)
    throw new RuntimeError('mcp_error', `the variable ${row.auth_env ?? ''} with its token is not set`);
  return value;
}
