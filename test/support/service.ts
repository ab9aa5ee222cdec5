import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export type Arrived = {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
};

export type Answering = (arrived: Arrived, response: ServerResponse) => void;

/** An HTTP service on loopback that writes down what it is asked. */
export type Service = {
  readonly url: string;
  readonly port: number;
  /** In the order of arrival; the description is not among them. */
  readonly arrived: Arrived[];
  /** How often the description was asked for. */
  described(): number;
  /** What `/openapi.json` answers; a string goes out as it is. */
  describe(document: unknown, headers?: Readonly<Record<string, string>>): void;
  /** What every other path answers; at first an empty JSON object. */
  answer(answering: Answering): void;
  /** Nobody listens there until `open`. */
  close(): Promise<void>;
};

export async function startService(document: unknown = null): Promise<Service> {
  const arrived: Arrived[] = [];
  let described = 0;
  let description: { readonly document: unknown; readonly headers: Readonly<Record<string, string>> } = {
    document,
    headers: {},
  };
  let answering: Answering = (_arrived, response) => json(response, {});
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const { method = '', url = '', headers } = request;
      if (url === '/openapi.json') {
        described += 1;
        for (const [name, value] of Object.entries(description.headers)) response.setHeader(name, value);
        const { etag } = description.headers;
        if (etag !== undefined && headers['if-none-match'] === etag) return response.writeHead(304).end();
        if (typeof description.document === 'string') return response.end(description.document);
        return json(response, description.document);
      }
      arrived.push({ method, url, headers, body });
      return answering({ method, url, headers, body }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening server has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    arrived,
    described: () => described,
    describe: (next, headers = {}) => {
      description = { document: next, headers };
    },
    answer: (next) => {
      answering = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function read(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
