import { afterEach } from 'vitest';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Model, ModelPart, ModelRequest } from '../../src/models/model.ts';
import { createModel } from '../../src/models/providers.ts';
import { defaultDeps, type WireDeps } from '../../src/models/wire-model.ts';
import type { Route } from '../../src/schema/protocol.ts';

export type Recorded = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or null. */
  readonly body: unknown;
};

export type WireServer = {
  readonly url: string;
  readonly requests: Recorded[];
  /** Sockets accepted so far, in order. */
  readonly sockets: Socket[];
  /** Closed by the client or by `drop`. */
  readonly closed: number;
  /** Resolves at the next closed connection. */
  nextClose(): Promise<void>;
  close(): Promise<void>;
};

export type Handler = (request: Recorded, response: ServerResponse, index: number) => void;

/** A server on a port of loopback that answers as the test says and keeps every request. */
export async function wireServer(handler: Handler): Promise<WireServer> {
  const requests: Recorded[] = [];
  const sockets: Socket[] = [];
  let closed = 0;
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8');
      const recorded = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? null : JSON.parse(text),
      };
      requests.push(recorded);
      handler(recorded, response, requests.length - 1);
    });
  });
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
      for (const resolve of waiting.splice(0)) resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    sockets,
    get closed() {
      return closed;
    },
    nextClose: () => new Promise((resolve) => void waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Waits until data handed to the kernel has been read by the other end of this process. */
export const passed = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** `responses` is type `openai` asked over its newer interface. */
export type WireType = 'openai' | 'responses' | 'vllm' | 'openai-compatible' | 'ollama' | 'gemini' | 'anthropic';

export const contentTypes: Readonly<Record<WireType, string>> = {
  openai: 'text/event-stream',
  responses: 'text/event-stream',
  vllm: 'text/event-stream',
  'openai-compatible': 'text/event-stream',
  ollama: 'application/x-ndjson',
  gemini: 'text/event-stream',
  anthropic: 'text/event-stream',
};

/** Answers with one stream, sent whole. */
export const sends =
  (type: WireType, stream: string | Buffer): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': contentTypes[type] });
    response.end(stream);
  };

export const answers =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** A server without the newer interface of OpenAI; all else is answered by `handler`, counted without what was not there. */
export function chatOnly(handler: Handler): Handler {
  let missed = 0;
  return (request, response, index) => {
    if (!request.path.endsWith('/responses')) return handler(request, response, index - missed);
    missed += 1;
    return answers(404, '404 page not found')(request, response, index);
  };
}

/** Answers each request with the next handler; the last one stays. */
export const inTurn =
  (...handlers: readonly Handler[]): Handler =>
  (request, response, index) =>
    handlers[Math.min(index, handlers.length - 1)]?.(request, response, index);

export const routeTo = (base_url: string, type: WireType, changes: Partial<Route> = {}): Route => ({
  backend: 'b',
  type: type === 'responses' ? 'openai' : type,
  base_url,
  key: 'sk-secret-key-1',
  headers: {},
  proxy: null,
  timeouts: { connect_ms: 10_000, first_byte_ms: 10_000, idle_ms: 10_000 },
  model: 'm',
  context: null,
  max_output: null,
  capabilities: {},
  num_ctx: { fixed: null, cap: 262_144 },
  keep_alive: '5m',
  workspace: '/',
  ...changes,
});

export const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  system: '',
  messages: [{ id: '1', role: 'user', content: 'hello', timestamp: '2026-01-02T10:00:00.000Z' }],
  tools: [],
  think: 'auto',
  attempt: 1,
  ...changes,
});

export async function collect(
  model: Model,
  wanted: ModelRequest = request(),
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(wanted, signal)) parts.push(part);
  return parts;
}

/** Neighbouring texts and argument deltas joined: how they were cut is the network's choice. */
export function merged(parts: readonly ModelPart[]): ModelPart[] {
  const result: ModelPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      result[result.length - 1] = { kind: 'text', text: last.text + part.text };
    } else if (part.kind === 'thinking' && last?.kind === 'thinking') {
      result[result.length - 1] = { kind: 'thinking', text: last.text + part.text };
    } else if (part.kind === 'tool_call' && last?.kind === 'tool_call' && part.index === last.index) {
      const arguments_delta = (last.arguments_delta ?? '') + (part.arguments_delta ?? '');
      result[result.length - 1] = { ...last, ...part, ...(arguments_delta === '' ? {} : { arguments_delta }) };
    } else result.push(part);
  }
  return result;
}

export type Harness = {
  readonly server: WireServer;
  readonly model: Model;
  close(): Promise<void>;
};

const atRoot: ReadonlySet<WireType> = new Set(['ollama', 'gemini', 'anthropic']);

/** A server and a model that talks to it. The base path of OpenAI types is `/v1`. */
export async function harness(
  type: WireType,
  handler: Handler,
  changes: Partial<Route> = {},
  deps: Partial<WireDeps> = {},
): Promise<Harness> {
  const server = await wireServer(handler);
  const base = atRoot.has(type) ? server.url : `${server.url}/v1`;
  // The server is known to have the model "m" there alone.
  const refused = new Set(type === 'responses' ? [`openai b ${base} chat m`] : []);
  const model = await createModel(routeTo(base, type, changes), { ...defaultDeps(), refused, ...deps });
  return {
    server,
    model,
    close: async () => {
      model.close();
      await server.close();
    },
  };
}

/** The harness of one test at a time, closed after each; `body` is what the server was sent. */
export function oneHarness() {
  let open: Harness | null = null;
  const close = async (): Promise<void> => {
    await open?.close();
    open = null;
  };
  afterEach(close);
  return {
    start: async (...given: Parameters<typeof harness>): Promise<Harness> => {
      open = await harness(...given);
      return open;
    },
    close,
    body: (index = 0): Record<string, unknown> => open?.server.requests[index]?.body as Record<string, unknown>,
  };
}
