import { type authTypes, type McpTransport, transports } from '../schema/mcp-server.ts';
import { usage } from '../schema/errors.ts';
import type { ToolServerRow } from '../store/tool-servers.ts';
import { isLinkLocal, parseTarget } from '../tools/egress.ts';
import type { Credentials } from '../tools/mcp/credentials.ts';
import { checkHeaders, isKey, isVariableName, readTexts } from './backend-fields.ts';
import type { Secrets } from './secrets.ts';
import { isLoopback } from './urls.ts';

/** What a person may say about a tool server (05 §10.1); null = not said. */
export type McpFields = {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly inject: Readonly<Record<string, string>> | null;
  readonly env: Readonly<Record<string, string | null>> | null;
  readonly auth_type: (typeof authTypes)[number] | null;
  readonly auth_env: string | null;
  readonly auth_token: string | null;
  readonly oauth_client_id: string | null;
  readonly oauth_client_secret_env: string | null;
  readonly oauth_scopes: string | null;
  readonly connect_timeout_ms: number | null;
  readonly call_timeout_ms: number | null;
};

/** The same as it comes in: null inside a map keeps the stored value of that name (09 §5.5). */
export type GivenMcpFields = Omit<McpFields, 'headers' | 'inject'> & {
  readonly headers: Readonly<Record<string, string | null>> | null;
  readonly inject: Readonly<Record<string, string | null>> | null;
};

export type McpIdentity = {
  readonly transport: McpTransport | null;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly cwd: string | null;
  readonly url: string | null;
  readonly pin_command: boolean;
};

const maxEntries = 50;
const maxText = 8192;

/** What is registered as the way to a server: which transport, and that the rest goes with it. @throws RuntimeError usage */
export function checkIdentity(name: string, given: McpIdentity): McpTransport {
  const transport = given.transport ?? (given.url !== null ? 'http' : given.command !== null ? 'stdio' : null);
  if (transport === null) {
    throw usage('say how to reach the server', [
      `reins mcp add ${name} --transport stdio --command npx --args=-y,@scope/server,/tmp`,
      `reins mcp add ${name} https://host/mcp`,
      `reins mcp add ${name} --transport sse --url https://host/sse`,
    ]);
  }
  if (!transports.includes(transport)) throw usage(`--transport takes ${transports.join(', ')}`);
  if (transport === 'stdio') {
    if (given.url !== null) throw usage('a stdio server is started by --command and has no URL');
    if (given.command === null || given.command === '') {
      throw usage('a stdio server needs --command', [
        `reins mcp add ${name} --transport stdio --command npx --args=-y,@scope/server,/tmp`,
      ]);
    }
    for (const text of [given.command, ...given.args, given.cwd ?? '']) {
      if (text.includes('\0')) throw usage('the command and its arguments cannot hold U+0000');
    }
    return transport;
  }
  if (given.command !== null || given.args.length > 0) {
    throw usage(`--command and its arguments are for stdio; the transport is ${transport}`);
  }
  if (given.cwd !== null || given.pin_command) throw usage('--cwd and --pin-command are for stdio servers');
  if (given.url === null) {
    throw usage(`the transport ${transport} needs a URL`, [
      `reins mcp add ${name} --transport ${transport} --url <url>`,
    ]);
  }
  checkUrl(given.url);
  return transport;
}

function checkUrl(text: string): void {
  const target = parseTarget(text);
  if (typeof target === 'string') throw usage(`the URL ${target}`);
  if (target.url.hash !== '') throw usage('the URL must not hold a fragment');
  if (isLinkLocal(target.host)) {
    throw usage(`${target.host} is an address of the link, which no tool server may have`);
  }
}

/** Checks everything else. @throws RuntimeError usage */
export function checkMcpFields(transport: McpTransport, fields: McpFields): void {
  const local = transport === 'stdio';
  if (local && fields.headers !== null) throw usage('--header is for sse and http; a stdio server takes --env');
  if (!local && fields.env !== null) throw usage('--env is for stdio; this server takes --header');
  if (fields.headers !== null) checkHeaders(fields.headers, 'A server');
  if (Object.keys(fields.inject ?? {}).length > maxEntries) throw usage(`a server takes at most ${maxEntries} injects`);
  for (const [key, value] of Object.entries(fields.inject ?? {})) {
    if (key === '' || ['__proto__', 'constructor', 'prototype'].includes(key)) {
      throw usage(`--inject: "${key}" cannot be the name of an argument`);
    }
    if (value.length > maxText) throw usage(`--inject ${key}: the value is longer than 8 KiB`);
  }
  if (Object.keys(fields.env ?? {}).length > maxEntries) throw usage(`a server takes at most ${maxEntries} variables`);
  for (const [name, value] of Object.entries(fields.env ?? {})) {
    if (!isVariableName(name)) throw usage(`--env: "${name.slice(0, 64)}" is not the name of a variable`);
    if (value?.includes('\0') === true) throw usage(`--env ${name}: the value cannot hold U+0000`);
  }
  checkAuth(local, fields);
  checkTime('--connect-timeout', fields.connect_timeout_ms, 300_000, '5m');
  checkTime('--timeout', fields.call_timeout_ms, 3_600_000, '1h');
}

function checkAuth(local: boolean, fields: McpFields): void {
  const { auth_type, auth_env, auth_token, oauth_client_id, oauth_client_secret_env, oauth_scopes } = fields;
  const bearer = auth_env !== null || auth_token !== null;
  const oauth = oauth_client_id !== null || oauth_client_secret_env !== null || oauth_scopes !== null;
  if (local && (bearer || oauth || (auth_type !== null && auth_type !== 'none'))) {
    throw usage('a stdio server takes no authentication; give it what it needs by --env');
  }
  if (auth_env !== null && auth_token !== null) throw usage('--auth-env and --auth-token exclude each other');
  if (auth_type === 'bearer' && !bearer) {
    throw usage('bearer needs a token: --auth-env <VAR>, or --auth-token <token>');
  }
  if (auth_type === 'oauth' && bearer) throw usage('--auth-env and --auth-token go with --auth-type bearer');
  if (auth_type === 'bearer' && oauth) throw usage('the --oauth flags go with --auth-type oauth');
  if (auth_env !== null && !isVariableName(auth_env)) {
    // Not shown: it is the token itself as often as not.
    throw usage('--auth-env takes the name of a variable (letters, digits and "_"), not the token');
  }
  if (auth_token !== null && !isKey(auth_token)) {
    throw usage('the token is empty or holds blanks, line breaks or other characters that a header cannot carry');
  }
  if (oauth_client_secret_env !== null && oauth_client_secret_env !== '' && !isVariableName(oauth_client_secret_env)) {
    throw usage('--oauth-client-secret-env takes the name of a variable, not the secret');
  }
}

function checkTime(flag: string, ms: number | null, most: number, shown: string): void {
  if (ms === null || (Number.isInteger(ms) && ms >= 1_000 && ms <= most)) return;
  throw usage(`${flag} takes a time from 1s to ${shown}`);
}

/** What was said with the values that are kept. @throws RuntimeError usage for a name that has none */
export function withKept(given: GivenMcpFields, row: Pick<ToolServerRow, 'headers' | 'inject'>): McpFields {
  return {
    ...given,
    headers: keptIn('header', given.headers, readTexts(row.headers)),
    inject: keptIn('inject', given.inject, readTexts(row.inject)),
  };
}

function keptIn(
  what: string,
  given: Readonly<Record<string, string | null>> | null,
  stored: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | null {
  if (given === null) return null;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const held = value ?? stored[name];
      if (held === undefined) throw usage(`there is no stored value of the ${what} ${name} to keep`);
      return [name, held];
    }),
  );
}

/** The stored columns after what was said; maps and authentication are replaced as a whole. */
export function withFields(row: ToolServerRow, fields: McpFields, now: number): ToolServerRow {
  const json = (given: object | null, kept: string): string => (given === null ? kept : JSON.stringify(given));
  return {
    ...row,
    ...authColumns(row, fields),
    headers: json(fields.headers, row.headers),
    inject: json(fields.inject, row.inject),
    env: json(fields.env, row.env),
    connect_timeout_ms: fields.connect_timeout_ms ?? row.connect_timeout_ms,
    call_timeout_ms: fields.call_timeout_ms ?? row.call_timeout_ms,
    updated_at: now,
  };
}

type AuthColumns = Pick<ToolServerRow, 'auth_type' | 'auth_env' | 'auth_token' | 'oauth'>;

function authColumns(row: ToolServerRow, fields: McpFields): AuthColumns {
  const { auth_env, auth_token, oauth_client_id, oauth_client_secret_env, oauth_scopes } = fields;
  const saysBearer = auth_env !== null || auth_token !== null;
  const saysOauth = oauth_client_id !== null || oauth_client_secret_env !== null || oauth_scopes !== null;
  const type = fields.auth_type ?? (saysBearer ? 'bearer' : saysOauth ? 'oauth' : null);
  if (type === null) return row;
  if (type === 'bearer') return { auth_type: type, auth_env, auth_token, oauth: null };
  if (type === 'none') return { auth_type: type, auth_env: null, auth_token: null, oauth: null };
  const before = (readJson(row.oauth ?? 'null') ?? {}) as Readonly<Record<string, string | null>>;
  // What is not said of a sign-in stays as it was said before; an empty text takes it away.
  const said = (given: string | null, name: string): string | null =>
    given === null ? (before[name] ?? null) : given === '' ? null : given;
  const oauth = {
    client_id: said(oauth_client_id, 'client_id'),
    client_secret_env: said(oauth_client_secret_env, 'client_secret_env'),
    scopes: said(oauth_scopes, 'scopes'),
  };
  return { auth_type: type, auth_env: null, auth_token: null, oauth: JSON.stringify(oauth) };
}

/** What is worth a second thought about a registration, one sentence each. */
export function warningsOf(row: ToolServerRow, isSet: (variable: string) => boolean): string[] {
  const warnings: string[] = [];
  const update = `reins mcp update ${row.name}`;
  if (row.auth_token !== null) {
    warnings.push(
      `the token is stored in the database; ${update} --auth-env <VAR> keeps only the name of a variable there`,
    );
  }
  if (row.auth_env !== null && !isSet(row.auth_env)) {
    warnings.push(`the variable ${row.auth_env} is not set now; it is read when the server is used`);
  }
  const loose = looseVersion(row);
  if (loose !== null) {
    warnings.push(`${loose} has no version, so another program may be started tomorrow; write ${loose}@<version>`);
  }
  for (const [name, value] of Object.entries(readTexts(row.headers))) {
    if (isCredential(name) && !value.includes('${env:')) {
      warnings.push(`the value of header ${name} is stored in the database; write it as ${name}: \${env:NAME}`);
    }
  }
  for (const [name, value] of Object.entries(envMap(row.env))) {
    if (value !== null && isCredential(name)) {
      warnings.push(`the value of ${name} is stored in the database; --env ${name} alone passes your own variable`);
    }
    if (value === null && !isSet(name))
      warnings.push(`the variable ${name} is not set now; the server starts without it`);
  }
  const sends = credentialsOf(row) !== 'none';
  if (row.url?.startsWith('http://') === true && !isLoopback(row.url) && sends) {
    warnings.push(`the token goes to ${new URL(row.url).host} without encryption, readable on the network`);
  }
  return warnings;
}

/** The package that a runner fetches in whatever version is the newest (05 §10.3.4); null for none. */
function looseVersion({ command, args }: Pick<ToolServerRow, 'command' | 'args'>): string | null {
  if (!/(?:^|\/)(?:npx|bunx|pnpx|uvx)$/.test(command ?? '')) return null;
  const name = textList(args).find((argument) => !argument.startsWith('-'));
  return name === undefined || /^.+@.+$/.test(name) || name.includes('==') || name.startsWith('.') ? null : name;
}

/** Makes every secret of a record known to the mask (11 §5.3.1). */
export function registerSecrets(row: ToolServerRow, secrets: Secrets): void {
  if (row.auth_token !== null) secrets.register(`${row.name}.token`, row.auth_token);
  if (row.auth_env !== null) secrets.read(row.auth_env, `${row.name}.token`);
  for (const [name, text] of Object.entries({ ...readTexts(row.headers), ...readTexts(row.inject) })) {
    secrets.expand(text, `${row.name}.${name}`);
  }
  for (const [name, value] of Object.entries(envMap(row.env))) {
    if (!isCredential(name)) continue;
    if (value === null) secrets.read(name, `${row.name}.${name}`);
    else secrets.register(`${row.name}.${name}`, value);
  }
}

/** What a server is shown to know who calls. */
export function credentialsOf({ auth_type, headers }: ToolServerRow): Credentials {
  if (auth_type === 'oauth') return 'sign_in';
  return auth_type === 'bearer' || Object.keys(readTexts(headers)).some(isCredential) ? 'registered' : 'none';
}

/** Names that usually stand before a secret (05 §9.1.1, §10.1). */
export const isCredential = (name: string): boolean =>
  /^(?:authorization|proxy-authorization|cookie)$|key|token|secret|password/i.test(name);

/** The variables of a server: a text, or null for the operator's own. */
export function envMap(json: string): Readonly<Record<string, string | null>> {
  const value: unknown = readJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string | null] => typeof entry[1] === 'string' || entry[1] === null,
    ),
  );
}

/** The texts of a stored list; none where it does not parse. */
export function textList(json: string): readonly string[] {
  const value: unknown = readJson(json);
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** What does not parse is nothing: only this program writes these columns. */
export function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
