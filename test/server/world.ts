import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApp } from '../../src/app.ts';
import type { ServerGround } from '../../src/app-options.ts';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { BeamOptions } from '../../src/server/server.ts';
import { startBeam } from '../../src/server/server.ts';
import { appOptions } from '../support/app-options.ts';
import { builtAt } from '../support/built-at.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; null for anything else. */
  readonly json: Json;
};
type Json = { readonly [name: string]: unknown } | null;

export type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
};

export const good = 'correct horse battery';

/** The server in this process on a port of its own, with a database of its own, and a client that sends what it is told. */
export type ServerWorld = {
  readonly place: TempHome;
  readonly port: number;
  readonly url: string;
  readonly client: RuntimeClient;
  readonly ground: ServerGround;
  /** The access token. */
  readonly token: string;
  /** Requests that were answered, as the trace tells them. */
  readonly lines: readonly unknown[];
  send(path: string, sent?: Sent): Promise<Answer>;
  /** With the access token. */
  authorised(path: string, sent?: Sent): Promise<Answer>;
  /** A login; the default credentials unless a password is given. */
  login(password?: string): Promise<Answer>;
  /** Bytes as they are; resolves with everything that came back when the server closed. */
  raw(bytes: string): Promise<string>;
  /** Moves the clock of the server. */
  pass(ms: number): void;
  /** Another server on the same database, in the place of this one. */
  restart(over?: Partial<BeamOptions>): Promise<ServerWorld>;
  close(): Promise<void>;
};

const unlimited = { take: () => 0 };

export async function startServer(over: Partial<BeamOptions> = {}, place = tempHome()): Promise<ServerWorld> {
  const web = join(place.dir, 'web');
  mkdirSync(join(web, 'assets'), { recursive: true });
  writeFileSync(join(web, 'index.html'), '<!doctype html><style nonce="__NONCE__"></style><title>Reins</title>');
  writeFileSync(join(web, 'assets/app-1234.js'), 'export {};\n');
  writeFileSync(join(web, 'assets/app-1234.js.map'), '{}');
  writeFileSync(join(web, '.hidden'), 'secret');
  let shift = 0;
  const lines: unknown[] = [];
  const app = await createApp({ ...appOptions(place, builtAt), surface: 'web' });
  const ground = await app.ground('write');
  const token = ground.token.ensure().trim();
  const now = () => Date.now() + shift;
  const beam = await startBeam({
    client: app.client,
    operations: await app.routes(),
    ground,
    version: 'test',
    web: pathToFileURL(`${web}/`),
    bind: {
      address: { address: '127.0.0.1', family: 4, loopback: true, wildcard: false },
      port: 0,
      alsoSix: false,
      publicOrigins: [],
      warnings: [],
    },
    tls: null,
    overrides: { secret: null, token: null },
    now,
    trace: (line) => void lines.push(line),
    loginFailed: () => {},
    replaced: () => {},
    rates: unlimited,
    passwordCost: 4,
    ...over,
  });
  const { port } = beam;

  const send: ServerWorld['send'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const given = {
        host: `127.0.0.1:${port}`,
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      };
      // A header of the empty text is left out.
      const sentHeaders = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          headers: sentHeaders as Record<string, string>,
          setHost: false,
          agent: false,
        },
        (response) => {
          let all = '';
          response.setEncoding('utf8');
          response.on('data', (piece: string) => {
            all += piece;
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: all, json: parsed(all) }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  const close = async () => {
    await beam.stop();
    await app.close();
  };
  const world: ServerWorld = {
    place,
    port,
    url: beam.url,
    client: app.client,
    ground,
    token,
    lines,
    send,
    authorised: (path, sent = {}) =>
      send(path, { ...sent, headers: { authorization: `Bearer ${token}`, ...sent.headers } }),
    login: (password = 'admin') => send('/api/login', { method: 'POST', body: { email: 'admin', password } }),
    raw: (bytes) =>
      new Promise((resolve, reject) => {
        let all = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
        socket.setEncoding('utf8');
        socket.on('data', (piece: string) => {
          all += piece;
        });
        socket.on('error', reject);
        socket.on('close', () => resolve(all));
      }),
    pass: (ms) => {
      shift += ms;
    },
    restart: async (again = {}) => {
      await close();
      return startServer(again, place);
    },
    close: async () => {
      await close();
      place.remove();
    },
  };
  return world;
}

function parsed(text: string): Json {
  try {
    // What a test reads of it is compared with a whole value.
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** `error.code` of a reply. */
export const codeOf = (answer: Answer): unknown => (answer.json?.['error'] as { code?: unknown } | undefined)?.code;
export const paramOf = (answer: Answer): unknown => (answer.json?.['error'] as { param?: unknown } | undefined)?.param;

/** Logs in with the default credentials and sets a password. @returns the token of the session */
export async function withPassword(world: ServerWorld, password = good): Promise<string> {
  const first = await world.login();
  const changed = await world.send('/api/auth/change-password', {
    method: 'POST',
    headers: { authorization: `Bearer ${String(first.json?.['token'])}` },
    body: { current_password: 'admin', new_password: password },
  });
  return String(changed.json?.['token']);
}

export const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` });
