import type { RunEvent } from '../schema/event.ts';
import type { FeedEntry } from '../schema/feed.ts';
import type { Operation } from './operation.ts';
import { hooks } from './operations/hooks.ts';
import { mcpServers } from './operations/mcp-servers.ts';
import { oversight } from './operations/oversight.ts';
import { plans } from './operations/plans.ts';
import { policies } from './operations/policies.ts';
import { records } from './operations/records.ts';
import { setup } from './operations/setup.ts';
import { tools } from './operations/tools.ts';
import { work } from './operations/work.ts';

/**
 * The one table of what faces of this process can do, beside the operations with routes (`routes.ts`). What streams is no
 * entry: `watch`, `watchFeed`, `pullModel` and `signInMcpServer`.
 */
export const operations = {
  ...work,
  ...plans,
  ...records,
  ...oversight,
  ...policies,
  ...setup,
  ...hooks,
  ...mcpServers,
  ...tools,
} as const;
export type Operations = typeof operations;

export type Call<P> = P extends Operation<infer I, infer O> ? (input: I) => Promise<O> : never;

export type WatchInput = {
  readonly run_id: string;
  /** Stored events with a higher `seq` only; 0 = from the start. */
  readonly after: number;
  readonly signal: AbortSignal;
};

export type PullProgress = {
  readonly status: string;
  readonly completed: number | null;
  readonly total: number | null;
};

/** What every face holds. Faces see nothing else of the program. */
export type RuntimeClient = { readonly [N in keyof Operations]: Call<Operations[N]> } & {
  /**
   * Events of one run: stored ones after `after`, then live ones, deltas included, batched to at most one wake-up per
   * 16 ms. Ends after the run's last event, or when the signal aborts.
   */
  watch(input: WatchInput): AsyncIterable<readonly RunEvent[]>;
  /**
   * The feed across runs (03 §13), of all processes: stored entries behind the cursor `after`, then those that come, in
   * order and none twice. Ends when the signal aborts.
   */
  watchFeed(input: { readonly after: number; readonly signal: AbortSignal }): AsyncIterable<readonly FeedEntry[]>;
  /** Has the operator sign in to an MCP server; the URL to go to is told as soon as it is known (05 §10.8). */
  signInMcpServer(input: { readonly name: string }, onUrl: (url: string) => void, signal: AbortSignal): Promise<void>;
  /** Downloads a model (06 §16); yields progress. Resolves with the bytes pulled, or null when it was there. */
  pullModel(
    input: {
      readonly name: string;
      readonly backend: string | null;
      readonly url: string | null;
      readonly sha256: string | null;
    },
    onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number | null; readonly present: boolean }>;
};
