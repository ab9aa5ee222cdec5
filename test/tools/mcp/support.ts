import { type ChildProcess, spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGroupGuard, type GroupGuard } from '../../../src/children/group-guard.ts';
import { createEgress } from '../../../src/tools/egress.ts';
import { childEnvironment } from '../../../src/tools/environment.ts';
import { type Connection, createConnection } from '../../../src/tools/mcp/connection.ts';
import { createRing } from '../../../src/tools/mcp/ring.ts';
import { createStdioPipe } from '../../../src/tools/mcp/stdio.ts';
import type { Route } from '../../../src/tools/mcp/transports.ts';

/** The directory of an installed package. */
const packageRoot = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

export const everything = join(packageRoot('@modelcontextprotocol/server-everything'), 'dist/index.js');
export const filesystem = join(packageRoot('@modelcontextprotocol/server-filesystem'), 'dist/index.js');
export const memory = join(packageRoot('@modelcontextprotocol/server-memory'), 'dist/index.js');
/** Misbehaves as its first argument says. */
export const badServer = fileURLToPath(new URL('../../support/bad-mcp-server.mjs', import.meta.url));

let guard: GroupGuard | undefined;

export type Child = {
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** A connection with what it said on the way. */
export type Tried = Connection & { readonly notices: string[]; readonly listings: string[][] };

type Limits = { readonly connectTimeoutMs?: number; readonly callTimeoutMs?: number; readonly now?: () => number };

export function tryRoute(route: (ring: ReturnType<typeof createRing>) => Route, limits: Limits = {}): Tried {
  const notices: string[] = [];
  const listings: string[][] = [];
  const ring = createRing();
  const connection = createConnection({
    version: '0.0.0',
    route: async () => route(ring),
    connectTimeoutMs: limits.connectTimeoutMs ?? 20_000,
    callTimeoutMs: limits.callTimeoutMs ?? 20_000,
    signsIn: false,
    ring,
    notice: (text) => void notices.push(text),
    listed: ({ definitions }) => void listings.push(definitions.map(({ name }) => name)),
    now: limits.now ?? Date.now,
  });
  return { ...connection, notices, listings };
}

export function tryChild(args: readonly string[], child: Child = {}, limits: Limits = {}): Tried {
  guard ??= createGroupGuard();
  const own = guard;
  return tryRoute(
    (ring) => ({
      kind: 'stdio',
      pipe: createStdioPipe(
        {
          command: child.command ?? process.execPath,
          args,
          cwd: child.cwd ?? '/',
          environment: childEnvironment({
            parent: process.env,
            allow: [],
            declared: child.env ?? {},
            marker: 'mcp:test',
          }),
        },
        { guard: own, ring },
      ),
    }),
    limits,
  );
}

export type Remote = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly bearer?: (refused: boolean) => Promise<string | null>;
};

export function tryUrl(kind: 'http' | 'sse', url: string, remote: Remote = {}, limits: Limits = {}): Tried {
  const egress = createEgress({
    privateHosts: ['127.0.0.1'],
    ownPorts: () => [],
    lookup: (host) => lookup(host, { all: true }),
  });
  return tryRoute(
    () => ({
      kind,
      url: new URL(url),
      egress,
      headers: () => remote.headers ?? {},
      bearer: remote.bearer ?? (async () => null),
    }),
    limits,
  );
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

/** Starts the everything server over HTTP and waits until it listens. */
export async function serveEverything(kind: 'http' | 'sse', port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [everything, kind === 'http' ? 'streamableHttp' : 'sse'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (/on port/.test(String(chunk))) resolve();
    });
    child.once('exit', () => reject(new Error('the server ended')));
  });
  return child;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** A call with what it told on the way. */
export async function callWith(
  connection: Tried,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal = new AbortController().signal,
) {
  const progress: unknown[] = [];
  const end = await connection.call(tool, args, { signal, onProgress: (one) => void progress.push(one) });
  return { end, progress };
}

/** The result of a call that succeeded. @throws when it did not */
export async function resultOf(connection: Tried, tool: string, args: Readonly<Record<string, unknown>>) {
  const { end } = await callWith(connection, tool, args);
  if (end.kind !== 'result') throw new Error(JSON.stringify(end));
  return end.result;
}
