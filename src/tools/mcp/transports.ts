import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RuntimeError } from '../../schema/errors.ts';
import type { Egress } from '../egress.ts';
import { createFetch, type StreamEnd } from './fetch.ts';
import type { Pipe } from './pipe.ts';

/** How a server is reached. */
export type Route =
  | { readonly kind: 'stdio'; readonly pipe: Pipe }
  | {
      readonly kind: 'http' | 'sse';
      readonly url: URL;
      readonly egress: Egress;
      headers(): Readonly<Record<string, string>>;
      bearer(refused: boolean): Promise<string | null>;
    };

export type TransportEvents = {
  streamEnded(id: number, end: StreamEnd): void;
  closed(reason: string): void;
};

export type OpenTransport = {
  readonly transport: Transport;
  /** Why the event stream of the older kind was not opened, where the library has words of its own for that. */
  readonly fault?: () => RuntimeError | null;
  /** Ends the exchange for a request whose answer nobody waits for any more. */
  drop(id: number): void;
  /** Tells the server that its session is over. Never rejects. */
  leave(): Promise<void>;
  /** Gives back what the transport held, after it was closed. */
  release(): void;
};

/** How long a server is told that a session is over. */
const leaveMs = 1_000;

/** The library's transports for HTTP, and our own for a child. */
export async function openTransport(route: Route, version: string, events: TransportEvents): Promise<OpenTransport> {
  if (route.kind === 'stdio') {
    const nothing = { drop: () => {}, leave: async () => {}, release: () => {} };
    return { transport: childTransport(route.pipe, events.closed), ...nothing };
  }
  const { url, egress } = route;
  const {
    fetch,
    drop,
    close: release,
  } = createFetch({
    egress,
    origin: url.origin,
    headers: () => route.headers(),
    bearer: (refused) => route.bearer(refused),
    streamEnded: (id, end) => events.streamEnded(id, end),
    userAgent: `reins/${version}`,
  });
  if (route.kind === 'sse') {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
    let fault: RuntimeError | null = null;
    const noted: typeof fetch = async (target, init) => {
      fault = null;
      try {
        return await fetch(target, init);
      } catch (error) {
        if (error instanceof RuntimeError) fault = error;
        throw error;
      }
    };
    const transport = new SSEClientTransport(url, { fetch: noted }) as Transport;
    return { transport, fault: () => fault, drop, leave: async () => {}, release };
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const made = new StreamableHTTPClientTransport(url, {
    fetch,
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 10,
    },
  });
  const leave = async (): Promise<void> => {
    const late = new Promise<void>((resolve) => setTimeout(resolve, leaveMs).unref());
    await Promise.race([made.terminateSession().catch(ignored), late]);
  };
  return { transport: made as Transport, drop, leave, release };
}

const ignored = (): void => {};

function childTransport(pipe: Pipe, closed: (reason: string) => void): Transport {
  const transport: Transport = {
    start: () =>
      pipe.start({
        // The pipe has looked at `jsonrpc`; the library looks at the rest.
        message: (value) => transport.onmessage?.(value as Parameters<NonNullable<Transport['onmessage']>>[0]),
        closed: (reason) => {
          closed(reason);
          transport.onclose?.();
        },
      }),
    send: (message) => pipe.send(message),
    close: () => pipe.close(),
  };
  return transport;
}
