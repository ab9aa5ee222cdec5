import type { Agent, ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

/** What the two proxy agents have in common: they read `connectOpts` when a connection begins. */
type Connecting = {
  connectOpts: object;
  connect(request: ClientRequest, options: object): Promise<Socket>;
};

/**
 * An agent whose connections go through a proxy (08 §11.1). The request option `abandon` closes a connection that is
 * still being made: Node gives the request its socket only afterwards, so destroying the request would not.
 */
export async function createProxyAgent(
  proxy: string | null,
  secure: boolean,
  options: {
    readonly keepAlive: boolean;
    readonly maxSockets: number;
    readonly scheduling: 'lifo';
    readonly rejectUnauthorized: boolean;
  },
): Promise<Agent> {
  const url = proxy ?? '';
  const agent = secure
    ? new (await import('https-proxy-agent')).HttpsProxyAgent(url, options)
    : new (await import('http-proxy-agent')).HttpProxyAgent(url, options);
  // True of both classes: `connectOpts` is a plain object that the synchronous part of `connect` spreads.
  const inner = agent as unknown as Connecting;
  const connect = inner.connect.bind(inner);
  const plain = inner.connectOpts;
  inner.connect = async (request, connection) => {
    const given: unknown = 'abandon' in connection ? connection.abandon : undefined;
    const stop = new AbortController();
    const onAbandon = (): void => stop.abort();
    if (given instanceof AbortSignal) {
      if (given.aborted) stop.abort();
      given.addEventListener('abort', onAbandon, { once: true });
    }
    inner.connectOpts = { ...plain, signal: stop.signal };
    try {
      const made = connect(request, connection);
      inner.connectOpts = plain;
      return await made;
    } finally {
      // From here the request owns the socket; a kept connection must not end with the request that made it.
      if (given instanceof AbortSignal) given.removeEventListener('abort', onAbandon);
    }
  };
  return agent;
}
