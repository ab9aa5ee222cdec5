import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessClass, Principal } from '../schema/login.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where a request comes from: the TCP peer, never a header. */
export type Peer = { readonly address: string; readonly loopback: boolean };

/** A request that has passed the guard, the rate limits, its access class, the mutation rules and the body cap. */
export type Call = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `X-Request-Id` of the reply. */
  readonly id: string;
  /** Null on a public route, whatever was presented there. */
  readonly principal: Principal | null;
  readonly peer: Peer;
  /** Decoded once. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; undefined when there was none. */
  readonly body: unknown;
  /**
   * Aborts when the client has gone, when the credential has ended, or when the server stops; `reason` is a `CallEnd`. Made
   * when it is asked for; no getter, since each object with one is of a class of its own.
   */
  readonly signal: () => AbortSignal;
};

/** Why a call's signal was aborted. */
export type CallEnd = 'client' | 'credential' | 'stop';

/** What a handler answers with. */
export type Reply =
  | { readonly status: number; readonly headers?: Headers; readonly json?: unknown }
  | { readonly status: number; readonly headers?: Headers; readonly text: string; readonly type: string }
  /** Sent as they come; where they fail, the connection is cut, so that nobody takes a part for the whole. */
  | {
      readonly status: number;
      readonly headers?: Headers;
      readonly pieces: AsyncIterable<string>;
      readonly type: string;
    }
  /** The handler has written, or goes on writing, the response itself. */
  | 'written';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** One route of the server. The path has its parameters in braces: `/api/runs/{id}`. */
export type Route = {
  readonly method: Method;
  readonly path: string;
  readonly access: AccessClass;
  /** An access token is refused (`session_required`), also where its class would accept it. */
  readonly sessionOnly?: true;
  /** Cap of the body in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number;
  /** A reply that goes on: no time limit, and the server ends it when it stops. */
  readonly streams?: true;
  handle(call: Call): Promise<Reply>;
};
