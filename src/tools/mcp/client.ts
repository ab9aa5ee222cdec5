import { RuntimeError } from '../../schema/errors.ts';
import { asFault, type CallEnd, endOf } from './call-end.ts';
import type { StreamEnd } from './fetch.ts';
import { createCollection, type Listing } from './listing.ts';
import { fault } from './pipe.ts';
import { refuseDeepMessages } from './shallow-messages.ts';
import { openTransport, type Route } from './transports.ts';

export type ClientDeps = {
  readonly version: string;
  /** The connection is over, and it was not closed from here. */
  closed(reason: string): void;
  /** The server says that its list of tools has changed. */
  toolsChanged(): void;
  /** Something that a person should know, once for each sort: one sentence. */
  notice(text: string): void;
  /** A message of the server's own log. */
  logged(text: string): void;
};

export type Progress = {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
};

export type CallOptions = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  onProgress(progress: Progress): void;
};

/** An initialised connection to one server. */
export type McpClient = {
  readonly protocol: string | null;
  readonly instructions: string | null;
  /** @throws RuntimeError mcp_error */
  list(timeoutMs: number): Promise<Listing>;
  /** Never rejects. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallEnd>;
  /** Never rejects. */
  close(): Promise<void>;
};

const maxPages = 50;
/** A place in a list is a word to its server; the places of all pages are kept. */
const longestCursor = 4096;
/** A server that goes on telling of progress may take as many times its limit. */
const maxExtensions = 10;
const methodNotFound = -32_601;
/** Answers to what the server asked for that it has not taken: over HTTP each of them holds a connection. */
const mostUntaken = 200;

/**
 * Connects and initialises. Whoever calls it keeps the time: on abort the connection is closed.
 * @throws RuntimeError mcp_error: one sentence, and a `PipeFault` where the way to the server failed
 */
export async function openClient(route: Route, deps: ClientDeps, signal: AbortSignal): Promise<McpClient> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { McpError, ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const pending = new Map<number, (end: CallEnd) => void>();
  let sending: ((end: CallEnd) => void) | null = null;
  let closed: string | null = null;
  let isOpen = false;

  const streamEnded = (id: number, end: StreamEnd): void => {
    if (end.tooLarge) pending.get(id)?.({ kind: 'too_large', reason: end.reason });
    // What was answered has been taken out of the list by the time that the next timer runs.
    else if (!end.resumable) setTimeout(() => pending.get(id)?.({ kind: 'lost', reason: end.reason }), 50).unref();
  };
  const end = (reason: string): void => {
    if (closed !== null) return;
    closed = reason;
    for (const settle of pending.values()) settle({ kind: 'lost', reason });
    if (isOpen) deps.closed(reason);
  };
  const {
    transport,
    fault: streamFault,
    drop,
    leave,
    release,
  } = await openTransport(route, deps.version, { streamEnded, closed: end });
  refuseDeepMessages(transport);
  let protocol: string | null = null;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    protocol = agreed;
    setProtocolVersion?.(agreed);
  };
  const send = transport.send.bind(transport);
  let untaken = 0;
  const reply: typeof transport.send = async (message, options) => {
    if (closed !== null) throw new Error(closed);
    if (untaken >= mostUntaken) {
      end('the server asks on and on, and does not take what it is answered');
      void close();
      return;
    }
    untaken += 1;
    await send(message, options).finally(() => {
      untaken -= 1;
    });
  };
  transport.send = (message, options) => {
    // A pipe counts by itself what is not read from it.
    if (route.kind !== 'stdio' && !('method' in message)) return reply(message, options);
    if (sending !== null && 'id' in message && 'method' in message) pending.set(Number(message.id), sending);
    sending = null;
    return send(message, options);
  };

  const client = new Client(
    { name: 'reins', version: deps.version },
    // Schemas of results are shown to people and bind nobody; checking them here would compile each of a thousand.
    { capabilities: {}, jsonSchemaValidator: { getValidator: () => (input) => passed(input) } },
  );
  client.onclose = () => end(byLibrary);
  client.onerror = (error) => {
    if (route.kind !== 'sse' || !isOpen) return;
    // The library closes by itself, and says no more than that.
    if (error.message.startsWith('Endpoint origin')) end('it named an endpoint at another origin');
    // A stream of the older kind carries the session: without it nothing is answered any more.
    if (error.message.startsWith('SSE error')) {
      end('the event stream was broken');
      void client.close();
    }
  };
  const refused = new Set<string>();
  client.fallbackRequestHandler = async ({ method }) => {
    const shown = method.slice(0, 100);
    if (!refused.has(shown) && refused.size < 20) {
      refused.add(shown);
      deps.notice(`it asked for ${shown}, which Reins does not offer`);
    }
    throw new McpError(methodNotFound, `${shown} is not offered`);
  };
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/tools/list_changed') deps.toolsChanged();
    if (method === 'notifications/message') deps.logged(`${JSON.stringify(params ?? {}).slice(0, 4096)}\n`);
  };

  const close = async (): Promise<void> => {
    closed ??= 'closed';
    if (isOpen) await leave();
    await client.close().catch(ignored);
    release();
  };
  const abort = (): void => void close();
  signal.addEventListener('abort', abort, { once: true });
  try {
    // Time is kept by the caller; the library's own limit lies beyond every one that can be set.
    await client.connect(transport, { timeout: 3_600_000 });
  } catch (error) {
    const reason = closed;
    await close();
    const unopened = streamFault?.() ?? null;
    if (unopened !== null) throw unopened;
    throw reason === null || reason === byLibrary
      ? withOlderKind(asFault(error), route)
      : fault(reason, { kind: 'network', sent: false });
  } finally {
    signal.removeEventListener('abort', abort);
  }
  isOpen = true;

  return {
    protocol,
    instructions: client.getInstructions() ?? null,

    async list(timeoutMs) {
      if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], cuts: [] };
      const collected = createCollection();
      let cursor: string | undefined;
      const seen = new Set<string>();
      for (let page = 1; ; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const wanted = client.request({ method: 'tools/list', params }, ResultSchema, { timeout: timeoutMs });
        const result = await wanted.catch((error: unknown) => {
          throw closed === null ? asFault(error) : fault(closed, { kind: 'network', sent: true });
        });
        collected.add(result['tools']);
        const next = result['nextCursor'];
        // An empty one is no place in a list: some servers end it so.
        if (typeof next !== 'string' || next === '' || collected.isFull()) break;
        if (seen.has(next)) {
          collected.cut('its list of tools repeats a page; the rest is left out');
          break;
        }
        if (next.length > longestCursor) {
          collected.cut(
            `its list of tools goes on at a place of more than ${longestCursor} characters; the rest is left out`,
          );
          break;
        }
        if (page === maxPages) {
          collected.cut(`its list of tools has more than ${maxPages} pages; the rest is left out`);
          break;
        }
        seen.add(next);
        cursor = next;
      }
      return collected.listing();
    },

    async call(tool, args, { signal: cancel, timeoutMs, onProgress }) {
      if (closed !== null) return { kind: 'not_sent', reason: closed };
      if (cancel.aborted) return { kind: 'cancelled' };
      const stop = new AbortController();
      const onCancel = (): void => stop.abort();
      cancel.addEventListener('abort', onCancel, { once: true });
      let settle: (end: CallEnd) => void = () => {};
      const early = new Promise<CallEnd>((resolve) => {
        settle = resolve;
      });
      sending = settle;
      const answered = client
        .request({ method: 'tools/call', params: { name: tool, arguments: args } }, ResultSchema, {
          signal: stop.signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: timeoutMs * maxExtensions,
          onprogress: onProgress,
        })
        .then(
          (result): CallEnd => ({ kind: 'result', result }),
          (error: unknown): CallEnd => endOf(error, cancel.aborted, closed, (one) => one instanceof McpError),
        );
      const result = await Promise.race([answered, early]);
      cancel.removeEventListener('abort', onCancel);
      for (const [id, one] of pending) {
        if (one !== settle) continue;
        pending.delete(id);
        if (result.kind !== 'result') drop(id);
      }
      return result;
    },

    close,
  };
}

/** Where nothing takes a message, the server may be one of the older kind. */
function withOlderKind(error: RuntimeError, { kind }: Route): RuntimeError {
  if (kind !== 'http' || !/^the server answered with status (?:404|405)\b/.test(error.message)) return error;
  const message = `${error.message}; look at the URL, or add it with --transport sse if it is of the older kind`;
  return new RuntimeError('mcp_error', message, { cause: error });
}

/** The library closes a connection that it could not use; then its error says more. */
const byLibrary = 'the connection was closed';
const ignored = (): void => {};
const passed = (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined });
