import { pathToFileURL } from 'node:url';
import { startBeam } from '../../src/server/server.ts';
import type { StreamLimits } from '../../src/server/event-stream.ts';
import { createSigningKey } from '../../src/server/signing.ts';
import { newTokenId, signToken } from '../../src/server/token.ts';
import { createHttpClient, type HttpClient } from '../../src/client/http-client.ts';
import { builtAt } from '../support/built-at.ts';
import { type ScriptedApp, type ScriptedSetup, scriptedApp } from '../support/scripted-app.ts';

/** A reply as a test looks at it. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
};

type Ask = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the operator's session. Null: nothing. */
  readonly token?: string | null;
};

/** The server in this process, on loopback, over a program with a scripted model. */
export type Served = {
  readonly app: ScriptedApp;
  readonly url: string;
  /** Of a session that may do everything. */
  readonly token: string;
  /** The access token of this machine. */
  readonly accessToken: string;
  /** Another login session, which began so many milliseconds ago. */
  login(agoMs?: number): string;
  call(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** The same operations through the client that is made from the table. */
  readonly client: HttpClient;
  /** A run of the script; resolves with its id. */
  run(body?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Another server in the place of this one, on the same port. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

const generous = { take: () => 0 };

export async function served(setup: ScriptedSetup & { readonly streams?: StreamLimits }): Promise<Served> {
  const ports: number[] = [];
  const app = await scriptedApp({
    ...setup,
    over: ({ chain, policy }) => ({
      surface: 'web',
      serving: { chain, timeoutMs: 0, ports: () => ports },
      policy: { value: policy, source: 'flag' },
      ...setup.over?.({ chain, policy }),
    }),
  });
  const ground = await app.handle.ground('write');
  const accessToken = ground.token.ensure().trim();
  const operations = await app.handle.routes();
  const start = (port: number) =>
    startBeam({
      client: app.client,
      operations,
      ground,
      version: 'test',
      web: pathToFileURL(`${builtAt}/web/`),
      bind: {
        address: { address: '127.0.0.1', family: 4, loopback: true, wildcard: false },
        port,
        alsoSix: false,
        publicOrigins: [],
        warnings: [],
      },
      tls: null,
      overrides: { secret: null, token: null },
      now: Date.now,
      trace: () => {},
      loginFailed: () => {},
      replaced: () => {},
      rates: generous,
      ...(setup.streams === undefined ? {} : { streams: setup.streams }),
    });
  let beam = await start(0);
  const { url, port } = beam;
  ports.push(port);
  const key = createSigningKey({ logins: ground.logins, machineKey: ground.machineKey(), override: null });
  const login = (agoMs = 0): string => {
    const now = Date.now() - agoMs;
    const session = { id: newTokenId(), jti: newTokenId(), epoch: 0, amr: 'link' as const };
    const ends = now + 86_400_000;
    ground.logins.addSession(
      {
        ...session,
        peer: '127.0.0.1',
        user_agent: 'test',
        created_at: now,
        proof_at: now,
        expires_at: ends,
        ends_at: now + 7 * 86_400_000,
      },
      {},
    );
    const { id: sid, jti, epoch: ver, amr } = session;
    return signToken(key(), { aud: ground.logins.instanceId, sid, jti, ver, amr }, { issuedAt: now, expiresAt: ends });
  };
  const token = login();
  const call: Served['call'] = async (method, path, ask = {}) => {
    const credential = ask.token === undefined ? token : ask.token;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...ask.headers,
      },
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  };
  return {
    app,
    url,
    token,
    accessToken,
    login,
    call,
    client: createHttpClient({
      base: url,
      fetch: globalThis.fetch,
      headers: () => ({ authorization: `Bearer ${token}` }),
    }),
    async run(body = {}) {
      const { status, json, text } = await call('POST', '/api/runs', {
        body: { input: 'go', model: 'm', provider: 'scripted', ...body },
      });
      if (status !== 202) throw new Error(text);
      return String(json['run_id']);
    },
    async restart(meanwhile = async () => {}) {
      await beam.stop();
      await meanwhile();
      beam = await start(port);
    },
    async close() {
      await beam.stop();
      await app.close();
    },
  };
}
