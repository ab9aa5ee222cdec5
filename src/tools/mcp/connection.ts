import { RuntimeError } from '../../schema/errors.ts';
import { messageOf } from '../../text/thrown.ts';
import type { CallEnd } from './call-end.ts';
import type { CallOptions, McpClient } from './client.ts';
import type { Listing } from './listing.ts';
import type { PipeFault } from './pipe.ts';
import type { Ring } from './ring.ts';
import { createSlots } from './slots.ts';
import type { Route } from './transports.ts';

/** How a server stands (05 §10.2). */
export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'needs_auth' | 'failed' | 'stopped';

/** What came of connecting. */
export type Connected =
  | { readonly kind: 'ready'; readonly listing: Listing; readonly times: Times }
  | {
      readonly kind: 'failed';
      readonly state: 'failed' | 'needs_auth' | 'stopped';
      readonly reason: string;
      /** It answers, and does not take who asks. */
      readonly refused: boolean;
    };

/** Milliseconds that were spent until the connection stood, and until its tools were listed. */
export type Times = { readonly connectMs: number; readonly listMs: number };

export type ConnectionDeps = {
  readonly version: string;
  /** Made anew for each connection. @throws RuntimeError mcp_error, when what it needs is not there */
  route(): Promise<Route>;
  readonly connectTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** A server that signs in with OAuth: a refusal means that nobody has signed in. */
  readonly signsIn: boolean;
  readonly ring: Ring;
  /** Once for each sentence. */
  notice(text: string): void;
  /** The server listed its tools again, by itself or on a new connection. */
  listed(listing: Listing): void;
  readonly now: () => number;
};

/** Limits of one connection (05 §10.2, §10.5). */
const overlapping = 4;
const idleMs = 30 * 60_000;
const firstBackoffMs = 1_000;
const longestBackoffMs = 60_000;
const quietMs = 500;
const relistEveryMs = 10_000;
const listTimeoutMs = 30_000;

export type Connection = ReturnType<typeof createConnection>;

/**
 * One server as it is used: connected when it is needed, again after it was lost, and not more often than the back-off says.
 * Nothing here rejects.
 */
export function createConnection(deps: ConnectionDeps) {
  const slots = createSlots(overlapping);
  const said = new Set<string>();
  let state: ConnectionState = 'idle';
  let reason: string | null = null;
  let client: McpClient | null = null;
  let listing: Listing = { definitions: [], cuts: [] };
  let times: Times = { connectMs: 0, listMs: 0 };
  let connecting: Promise<Connected> | null = null;
  let failures = 0;
  let notBefore = 0;
  let isRefused = false;
  let running = 0;
  let idle: NodeJS.Timeout | undefined;
  let relist: NodeJS.Timeout | undefined;
  /** When a list was asked for again. */
  let relistedAt = Number.NEGATIVE_INFINITY;
  let giveUp = (): void => {};

  const notice = (text: string): void => {
    if (said.has(text)) return;
    said.add(text);
    deps.notice(text);
  };

  const keep = (found: Listing): void => {
    listing = found;
    for (const cut of found.cuts) notice(cut);
    deps.listed(found);
  };

  const lost = (own: McpClient | null, why: string): void => {
    if (client !== own || state === 'stopped') return;
    client = null;
    state = 'failed';
    reason = why;
  };

  const rest = (): void => {
    clearTimeout(idle);
    if (running > 0 || client === null) return;
    idle = setTimeout(() => void leave(), idleMs);
    idle.unref();
  };
  const leave = async (): Promise<void> => {
    const own = client;
    client = null;
    if (state === 'ready') state = 'idle';
    await own?.close();
  };

  const listAgain = async (own: McpClient): Promise<void> => {
    if (client !== own) return;
    relistedAt = deps.now();
    try {
      keep(await own.list(listTimeoutMs));
    } catch (error) {
      notice(`its changed list of tools could not be read: ${messageOf(error)}`);
    }
  };
  /** After a while of quiet, and not too often (05 §10.5.2). */
  const changed = (own: () => McpClient | null): void => {
    clearTimeout(relist);
    const wait = Math.max(quietMs, relistedAt + relistEveryMs - deps.now());
    relist = setTimeout(() => {
      const now = own();
      if (now !== null) void listAgain(now);
    }, wait);
    relist.unref();
  };

  const isStopped = (): boolean => state === 'stopped';

  const open = async (): Promise<Connected> => {
    state = 'connecting';
    const started = performance.now();
    const abort = new AbortController();
    giveUp = () => abort.abort();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort();
    }, deps.connectTimeoutMs);
    let own: McpClient | null = null;
    try {
      const { openClient } = await import('./client.ts');
      const opened = openClient(
        await deps.route(),
        {
          version: deps.version,
          closed: (why) => lost(own, why),
          toolsChanged: () => changed(() => own),
          notice,
          logged: (text) => deps.ring.push(text),
        },
        abort.signal,
      );
      // Whoever comes late is closed: nobody waits for it any more.
      own = await orAborted(opened, abort.signal, (one) => void one.close());
      const connectMs = performance.now() - started;
      const left = Math.max(deps.connectTimeoutMs - connectMs, 1);
      const found = await orAborted(own.list(left), abort.signal, () => {});
      if (isStopped()) throw new Error('Reins is ending');
      times = { connectMs, listMs: performance.now() - started - connectMs };
      client = own;
      state = 'ready';
      reason = null;
      failures = 0;
      keep(found);
      rest();
      return { kind: 'ready', listing: found, times };
    } catch (error) {
      await own?.close();
      return failed(late ? `no answer within ${deps.connectTimeoutMs / 1000} s` : messageOf(error), error);
    } finally {
      clearTimeout(timer);
    }
  };

  const failed = (why: string, error: unknown): Connected => {
    const refused = faultOf(error)?.kind === 'auth';
    isRefused = refused;
    failures += 1;
    notBefore = deps.now() + Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
    reason = why;
    const next = isStopped() ? 'stopped' : refused && deps.signsIn ? 'needs_auth' : 'failed';
    state = next;
    return { kind: 'failed', state: next, refused, reason: why };
  };

  const connect = (force: boolean): Promise<Connected> => {
    if (state === 'stopped')
      return Promise.resolve({ kind: 'failed', state, refused: false, reason: 'Reins is ending' });
    if (client !== null) return Promise.resolve({ kind: 'ready', listing, times });
    const waits = notBefore - deps.now();
    if (connecting === null && !force && failures > 0 && waits > 0) {
      const again = `${reason ?? 'it failed'}; it is tried again in ${Math.ceil(waits / 1000)} s`;
      return Promise.resolve({
        kind: 'failed',
        state: state === 'needs_auth' ? state : 'failed',
        refused: isRefused,
        reason: again,
      });
    }
    connecting ??= open().finally(() => {
      connecting = null;
    });
    return connecting;
  };

  return {
    state: () => state,
    /** Why it is not ready; null when nothing has failed. */
    reason: () => reason,
    listing: () => listing,
    protocol: () => client?.protocol ?? null,
    instructions: () => client?.instructions ?? null,
    /** The last lines of what the server wrote beside the protocol: foreign text. */
    lastLines: (count: number) => deps.ring.lines(count),

    /** Connects and lists, unless that was done. @param force although the back-off has not passed */
    connect,

    /** Calls a tool; connects first where that is needed. A call that may have been served is never sent again. */
    async call(
      tool: string,
      args: Readonly<Record<string, unknown>>,
      options: Omit<CallOptions, 'timeoutMs'>,
    ): Promise<CallEnd | Extract<Connected, { kind: 'failed' }>> {
      const give = await slots.take(options.signal);
      if (give === null) return { kind: 'cancelled' };
      running += 1;
      clearTimeout(idle);
      try {
        for (let attempt = 1; ; attempt += 1) {
          const connected = await connect(false);
          if (connected.kind === 'failed') return connected;
          const own = client;
          if (own === null) {
            return { kind: 'failed', state: 'failed', refused: false, reason: reason ?? 'the connection was lost' };
          }
          const end = await own.call(tool, args, { ...options, timeoutMs: deps.callTimeoutMs });
          const again = attempt === 1 && (end.kind === 'not_sent' || end.kind === 'session');
          if (end.kind === 'not_sent' || end.kind === 'session') {
            lost(own, end.reason);
            void own.close();
          }
          if (!again) return end;
        }
      } finally {
        running -= 1;
        give();
        rest();
      }
    },

    /** Ends the connection for good. */
    async close(): Promise<void> {
      const own = client;
      state = 'stopped';
      client = null;
      clearTimeout(idle);
      clearTimeout(relist);
      giveUp();
      await Promise.all([own?.close(), connecting]);
    },
  };
}

function faultOf(error: unknown): PipeFault | null {
  // Only the ways to a server make errors of this code with data.
  return error instanceof RuntimeError && error.code === 'mcp_error' && error.data !== undefined
    ? (error.data as PipeFault)
    : null;
}

/** What comes although nobody waits for it any more goes to `unwanted`. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal, unwanted: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new Error('aborted'));
      promise.then(unwanted, () => {});
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
