import { RuntimeError } from '../schema/errors.ts';
import type { ToolServerRow, ToolServers } from '../store/tool-servers.ts';
import { createFetch, type Fetch } from '../tools/mcp/fetch.ts';
import { refreshTokens, type SignedClient, signIn, type Tokens } from '../tools/mcp/sign-in.ts';
import { readJson } from './mcp-fields.ts';
import { egressTo } from './mcp-launch.ts';
import type { RecordChange } from './ports.ts';
import type { Secrets } from './secrets.ts';

export type SignInDeps = {
  readonly store: ToolServers;
  readonly secrets: Secrets;
  readonly record: RecordChange;
  readonly privateHosts: () => readonly string[];
  readonly ownPorts: () => readonly number[];
  readonly version: string;
  /** The turn of one process among all that share the database; null when it does not come. */
  lock(key: string, signal: AbortSignal): Promise<(() => void) | null>;
  readonly now: () => number;
};

type Stored = { readonly client: SignedClient | null; readonly token: Tokens | null };

/** 05 §10.8.4. */
const refreshBeforeMs = 60_000;
const answerMs = 5 * 60_000;
const lockMs = 30_000;

/** Signing in to servers with OAuth, and the tokens that it leaves (05 §10.8). */
export function createSignIns(deps: SignInDeps) {
  const { store, secrets, now } = deps;
  /** The token that each server was given last: a refusal is about that one. */
  const given = new Map<string, string>();

  const stored = (row: ToolServerRow): Stored => {
    const { client, token } = store.signIn(row.id);
    // Written by `keep`.
    const found = { client: readJson(client ?? 'null'), token: readJson(token ?? 'null') } as Stored;
    for (const value of [found.token?.access_token, found.token?.refresh_token, secretOf(found.client)]) {
      if (value != null) secrets.register(`${row.name}.token`, value);
    }
    return found;
  };
  const keep = (row: ToolServerRow, { client, token }: Stored): void =>
    store.putSignIn(
      row.id,
      { client: client === null ? null : JSON.stringify(client), token: token === null ? null : JSON.stringify(token) },
      now(),
    );
  const withFetch = async <T>(
    row: ToolServerRow,
    signal: AbortSignal | null,
    body: (fetch: Fetch) => Promise<T>,
  ): Promise<T> => {
    const { fetch, close } = createFetch({
      egress: egressTo(new URL(row.url ?? ''), deps),
      origin: null,
      headers: () => ({}),
      bearer: async () => null,
      userAgent: `reins/${deps.version}`,
    });
    try {
      return await body(limitedFetch(fetch, row.connect_timeout_ms, signal));
    } finally {
      close();
    }
  };

  /** The secret of a client that the operator has registered is in a variable, and nowhere else. */
  const secretNow = (row: ToolServerRow): string | null => {
    const variable = configuredOf(row)['client_secret_env'] ?? null;
    return variable === null ? null : secrets.read(variable, `${row.name}.client_secret`);
  };

  const isFresh = (token: Tokens, refusedToken: string | null): boolean =>
    token.access_token !== refusedToken && (token.expires_at === null || token.expires_at - refreshBeforeMs > now());

  const refresh = async (row: ToolServerRow, refusedToken: string | null): Promise<string | null> => {
    const release = await deps.lock(`mcp-auth:${row.id}`, AbortSignal.timeout(lockMs));
    if (release === null) throw new RuntimeError('mcp_error', 'another process is renewing its sign-in');
    try {
      const { token: before } = store.signIn(row.id);
      const { client, token } = stored(row);
      if (before === null || token === null) return null;
      if (isFresh(token, refusedToken)) return token.access_token;
      if (client === null || token.refresh_token === null) return null;
      const { refresh_token } = token;
      const whole = withSecret(client, secretNow(row));
      const tokens = await withFetch(row, null, (fetch) => refreshTokens(whole, refresh_token, fetch, now()));
      const renewed = tokens === null ? null : JSON.stringify(tokens);
      if (store.renewToken(row.id, before, renewed, now())) return tokens?.access_token ?? null;
      // Whoever signed in or out meanwhile has the last word.
      return stored(row).token?.access_token ?? null;
    } finally {
      release();
    }
  };

  return {
    /** True when there is something to try: whether the server takes it is seen when it is used. */
    signedIn: (row: ToolServerRow): boolean => store.signIn(row.id).token !== null,

    /** The token to send; null when somebody has to sign in. @param refused the last one was. @throws RuntimeError mcp_error */
    async token(row: ToolServerRow, refused: boolean): Promise<string | null> {
      const refusedToken = refused ? (given.get(row.id) ?? null) : null;
      const { token } = stored(row);
      if (token === null) return null;
      const current = isFresh(token, refusedToken)
        ? token.access_token
        : await refresh(row, refusedToken).catch((error: unknown) => {
            // It is renewed before its end: until then it does, where nobody renews it now.
            if (token.access_token === refusedToken || (token.expires_at ?? 0) <= now()) throw error;
            return token.access_token;
          });
      if (current !== null) {
        secrets.register(`${row.name}.token`, current);
        given.set(row.id, current);
      }
      return current;
    },

    /** Has the operator sign in; the URL is told as soon as it is known. @throws RuntimeError usage, mcp_error, timeout */
    async signIn(row: ToolServerRow, onUrl: (url: string) => void, signal: AbortSignal): Promise<void> {
      if (row.auth_type !== 'oauth') {
        throw new RuntimeError('usage', `"${row.name}" is not signed in to: its authentication is ${row.auth_type}`, {
          // A program is given what it needs in its environment.
          hints:
            row.transport === 'stdio'
              ? [`reins mcp update ${row.name} --env <NAME>`]
              : [`reins mcp update ${row.name} --auth-type oauth`],
        });
      }
      const configured = configuredOf(row);
      const secret = secretNow(row);
      const variable = configured['client_secret_env'] ?? null;
      if (variable !== null && secret === null) {
        throw new RuntimeError('usage', `the variable ${variable} with the client's secret is not set`);
      }
      const id = configured['client_id'] ?? null;
      const result = await withFetch(row, signal, (fetch) =>
        signIn(
          {
            name: row.name,
            serverUrl: row.url ?? '',
            fetch,
            client: id === null ? null : { id, secret },
            scopes: configured['scopes'] ?? null,
            before: stored(row).client,
            onUrl,
            onSecret: (value) => secrets.register(`${row.name}.token`, value),
            timeoutMs: answerMs,
            now,
          },
          signal,
        ),
      ).catch((error: unknown) => {
        // A server may say in its refusal what it was sent.
        throw error instanceof RuntimeError ? new RuntimeError(error.code, secrets.mask(error.message)) : error;
      });
      deps.record('registry_changed', { registry: 'mcp', name: row.name, change: 'signed_in' }, () =>
        keep(row, {
          client: result.client.dynamic ? result.client : withSecret(result.client, null),
          token: result.tokens,
        }),
      );
      store.noteError(row.id, null);
    },

    /** Forgets the tokens. @returns false when there were none */
    signOut(row: ToolServerRow): boolean {
      const { client, token } = stored(row);
      if (token === null) return false;
      deps.record('registry_changed', { registry: 'mcp', name: row.name, change: 'signed_out' }, () =>
        keep(row, { client, token: null }),
      );
      return true;
    },
  };
}

/** The steps of a sign-in have no time of their own: each answer is there in time, or is given up with `signal`. */
const limitedFetch =
  (fetch: Fetch, ms: number, signal: AbortSignal | null): Fetch =>
  (url, init = {}) => {
    const limit = new AbortController();
    // Once the whole answer is there, this ends nothing.
    setTimeout(() => limit.abort(new Error(`no answer within ${ms / 1000} s`)), ms).unref();
    const signals = [limit.signal, signal, init.signal ?? null].filter((one) => one !== null);
    return fetch(url, { ...init, signal: AbortSignal.any(signals) });
  };

const configuredOf = (row: ToolServerRow): Readonly<Record<string, string | null>> =>
  // Written by `withFields`.
  (readJson(row.oauth ?? 'null') ?? {}) as Readonly<Record<string, string | null>>;

function withSecret(client: SignedClient, secret: string | null): SignedClient {
  if (client.dynamic) return client;
  const information = {
    client_id: client.information.client_id,
    ...(secret === null ? {} : { client_secret: secret }),
  };
  return { ...client, information };
}

function secretOf(client: SignedClient | null): string | null {
  const secret =
    client === null ? undefined : (client.information as { readonly client_secret?: unknown }).client_secret;
  return typeof secret === 'string' ? secret : null;
}
