import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Method of the JSON-RPC message, or null. */
  readonly rpc: string | null;
};

type Message = { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };

/** What a test wants to happen instead; `false` when the usual thing is to happen. */
export type Instead = (message: Message | null, request: IncomingMessage, response: ServerResponse) => boolean;

/** A server of the streamable kind that answers in JSON, and remembers what it was sent. */
export type FakeHttp = {
  readonly url: string;
  readonly seen: Seen[];
  /** Forgets the session, as a restart would. */
  forget(): void;
  close(): Promise<void>;
};

export async function fakeHttp(instead: Instead = () => false): Promise<FakeHttp> {
  const seen: Seen[] = [];
  let session = 1;
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      const message: Message | null = body.startsWith('{') ? JSON.parse(body) : null;
      const { method = '', url = '', headers } = request;
      seen.push({ method, path: url, headers, rpc: message?.method ?? null });
      if (instead(message, request, response)) return;
      const given = headers['mcp-session-id'];
      if (given !== undefined && given !== `s${session}`) return response.writeHead(404).end();
      if (method !== 'POST' || message === null) return response.writeHead(405).end();
      if (message.id === undefined) return response.writeHead(202).end();
      const result = resultOf(message);
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${session}` });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    forget() {
      session += 1;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function resultOf({ method, params }: Message): unknown {
  if (method === 'initialize') {
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } };
  }
  if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
  return { content: [{ type: 'text', text: JSON.stringify(params?.['arguments'] ?? {}) }] };
}
