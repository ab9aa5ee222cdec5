import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { RuntimeError } from '../../schema/errors.ts';
import { parseExactJson } from '../../text/exact-json.ts';
import { codeOf, messageOf } from '../../text/thrown.ts';
import { type Egress, parseTarget, type Target } from '../egress.ts';
import { isFailure, type ToolFailure } from '../failure.ts';
import { decompressed } from '../web-request.ts';
import { exactEvents } from './exact-events.ts';
import { fault, hasTooManyParts, maxMessageBytes, type PipeFault, tooLarge } from './pipe.ts';
import { createEventIds, createResumptions, type Resumptions } from './resumption.ts';

/** What a request of the MCP library is made of, as far as this program uses it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type FetchDeps = {
  readonly egress: Egress;
  /** Requests go to this origin alone; null where the caller has checked where they go. */
  readonly origin: string | null;
  /** What is sent with every request (05 §10.4.2). */
  headers(): Readonly<Record<string, string>>;
  /** The token of now; after a refusal (401) another one, or null when there is none. */
  bearer(refused: boolean): Promise<string | null>;
  /** The stream that answered a request is over, whether or not it held the answer. */
  streamEnded?(id: number, end: StreamEnd): void;
  readonly userAgent: string;
};

export type StreamEnd = {
  readonly reason: string;
  /** The server can be asked for the rest of it. */
  readonly resumable: boolean;
  readonly tooLarge: boolean;
};

type OpenFetch = {
  readonly fetch: Fetch;
  /** Nobody waits for the answer to a request any more: what its server goes on sending is not read, nor asked for. */
  drop(id: number): void;
  close(): void;
};

const unawaited = 'nobody waits for it any more';

/** 05 §10.4.4: an event stream that is silent for so long is broken. */
const silenceMs = 5 * 60_000;

/**
 * A fetch over connections whose addresses were checked (05 §9.2, §10.4.3): it follows no redirect, keeps answers within
 * their bounds, and adds what was registered. Rejects with `mcp_error` and a `PipeFault`.
 */
export function createFetch(deps: FetchDeps): OpenFetch {
  let agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | null = null;
  const agentsOf = () => {
    agents ??= {
      http: new HttpAgent({ keepAlive: true }),
      // Node would take any certificate where the environment says so (NODE_TLS_REJECT_UNAUTHORIZED).
      https: new HttpsAgent({ keepAlive: true, rejectUnauthorized: true }),
    };
    return agents;
  };

  const resumptions = createResumptions((id, reason) =>
    deps.streamEnded?.(id, { reason, resumable: false, tooLarge: false }),
  );
  const exchanges = new Map<number, ClientRequest>();
  const dropped = new Set<number>();

  const once = async (target: Target, init: RequestInit, token: string | null): Promise<Response> => {
    const registered = deps.headers();
    const headers = new Headers(init.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(registered)) headers.set(name, value);
    headers.set('user-agent', deps.userAgent);
    headers.set('accept-encoding', 'identity');
    const { http, https } = agentsOf();
    const secure = target.url.protocol === 'https:';
    const options = {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(headers),
      agent: secure ? https : http,
      lookup: lookupWith(deps.egress, target),
    };
    const request = secure ? requestHttps(target.url, options) : requestHttp(target.url, options);
    const id = requestId(init, resumptions);
    if (id !== undefined) exchanges.set(id, request);
    request.once('close', () => {
      if (id !== undefined && exchanges.get(id) === request) exchanges.delete(id);
    });
    const response = await answerTo(request, init, target);
    // It was asked for nothing packed, and some services pack all the same.
    return toResponse(response, await decompressed(response), streamWatch(deps, init, resumptions));
  };

  const answered = async (target: Target, init: RequestInit): Promise<Response> => {
    const response = await once(target, init, await deps.bearer(false));
    const other = response.status === 401 ? await deps.bearer(true) : null;
    if (other === null) return response;
    await response.body?.cancel();
    return once(target, init, other);
  };

  /** The rest of a stream: whoever waits for its answer hears that it will not come. */
  const rest = async (target: Target, init: RequestInit, event: string): Promise<Response> => {
    const id = resumptions.answers(event);
    if (id !== undefined && dropped.has(id)) throw fault(unawaited, { kind: 'network', sent: false });
    try {
      const response = await answered(target, init);
      const { ok, status } = response;
      if (ok) resumptions.given(event);
      else resumptions.failed(event, `the server did not go on with its answer (${status})`, status < 500);
      return response;
    } catch (error) {
      resumptions.failed(event, messageOf(error), false);
      throw error;
    }
  };

  return {
    async fetch(url, init = {}) {
      const target = parseTarget(String(url));
      if (typeof target === 'string') throw fault(`the URL ${target}`, { kind: 'blocked', sent: false });
      if (deps.origin !== null && target.url.origin !== deps.origin) {
        const message = `the server points to another origin (${target.url.origin}), which is not followed`;
        throw fault(message, { kind: 'blocked', sent: false });
      }
      const blocked = deps.egress.nameFault(target);
      if (blocked !== null) throw asBlocked(blocked);
      const event = new Headers(init.headers).get('last-event-id');
      const response = event === null ? await answered(target, init) : await rest(target, init, event);
      if (deps.origin !== null) refuseUnauthorised(response);
      return new Headers(init.headers).has('mcp-session-id') ? checkSession(response) : response;
    },
    drop(id) {
      dropped.add(id);
      exchanges.get(id)?.destroy(new Error(unawaited));
    },
    close() {
      agents?.http.destroy();
      agents?.https.destroy();
      agents = null;
    },
  };
}

/** RFC 6750: the token is known, and does not reach so far. The scopes come to be part of a command that is advised. */
const insufficient = /\berror="?insufficient_scope\b/;
const wantedScopes = /\bscope="([\w:./ -]{1,200})"/;

function refuseUnauthorised({ status, headers }: Response): void {
  if (status !== 401 && status !== 403) return;
  const said = headers.get('www-authenticate') ?? '';
  const scopes = status === 403 && insufficient.test(said) ? wantedScopes.exec(said)?.[1] : undefined;
  if (scopes !== undefined) {
    throw fault(`the server wants further rights (${scopes})`, { kind: 'auth', sent: false, status, scopes });
  }
  const message = status === 401 ? 'the server wants a sign-in (401)' : 'the server refuses access (403)';
  throw fault(message, { kind: 'auth', sent: false, status });
}

/** A server says with 404 that it does not know the session; some say it with 400 and in words. */
async function checkSession(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (status !== 404 && status !== 400) return response;
  const text = await response.text();
  if (status === 404 || /session/i.test(text)) {
    throw fault('the server has forgotten the session', { kind: 'session', sent: false, status });
  }
  return new Response(text, { status, headers });
}

/** An address that is not permitted, in words that end as a part of a sentence. */
const asBlocked = ({ message }: ToolFailure): RuntimeError =>
  fault(message.replace(/\.$/, ''), { kind: 'blocked', sent: false });

/** Names are resolved once for a connection, and it goes to one of the addresses that were checked. */
function lookupWith(egress: Egress, target: Target): LookupFunction {
  return (_host, options, callback) => {
    egress.resolve(target).then(
      (found) => {
        if (isFailure(found)) return callback(asBlocked(found), '', 4);
        const [first] = found;
        if (first === undefined) callback(new Error('the name has no address'), '', 4);
        else if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 4),
    );
  };
}

function answerTo(request: ClientRequest, init: RequestInit, { host }: Target): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let sent = false;
    const { signal } = init;
    const abort = (): void => void request.destroy(signal?.reason instanceof Error ? signal.reason : undefined);
    // One signal stands for all requests of a connection, and Node would warn about many of them on the terminal.
    if (signal != null) setMaxListeners(0, signal);
    signal?.addEventListener('abort', abort, { once: true });
    request.on('finish', () => {
      sent = true;
    });
    const unreached = (error: Error): void => {
      signal?.removeEventListener('abort', abort);
      // What was not permitted says so itself.
      reject(
        error instanceof RuntimeError ? error : fault(unreachedWords(host, error, sent), { kind: 'network', sent }),
      );
    };
    request.on('error', unreached);
    // Without a listener Node closes the connection and says nothing.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      unreached(new Error('it switches protocols (101), which was not asked for'));
    });
    request.on('response', (response) => {
      response.once('close', () => signal?.removeEventListener('abort', abort));
      resolve(response);
    });
    if (signal?.aborted === true) abort();
    // Only texts and form fields are ever sent.
    request.end(init.body == null ? undefined : String(init.body));
  });
}

function unreachedWords(host: string, error: Error, sent: boolean): string {
  const code = codeOf(error);
  if (code?.startsWith('HPE_') === true) return `${host} does not answer in HTTP: ${code}`;
  if (sent && code !== null) return `${host} gave no answer: ${code}`;
  return `${host} could not be reached: ${code ?? error.message}`;
}

type Watch = {
  /** An answer is awaited on it, so it may not be silent for long. */
  readonly awaited: boolean;
  /** @param event the last one of the stream that had an id */
  ended(end: Omit<StreamEnd, 'resumable'>, event: string | null): void;
};

/** The request that is answered: its id stands last in what the library writes. Also of one that asks for the rest. */
function requestId(init: RequestInit, resumptions: Resumptions): number | undefined {
  const behind = new Headers(init.headers).get('last-event-id');
  const asked = init.method === 'POST' ? /"id":(\d+)\}$/.exec(String(init.body).slice(-40))?.[1] : undefined;
  return asked !== undefined ? Number(asked) : behind === null ? undefined : resumptions.answers(behind);
}

/** Tells of the end of a stream that answers a request, or of its rest. */
function streamWatch(deps: FetchDeps, init: RequestInit, resumptions: Resumptions): Watch {
  const id = requestId(init, resumptions);
  return {
    awaited: id !== undefined,
    ended(end, event) {
      if (id === undefined) return;
      const resumable = event !== null;
      if (resumable) resumptions.broke(event, id);
      deps.streamEnded?.(id, { ...end, resumable });
    },
  };
}

function toResponse(response: IncomingMessage, unpacked: Readable, watch: Watch): Response {
  const status = response.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (status === 204 || status === 205 || status === 304) {
    response.resume();
    return new Response(null, { status, headers });
  }
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const body = isStream ? boundedEvents(unpacked, watch) : boundedBody(unpacked);
  body.once('close', () => response.destroy());
  // True because a web stream of Node carries the bytes that a Response takes.
  return new ExactResponse(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers });
}

/** An answer that is one JSON text loses no digit of a long integer; streams see to that by themselves. */
class ExactResponse extends Response {
  override readonly json = async (): Promise<unknown> => {
    const text = await this.text();
    if (hasTooManyParts(text)) throw tooLarge('parts');
    return parseExactJson(text);
  };
}

function boundedBody(response: Readable): Readable {
  const out = new PassThrough();
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxMessageBytes) response.destroy(tooLarge('bytes'));
  });
  return joined(response, out);
}

/** An event is at most as large as a message, and the stream is not silent for too long. */
function boundedEvents(response: Readable, watch: Watch): Readable {
  const out = exactEvents();
  out.once('error', (error) => response.destroy(error));
  const ids = createEventIds();
  let event = 0;
  // A server may write the blank line behind an event by itself.
  let before = '';
  const silent = (): void =>
    void response.destroy(fault('the stream was silent for five minutes', { kind: 'network', sent: true }));
  const timer = watch.awaited ? setTimeout(silent, silenceMs) : undefined;
  response.on('data', (chunk: Buffer) => {
    timer?.refresh();
    const text = chunk.toString('latin1');
    ids.push(text);
    const joint = before + text;
    const end = Math.max(joint.lastIndexOf('\n\n'), joint.lastIndexOf('\r\n\r\n'), joint.lastIndexOf('\r\r'));
    event = end < 0 ? event + chunk.length : joint.length - end;
    before = joint.slice(-3);
    if (event > maxMessageBytes) response.destroy(tooLarge('bytes'));
  });
  response.once('close', () => {
    clearTimeout(timer);
    const error = response.errored;
    const large = error instanceof RuntimeError && (error.data as PipeFault).kind === 'too_large';
    watch.ended({ reason: error?.message ?? 'the server closed the stream', tooLarge: large }, ids.last());
  });
  return joined(response, out);
}

function joined(response: Readable, out: Transform): Readable {
  response.once('error', (error) => out.destroy(error));
  out.once('close', () => response.destroy());
  return response.pipe(out);
}
