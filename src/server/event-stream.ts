import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { principalKey } from '../schema/login.ts';
import { refuse } from './error-body.ts';
import { streamFeed } from './feed-stream.ts';
import { createFrames, type Frames } from './frames.ts';
import type { Call, Reply, Route } from './route.ts';
import { streamRun } from './run-stream.ts';

export type StreamDeps = {
  readonly client: RuntimeClient;
  readonly operations: RouteClient;
  /** Routes of the table. That of a run's events answers requests that do not ask for a stream. */
  readonly routes: readonly Route[];
  readonly limits?: StreamLimits | undefined;
};

/** How many streams of one login session, and of all (09 §7.4). */
export type StreamLimits = {
  readonly perCredential: number;
  readonly all: number;
  /** How long a stream is silent at most. */
  readonly heartbeatMs: number;
};
const standardLimits: StreamLimits = { perCredential: 16, all: 64, heartbeatMs: 15_000 };

/** The event streams (09 §7): of a run by its `seq`, and of all runs by the cursor of the feed. */
export function streamRoutes(deps: StreamDeps): readonly Route[] {
  const { client, operations } = deps;
  const limits = deps.limits ?? standardLimits;
  const counted = countStreams(limits);
  const open = (call: Call): Frames => createFrames(call.response, limits.heartbeatMs);
  const runEvents = deps.routes.find(({ method, path }) => method === 'GET' && path === '/api/runs/{id}/events');
  if (runEvents === undefined) throw new TypeError('the table has no events of a run');
  return [
    {
      ...runEvents,
      streams: true,
      handle: (call) =>
        wantsStream(call)
          ? counted(call, () => streamRun({ client, operations, open, lookMs: limits.heartbeatMs }, call))
          : runEvents.handle(call),
    },
    {
      method: 'GET',
      path: '/api/events',
      access: 'any',
      streams: true,
      handle: (call) => counted(call, () => streamFeed({ client, operations, open }, call)),
    },
  ];
}

/** A request that names the last event it got wants a stream, even if a proxy has dropped its `Accept` header. */
function wantsStream({ request: { headers } }: Call): boolean {
  const accepts = headers.accept ?? '';
  if (accepts.includes('text/event-stream')) return true;
  return headers['last-event-id'] !== undefined && !accepts.includes('application/json');
}

/** Bounds how many streams are open. */
function countStreams({ perCredential, all }: StreamLimits) {
  const open = new Map<string, number>();
  let total = 0;
  return async (call: Call, serve: () => Promise<void>): Promise<Reply> => {
    const { principal } = call;
    const key = principal === null ? '' : principalKey(principal);
    const own = open.get(key) ?? 0;
    if (total >= all || (principal?.kind === 'session' && own >= perCredential)) {
      throw refuse('busy', 'Too many event streams are open.', { retryAfterS: 5 });
    }
    total += 1;
    open.set(key, own + 1);
    try {
      await serve();
    } finally {
      total -= 1;
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    }
    return 'written';
  };
}
