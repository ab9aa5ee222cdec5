import type { LookupAddress } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { codeOf, messageOf } from '../text/thrown.ts';
import type { Target } from './egress.ts';

export type Exchange = {
  readonly target: Target;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Checked; the connection goes to one of these and nothing is resolved again. */
  readonly addresses: readonly LookupAddress[];
  readonly proxy: URL | null;
  readonly connectMs: number;
  /** Milliseconds that are left for all, the body included. */
  readonly totalMs: number;
  readonly maxBodyBytes: number;
};

export type Reply =
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: Buffer;
      readonly truncated: boolean;
    }
  /** `sent`: the server may have got the request; `answered`: it has begun to answer. */
  | {
      readonly kind: 'broken';
      readonly why: 'timeout' | 'cancelled' | 'error';
      readonly reason: string;
      readonly sent: boolean;
      readonly answered: boolean;
    };

/** Node would take nothing for it where the environment says so (NODE_TLS_REJECT_UNAUTHORIZED). */
const verified = { rejectUnauthorized: true } as const;

/** One request and its answer, decompressed and cut at `maxBodyBytes`. Never rejects. Certificates are always verified. */
export function exchange(wanted: Exchange, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve) => {
    let sent = false;
    let answered = false;
    let request: ClientRequest | null = null;
    let tunnel: ClientRequest | null = null;
    const settle = (reply: Reply): void => {
      clearTimeout(total);
      clearTimeout(connecting);
      signal.removeEventListener('abort', onAbort);
      resolve(reply);
      request?.destroy();
      tunnel?.destroy();
    };
    const broken = (why: 'timeout' | 'cancelled' | 'error', reason: string): void =>
      settle({ kind: 'broken', why, reason, sent, answered });
    const onAbort = (): void => broken('cancelled', 'cancelled');
    const total = setTimeout(() => broken('timeout', `no complete answer within the time limit`), wanted.totalMs);
    const connecting = setTimeout(() => {
      if (!sent) broken('timeout', `no connection within ${wanted.connectMs / 1000} s`);
    }, wanted.connectMs);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();

    const start = (through: Socket | null): void => {
      // Without a tunnel a proxy is what is spoken to.
      const { protocol } = through === null ? (wanted.proxy ?? wanted.target.url) : wanted.target.url;
      const secure = protocol === 'https:';
      const options = requestOptions(wanted, through);
      request = secure ? requestHttps(wanted.target.url, options) : requestHttp(wanted.target.url, options);
      request.on('error', (error) => broken('error', reasonOf(error)));
      request.on('socket', (socket) => {
        const connected = (): void => {
          sent = true;
        };
        if (through !== null) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      // Without a listener Node closes the connection and says nothing.
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        answered = true;
        broken('error', 'it switches protocols (101), which was not asked for');
      });
      request.on('response', (response) => {
        answered = true;
        clearTimeout(connecting);
        readBody(response, wanted.maxBodyBytes).then(
          (read) => settle({ kind: 'reply', status: response.statusCode ?? 0, headers: response.headers, ...read }),
          (error: unknown) => broken('error', reasonOf(error)),
        );
      });
      request.end(wanted.body ?? undefined);
    };

    if (wanted.proxy === null || wanted.target.url.protocol === 'http:') start(null);
    else {
      tunnel = openTunnel(wanted.proxy, wanted.target, (socket, reason) => {
        if (socket === null) broken('error', reason);
        else start(socket);
      });
    }
  });
}

function requestOptions(wanted: Exchange, through: Socket | null): RequestOptions {
  const { target, proxy, method, addresses } = wanted;
  const headers: Record<string, string> = { ...wanted.headers };
  if (wanted.body !== null) headers['content-length'] = String(wanted.body.length);
  const base = { ...verified, method, headers, agent: false } satisfies RequestOptions;
  // With an agent, also with `false`, Node would make a connection of its own, straight to the target.
  if (through !== null) return { ...base, agent: undefined, createConnection: () => through };
  if (proxy !== null) {
    // A proxy gets the whole URL, and `Host` names the target.
    headers['host'] = target.url.host;
    Object.assign(headers, proxyHeaders(proxy));
    return { ...base, ...placeOf(proxy), path: target.url.href.replace(/#.*$/, '') };
  }
  return { ...base, lookup: lookupOf(addresses) };
}

/** Answers with the addresses that were checked. */
function lookupOf(addresses: readonly LookupAddress[]): NonNullable<RequestOptions['lookup']> {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error('the name has no address'), '', 4);
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

/** Where a proxy is. Its certificate is its own: Node would take the name from the header `Host`, which names the target. */
function placeOf(proxy: URL): RequestOptions & { readonly servername: string } {
  const hostname = proxy.hostname.replace(/^\[|\]$/g, '');
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port);
  return { protocol: proxy.protocol, hostname, port, servername: nameFor(hostname) };
}

/** The name that TLS is told: an address is none, and is looked for in the certificate all the same. */
const nameFor = (host: string): string => (isIP(host) === 0 ? host : '');

function proxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  if (proxy.username === '') return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
}

function openTunnel(
  proxy: URL,
  { host, port }: Target,
  done: (socket: Socket | null, reason: string) => void,
): ClientRequest {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
    ...verified,
    ...placeOf(proxy),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    agent: false,
  });
  request.on('error', (error) => done(null, `proxy: ${reasonOf(error)}`));
  request.on('response', (response) => done(null, `the proxy answered ${response.statusCode ?? 0}`));
  request.on('connect', (response, socket) => {
    if (response.statusCode !== 200) {
      socket.destroy();
      done(null, `the proxy answered ${response.statusCode ?? 0}`);
      return;
    }
    const secured = connectTls({ ...verified, socket, host, servername: nameFor(host) });
    secured.once('error', (error) => done(null, reasonOf(error)));
    secured.once('secureConnect', () => done(secured, ''));
  });
  request.end();
  return request;
}

async function readBody(response: IncomingMessage, max: number): Promise<{ body: Buffer; truncated: boolean }> {
  const stream = await decompressed(response);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const part: Buffer = chunk;
    size += part.length;
    parts.push(part);
    if (size > max) return { body: Buffer.concat(parts).subarray(0, max), truncated: true };
  }
  return { body: Buffer.concat(parts), truncated: false };
}

/**
 * What a service has packed, unpacked: a bound applies to what comes out, so a small answer cannot grow without end.
 * @throws Error for an encoding that is not known
 */
export async function decompressed(response: IncomingMessage): Promise<Readable> {
  const encodings = (response.headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length === 0) return response;
  const zlib = await import('node:zlib');
  // An answer to HEAD names the encoding of a body that does not come: without these flags nothing is a broken stream.
  const flushed = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  let stream: Readable = response;
  for (const encoding of encodings.slice(0, maxEncodings).reverse()) {
    const decoder =
      encoding === 'gzip' || encoding === 'x-gzip'
        ? zlib.createGunzip(flushed)
        : encoding === 'deflate'
          ? zlib.createInflate(flushed)
          : encoding === 'br'
            ? zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })
            : null;
    if (decoder === null || encodings.length > maxEncodings) {
      throw new Error(`it is encoded as "${encodings.join(', ').slice(0, 100)}"`);
    }
    stream.once('error', (error) => decoder.destroy(error));
    stream = stream.pipe(decoder);
  }
  return stream;
}

/** What a server lays over each other; one that names more wants to be decoded for ever. */
const maxEncodings = 2;

/** The system's or TLS's word for it, without addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return codeOf(error) ?? messageOf(error).slice(0, 200);
}
