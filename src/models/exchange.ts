import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TLSSocket } from 'node:tls';
import { codeOf } from '../text/thrown.ts';
import { type Broken, brokenFailure, refusedByProxy } from './broken.ts';
import type { Origin } from './failure.ts';
import type { ModelFailure } from './model.ts';

/** A backend as the connection sees it; a Route is one. */
export type Target = Origin & {
  readonly proxy: string | null;
  readonly timeouts: { readonly connect_ms: number; readonly first_byte_ms: number; readonly idle_ms: number };
};

export type Failed = { readonly kind: 'failure'; readonly failure: ModelFailure };

export type Body = {
  /** The next text: everything that has arrived, decoded across chunk borders. On abort the failure is `cancelled`. */
  read(): Promise<
    { readonly kind: 'text'; readonly text: string; readonly bytes: number } | { readonly kind: 'end' } | Failed
  >;
  /**
   * Gives the connection back. `drain`: what little is left is read in the background, so that the connection can be
   * used again; otherwise an unfinished one is closed at once.
   */
  release(drain: boolean): void;
};

export type Exchange = {
  head(): Promise<
    | { readonly kind: 'head'; readonly response: IncomingMessage }
    /** `stale`: a kept connection turned out to be closed before the server read the request. */
    | { readonly kind: 'broken'; readonly broken: Broken; readonly stale: boolean }
  >;
  readonly body: Body;
};

type ExchangeContext = {
  readonly target: Target;
  /** Pieces that follow each other. */
  readonly body: readonly Buffer[] | null;
  readonly signal: AbortSignal;
  readonly secure: boolean;
  readonly proxied: boolean;
};

/**
 * One request and its reply, with the limits of 08 §9.4. One reader, which waits on one promise at a time; an abort
 * closes the socket whether anybody is reading or not.
 * @param start makes the request; its signal says that the request is given up, for a connection still being made
 */
export function startExchange(start: (abandon: AbortSignal) => ClientRequest, context: ExchangeContext): Exchange {
  const { target, signal } = context;
  const { connect_ms, first_byte_ms, idle_ms } = target.timeouts;
  const abandon = new AbortController();
  const decoder = new StringDecoder('utf8');
  let request: ClientRequest | null = null;
  let response: IncomingMessage | null = null;
  /** The body as it was before it was compressed for the way. */
  let source: Readable | null = null;
  let broken: Broken | null = null;
  let stale = false;
  let answered = false;
  let started = false;
  let ended = false;
  let released = false;
  let marked = false;
  let timer: NodeJS.Timeout | undefined;
  let wake: (() => void) | null = null;

  const notify = (): void => {
    const waiting = wake;
    wake = null;
    waiting?.();
  };
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const settle = (reason: Broken): void => {
    if (broken !== null || ended) return;
    broken = reason;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    abandon.abort();
    request?.destroy();
    notify();
  };
  const limit = (name: 'connect' | 'first byte' | 'idle', ms: number): void => {
    clearTimeout(timer);
    if (broken !== null || ended || released) return;
    timer = setTimeout(() => {
      // A consumer that is busy elsewhere is not a silent server: the next wait starts the time anew.
      if (name !== 'idle' || wake !== null) settle({ kind: 'timeout', limit: name, ms });
    }, ms);
  };
  const onAbort = (): void => settle({ kind: 'cancelled' });
  const onError = (error: unknown): void => {
    stale = request?.reusedSocket === true && !answered && isReset(error);
    settle({ kind: 'network', error, started });
  };
  const onResponse = async (incoming: IncomingMessage): Promise<void> => {
    answered = true;
    incoming.on('error', onError);
    // No backend says this of itself (RFC 9110 §15.5.8); through a tunnel it is told by `proxyConnect`.
    if (context.proxied && !context.secure && incoming.statusCode === 407) {
      incoming.resume();
      settle({ kind: 'network', error: refusedByProxy(407), started });
      return;
    }
    // Without an error before it: the server went away before the announced end. What came whole may still be decoded.
    incoming.on('close', () => {
      if (!incoming.complete) settle({ kind: 'network', error: null, started });
    });
    const decoded = isCompressed(incoming) ? await uncompressed(incoming, onError) : incoming;
    decoded.on('end', () => {
      if (broken !== null) return;
      ended = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      notify();
    });
    source = decoded;
    response = incoming;
    notify();
  };
  const onSocket = (socket: TLSSocket & { readonly secureConnecting?: boolean }): void => {
    const pending = context.secure ? socket.secureConnecting === true : socket.connecting;
    if (!pending) {
      limit('first byte', first_byte_ms);
      return;
    }
    if (!context.proxied) limit('connect', connect_ms);
    socket.once(context.secure ? 'secureConnect' : 'connect', () => limit('first byte', first_byte_ms));
  };

  if (signal.aborted) broken = { kind: 'cancelled' };
  else {
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      request = start(abandon.signal);
      request.on('error', onError);
      // Without a listener Node closes the connection and says nothing.
      request.on('upgrade', () => onError(new Error('it switches protocols (101), which was not asked for')));
      request.on('response', (incoming) => void onResponse(incoming).catch(onError));
      // True of both transports: `secureConnecting` is a member of TLS sockets and absent elsewhere.
      request.on('socket', (socket) => onSocket(socket as TLSSocket));
      request.on('proxyConnect', (reply: { readonly statusCode?: number }) => {
        const { statusCode = 200 } = reply;
        if (statusCode !== 200) settle({ kind: 'network', error: refusedByProxy(statusCode), started });
      });
      // A proxy agent hands the socket over late; its own connecting counts too.
      if (context.proxied) limit('connect', connect_ms);
      for (const piece of context.body ?? []) request.write(piece);
      request.end();
    } catch (error) {
      // Header values and paths that HTTP cannot carry are refused here.
      settle({ kind: 'network', error, started: false });
    }
  }

  /** A byte order mark may stand first, and arrive in pieces. */
  const withoutMark = (text: string): string => {
    if (marked || text === '') return text;
    marked = true;
    return text.replace(/^\ufeff/, '');
  };

  /** What has arrived is still handed over when the connection was lost, but not after an abort or a limit. */
  const take = (): Buffer | null =>
    source !== null && !released && (broken === null || broken.kind === 'network') ? source.read() : null;

  return {
    async head() {
      for (;;) {
        if (response !== null && (broken === null || broken.kind === 'network')) return { kind: 'head', response };
        if (broken !== null) return { kind: 'broken', broken, stale };
        await change();
      }
    },
    body: {
      async read() {
        // A listener for `readable` keeps the flow paused: what the consumer has not taken stays in the socket.
        if (source?.listenerCount('readable') === 0) source.on('readable', notify);
        for (;;) {
          const chunk = take();
          if (chunk !== null) {
            const text = withoutMark(decoder.write(chunk));
            if (!started) {
              started = true;
              limit('idle', idle_ms);
            }
            return { kind: 'text', text, bytes: chunk.length };
          }
          if (broken !== null) return { kind: 'failure', failure: brokenFailure(target, broken) };
          if (ended) return { kind: 'end' };
          if (started) timer?.refresh();
          await change();
        }
      },
      release(drain) {
        if (released) return;
        released = true;
        signal.removeEventListener('abort', onAbort);
        clearTimeout(timer);
        if (ended || broken !== null) return;
        if (!drain || response === null || source === null) {
          settle({ kind: 'cancelled' });
          return;
        }
        const stop = setTimeout(() => request?.destroy(), 1000);
        stop.unref();
        response.once('close', () => clearTimeout(stop));
        source.off('readable', notify);
        source.resume();
      },
    },
  };
}

const encodingOf = ({ headers }: IncomingMessage): string => headers['content-encoding']?.trim().toLowerCase() ?? '';

/** We ask for no encoding, but some proxies compress whatever passes through them. */
const isCompressed = (incoming: IncomingMessage): boolean =>
  ['gzip', 'x-gzip', 'deflate', 'br'].includes(encodingOf(incoming));

async function uncompressed(incoming: IncomingMessage, onError: (error: unknown) => void): Promise<Readable> {
  const { createBrotliDecompress, createUnzip } = await import('node:zlib');
  const decoder = encodingOf(incoming) === 'br' ? createBrotliDecompress() : createUnzip();
  decoder.on('error', onError);
  return incoming.pipe(decoder);
}

const isReset = (error: unknown): boolean => ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
