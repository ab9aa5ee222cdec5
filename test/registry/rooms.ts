import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createBackends } from '../../src/registry/backends.ts';
import type { Inspection } from '../../src/registry/inspection.ts';
import { createModels, type Given } from '../../src/registry/models.ts';
import { createObserver } from '../../src/registry/observe.ts';
import type { RouteBounds, RouteResult, WantedRoutes } from '../../src/registry/ports.ts';
import { createSecrets } from '../../src/registry/secrets.ts';
import { createSettings } from '../../src/registry/settings.ts';
import { createSetup } from '../../src/registry/setup.ts';
import { createUserSettings } from '../../src/registry/user-settings.ts';
import { createRegistry } from '../../src/store/registry.ts';
import { createSettings as createSettingRows } from '../../src/store/settings.ts';
import { openStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

export type RoomsOptions = {
  readonly environment?: Record<string, string | undefined>;
  readonly ollama?: { readonly url: string; readonly explicit: boolean };
  readonly model?: Given;
  readonly provider?: Given;
  readonly inspection?: Partial<Inspection>;
  /** Hears how old what is known of the audit log may be. */
  readonly onInspect?: (chainAgeMs: number) => void;
  /** Opens the database of earlier rooms, as another process would. */
  readonly home?: TempHome;
};

/** Nothing listens on this port: a connection is refused at once. */
export const deadUrl = 'http://127.0.0.1:9';
const tenant = '00000000-0000-0000-0000-000000000001';

export const soundInspection = (home: TempHome): Inspection => ({
  dataDir: join(home.workspace, '.reins'),
  root: '/w',
  hasRunChain: true,
  invalidChains: [],
  instructions: [],
  trustFault: null,
  untrusted: [],
  policy: {
    name: 'default',
    source: 'builtin',
    sha256: 'ab',
    path: null,
    state: 'ok',
    defect: null,
    warnings: 0,
    given: false,
    presetChanged: null,
    attentionChainMissing: false,
    binaries: [],
  },
  database: {
    path: join(home.home, 'local.db'),
    bytes: 4096,
    schema: 1,
    problem: null,
    auditBreak: null,
    damagedSessions: [],
    freeBytes: 1e12,
  },
  openPermissions: [],
  leftOver: [],
  defaultPassword: 'no',
  unwritable: { dataDir: null, home: null, database: null },
  refused: [],
  asks: { pending: 0, oldest: null },
  runs: { interrupted: 0, suspended: 0, unknownOutcome: [], stuck: [] },
  cautiousChains: [],
  chainMaxTokens: null,
  beamPortTaken: null,
  webProxy: null,
  defaultChain: '',
  servesNoChats: false,
});

/** The room over a real database, with a clock that only moves when told to. */
export async function openRooms(options: RoomsOptions = {}) {
  const home = options.home ?? tempHome();
  let time = Date.parse('2026-01-02T10:00:00.000Z');
  const now = (): number => time;
  const store = await openStore({
    path: join(home.home, 'local.db'),
    mode: 'create',
    reinsHome: home.home,
    version: '0.0.0',
    now,
    warn: () => {},
  });
  const changes: unknown[] = [];
  const told: unknown[] = [];
  const record = <T>(type: string, entry: Readonly<Record<string, unknown>>, body: () => T): T => {
    const result = store.sql.write('full', body);
    changes.push({ type, ...entry });
    return result;
  };
  const environment = options.environment ?? {};
  const secrets = createSecrets({ environment });
  const rows = createRegistry(store.sql, tenant);
  const settings = createSettings({
    store: createSettingRows(store.sql, tenant),
    user: createUserSettings({ reinsHome: home.home }),
    record,
    now,
  });
  const observer = createObserver({ store: rows, secrets, environment, workspace: home.workspace, now });
  const ollama = options.ollama ?? { url: deadUrl, explicit: false };
  const backends = createBackends({
    store: rows,
    secrets,
    observer,
    record,
    now,
    workspace: { root: home.workspace, cwd: home.workspace },
    home: home.home,
    ollama,
  });
  const models = createModels({
    store: rows,
    backends,
    observer,
    settings,
    record,
    now,
    given: { model: options.model ?? null, provider: options.provider ?? null },
  });
  const setup = createSetup({
    sources: async () => [],
    tell: (state) => void told.push(state),
    store: rows,
    backends,
    observer,
    models,
    settings,
    secrets,
    ollama,
    workspace: home.workspace,
    now,
    written: () => String(changes.length),
    inspect: async (_policy, chainAgeMs) => {
      options.onInspect?.(chainAgeMs);
      return { ...soundInspection(home), ...options.inspection };
    },
  });
  return {
    home,
    environment,
    rows,
    secrets,
    settings,
    observer,
    backends,
    models,
    setup,
    told,
    changes,
    /** Moves the clock. */
    pass(ms: number): void {
      time += ms;
    },
    /** Routes of a turn that wants these names. */
    routes(
      wanted: Partial<WantedRoutes>,
      bounds: Partial<RouteBounds> = {},
      signal = new AbortController().signal,
    ): Promise<RouteResult> {
      return models.routes(
        {
          providers: [],
          models: [],
          defaultModel: 'qwen2.5:7b',
          defaultProvider: '',
          needs: { tools: false, vision: false },
          tokenNeed: 0,
          contextHint: 0,
          workspace: home.workspace,
          ...wanted,
        },
        { models: [], backends: [], ...bounds },
        signal,
      );
    },
    close(): void {
      observer.close();
      store.close();
    },
  };
}

export type Rooms = Awaited<ReturnType<typeof openRooms>>;

export const noFields = {
  url: null,
  key_env: null,
  key_literal: null,
  headers: null,
  proxy: null,
  connect_timeout_ms: null,
  first_byte_timeout_ms: null,
  idle_timeout_ms: null,
} as const;

export type FakeServer = {
  readonly url: string;
  /** Method and path of every request, in order. */
  readonly requests: readonly string[];
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  answer(handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
};

/** A model server on the loopback whose answers a test decides. */
export async function fakeServer(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FakeServer> {
  let current = handler;
  let headers: IncomingMessage['headers'] = {};
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers = request.headers;
    request.resume();
    request.on('end', () => current(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    headers: () => headers,
    answer: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

/** Answers as a server of the OpenAI kind that serves these models. */
export const openAi =
  (...names: readonly string[]) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    json(response, { object: 'list', data: names.map((id) => ({ id, max_model_len: 16_384 })) });

/** Answers as an Ollama server: names with what `/api/show` says of all of them. */
export const ollama =
  (names: readonly string[], show: unknown = { capabilities: ['completion', 'tools'] }) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/api/tags') {
      json(response, { models: names.map((name) => ({ name, digest: `d-${name}`, size: 1000 })) });
    } else json(response, show);
  };

/** The model servers of one test; `close` ends them. */
export type FakeServers = {
  serve(...args: Parameters<typeof fakeServer>): Promise<FakeServer>;
  close(): Promise<void>;
};

export function fakeServers(): FakeServers {
  const servers: FakeServer[] = [];
  return {
    async serve(handler) {
      const server = await fakeServer(handler);
      servers.push(server);
      return server;
    },
    async close() {
      await Promise.all(servers.splice(0).map((server) => server.close()));
    },
  };
}
