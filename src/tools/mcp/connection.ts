import { RuntimeError } from '../../schema/errors.ts';
import { messageOf } from '../../text/thrown.ts';
import { createBackOff } from './back-off.ts';
import type { CallEnd } from './call-end.ts';
import type { CallOptions, McpClient } from './client.ts';
import { createAgreement, type Definition } from './definition.ts';
import type { Listing } from './listing.ts';
import type { PipeFault } from './pipe.ts';
import { createRelist } from './relist.ts';
import type { Ring } from './ring.ts';
import { createSlots } from './slots.ts';
import { orAborted, startTimeLimit } from './time-limit.ts';
import type { Route } from './transports.ts';

/** How a server stands (05 §10.2). */
type ConnectionState = 'idle' | 'connecting' | 'ready' | 'needs_auth' | 'failed' | 'stopped';

/** What came of connecting. */
export type Connected = { readonly kind: 'ready'; readonly listing: Listing; readonly times: Times } | NotConnected;

type NotConnected = {
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
  /** What is said behind a refusal, where there is something to say. */
  readonly refusalMend?: string | null;
  readonly ring: Ring;
  /** Once for each sentence. */
  notice(text: string): void;
  /** The server listed its tools again, by itself or on a new connection. */
  listed(listing: Listing): void;
  readonly now: () => number;
};

/** A call as its caller asks for it. */
type Wanted = Omit<CallOptions, 'timeoutMs'> & {
  /** The definition that was agreed to: where the server lists another one by now, the call is not sent. */
  readonly agreed?: Definition;
};

/** Limits of one connection (05 §10.2, §10.5). */
const overlapping = 4;
const idleMs = 30 * 60_000;
const listTimeoutMs = 30_000;

export type Connection = ReturnType<typeof createConnection>;

/**
 * One server as it is used: connected when it is needed, again after it was lost, and not more often than the back-off says.
 * Nothing here rejects.
 */
export function createConnection(deps: ConnectionDeps) {
  const slots = createSlots(overlapping);
  const backOff = createBackOff(deps.now);
  const relist = createRelist(deps.now);
  const agrees = createAgreement();
  const said = new Set<string>();
  let state: ConnectionState = 'idle';
  let reason: string | null = null;
  let client: McpClient | null = null;
  let listing: Listing = { definitions: [], cuts: [] };
  let times: Times = { connectMs: 0, listMs: 0 };
  let connecting: Promise<Connected> | null = null;
  let isRefused = false;
  let running = 0;
  let idle: NodeJS.Timeout | undefined;
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

  const listAgain = async (own: McpClient | null): Promise<void> => {
    if (own === null || client !== own) return;
    relist.reading();
    try {
      keep(await own.list(listTimeoutMs));
    } catch (error) {
      notice(`its changed list of tools could not be read: ${messageOf(error)}`);
    }
  };

  const isStopped = (): boolean => state === 'stopped';

  const open = async (): Promise<Connected> => {
    state = 'connecting';
    const limit = startTimeLimit(deps.connectTimeoutMs);
    giveUp = limit.giveUp;
    let own: McpClient | null = null;
    try {
      const { openClient } = await import('./client.ts');
      const events = {
        version: deps.version,
        closed: (why: string) => lost(own, why),
        toolsChanged: () => relist.changed(() => void listAgain(own)),
        notice,
        logged: (text: string) => deps.ring.push(text),
      };
      const opened = openClient(await deps.route(), events, limit.signal);
      // Whoever comes late is closed: nobody waits for it any more.
      own = await orAborted(opened, limit.signal, (one) => void one.close());
      const connectMs = limit.passedMs();
      // Our own limit, which began before it, passes first and is the one that is named.
      const found = await orAborted(own.list(deps.connectTimeoutMs), limit.signal, () => {});
      if (isStopped()) throw new Error('Reins is ending');
      return ready(own, found, { connectMs, listMs: limit.passedMs() - connectMs });
    } catch (error) {
      await own?.close();
      const why = limit.isOver() ? `no answer within ${deps.connectTimeoutMs / 1000} s` : messageOf(error);
      return failed(why, error);
    } finally {
      limit.release();
    }
  };

  const ready = (own: McpClient, found: Listing, took: Times): Connected => {
    times = took;
    client = own;
    state = 'ready';
    reason = null;
    backOff.succeeded();
    keep(found);
    rest();
    return { kind: 'ready', listing: found, times };
  };

  const failed = (what: string, error: unknown): Connected => {
    const refused = faultOf(error)?.kind === 'auth';
    const mend = deps.refusalMend ?? null;
    const why = refused && mend !== null ? `${what}: ${mend}` : what;
    isRefused = refused;
    backOff.failed();
    reason = why;
    const next = isStopped() ? 'stopped' : refused && deps.signsIn ? 'needs_auth' : 'failed';
    state = next;
    return { kind: 'failed', state: next, refused, reason: why };
  };

  /** Why it is not tried now; null when it may be. */
  const held = (force: boolean): NotConnected | null => {
    if (state === 'stopped') return { kind: 'failed', state, refused: false, reason: 'Reins is ending' };
    const waitMs = backOff.left();
    if (client !== null || connecting !== null || force || waitMs === 0) return null;
    return {
      kind: 'failed',
      state: state === 'needs_auth' ? state : 'failed',
      refused: isRefused,
      reason: `${reason ?? 'it failed'}; it is tried again in ${Math.ceil(waitMs / 1000)} s`,
    };
  };

  const connect = async (force: boolean): Promise<Connected> => {
    const not = held(force);
    if (not !== null) return not;
    if (client !== null) return { kind: 'ready', listing, times };
    connecting ??= open().finally(() => {
      connecting = null;
    });
    return connecting;
  };

  /** A call that may have been served is never sent again; one that was not goes to a new connection once. */
  const send = async (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    { agreed, ...options }: Wanted & CallOptions,
  ): Promise<CallEnd | NotConnected> => {
    for (let attempt = 1; ; attempt += 1) {
      const connected = await connect(false);
      if (connected.kind === 'failed') return connected;
      const own = client;
      if (own === null) {
        return { kind: 'failed', state: 'failed', refused: false, reason: reason ?? 'the connection was lost' };
      }
      // A new connection may have brought another list: what was judged is not what would be served.
      const kind = agreed === undefined ? 'same' : agrees(listing.definitions, agreed);
      if (kind !== 'same') return { kind };
      const end = await own.call(tool, args, options);
      if (end.kind !== 'not_sent' && end.kind !== 'session') return end;
      lost(own, end.reason);
      void own.close();
      if (attempt > 1) return end;
    }
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

    /** Calls a tool; connects first where that is needed. */
    async call(
      tool: string,
      args: Readonly<Record<string, unknown>>,
      options: Wanted,
    ): Promise<CallEnd | NotConnected> {
      const give = await slots.take(options.signal);
      if (give === null) return { kind: 'cancelled' };
      running += 1;
      clearTimeout(idle);
      try {
        return await send(tool, args, { ...options, timeoutMs: deps.callTimeoutMs });
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
      relist.stop();
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
