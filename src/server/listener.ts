import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ErrorCode, RuntimeError } from '../schema/errors.ts';
import { type Address, parseAddress } from './address.ts';
import { errorReply, refuse } from './error-body.ts';
import { securityHeaders } from './headers.ts';

/** Limits of 09 §2. */
const maxConnections = 256;
/** How often connections that have become idle are closed once the server stops. */
const closeIdleMs = 50;
const limits: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
  // Answered by the guard, with a body.
  requireHostHeader: false,
};

export type ListenerOptions = {
  readonly address: Address;
  readonly port: number;
  /** Listens on ::1 of the same port, too, when that is free. */
  readonly alsoSix: boolean;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Milliseconds in which a request must have come; those of 09 §2 unless given. */
  readonly limits?: { readonly headersMs: number; readonly requestMs: number } | undefined;
  onRequest(request: IncomingMessage, response: ServerResponse): void;
};

export type Listener = {
  readonly port: number;
  /** Stops accepting; idle connections are closed, others when they have been answered. */
  close(): Promise<void>;
  /** Cuts what is left. */
  cut(): void;
};

/** Listens with the limits of this server. @throws the system's error when the address cannot be had */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const open = new Set<Duplex>();
  const given = options.limits;
  const timed =
    given === undefined
      ? limits
      : {
          ...limits,
          headersTimeout: given.headersMs,
          requestTimeout: given.requestMs,
          connectionsCheckingInterval: Math.min(100, given.headersMs),
        };
  const make = (): Server => {
    const server =
      options.tls === null
        ? createServer(timed, options.onRequest)
        : createTlsServer({ ...timed, ...options.tls }, options.onRequest);
    // More would be left out without a word, and the host is counted among what is there.
    server.maxHeadersCount = 0;
    const arrived = (socket: Duplex): void => {
      if (open.size >= maxConnections) {
        socket.destroy();
        return;
      }
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    };
    server.on('connection', arrived);
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseRaw(socket, clientFault(error), options));
    server.on('connect', (_request, socket) =>
      refuseRaw(socket, refuse('method_not_allowed', 'CONNECT is not answered here.'), options),
    );
    server.on('checkExpectation', (_request, response: ServerResponse) =>
      refuseRaw(response.socket, refuse('bad_request', 'That expectation is not met.'), options),
    );
    return server;
  };
  const first = make();
  const port = await bind(first, options.port, options.address.address);
  const servers = [first];
  if (options.alsoSix) {
    const six = make();
    // Taken by another program, or there is no IPv6: the first address is enough.
    await bind(six, port, '::1').then(
      () => servers.push(six),
      () => undefined,
    );
  }
  return {
    port,
    async close() {
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      // A connection whose reply ends now, an event stream among them, is kept open by its client otherwise.
      const idle = setInterval(() => {
        for (const server of servers) server.closeIdleConnections();
      }, closeIdleMs);
      await Promise.all(closed);
      clearInterval(idle);
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

function bind(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true, ipv6Only: true }, () => {
      server.off('error', reject);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}

const faults: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'Request line and headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

function clientFault(error: NodeJS.ErrnoException): RuntimeError {
  const [code, message] = faults[error.code ?? ''] ?? ['bad_request', 'This is not a request of HTTP/1.1.'];
  return new RuntimeError(code, message);
}

/** A reply where there is no response to write to: the request could not be read. */
function refuseRaw(socket: Duplex | null, fault: RuntimeError, options: ListenerOptions): void {
  if (socket === null || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const { status, json } = errorReply(fault, id);
  const body = JSON.stringify(json);
  const head = [
    `HTTP/1.1 ${status} ${fault.code}`,
    ...securityHeaders(id, null, options.tls !== null).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/**
 * Whether a connection comes from this machine: over loopback, or over an address that is its own at both ends, which no
 * other machine can have.
 */
export function isFromHere({ socket }: IncomingMessage): boolean {
  const { remoteAddress, localAddress } = socket;
  return parseAddress(remoteAddress ?? '')?.loopback === true || (remoteAddress ?? '') === (localAddress ?? null);
}

/** The address of a peer, as it is shown and counted. */
export function peerOf(request: IncomingMessage): { readonly address: string; readonly loopback: boolean } {
  const address = request.socket.remoteAddress ?? '';
  return { address: address.replace(/^::ffff:(?=\d+\.)/, ''), loopback: parseAddress(address)?.loopback === true };
}
