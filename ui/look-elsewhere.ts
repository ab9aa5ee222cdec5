import type { RuntimeClient } from '../src/client/operations.ts';
import type { FeedEntry, FeedKind } from '../src/schema/feed.ts';
import type { RunRecord } from '../src/schema/run-record.ts';
import type { Action } from './actions.ts';
import type { Elsewhere } from './elsewhere.ts';

export type ElsewhereDeps = {
  readonly dispatch: (action: Action) => void;
  /** Id of the session that is open now; null = none is. */
  readonly session: () => string | null;
  /** Whether this program has begun a run, or gone on with it. */
  readonly isOwn: (runId: string) => boolean;
};

const told: Readonly<Partial<Record<FeedKind, Elsewhere['what']>>> = {
  ask: 'asks',
  chain_completed: 'completed',
  chain_failed: 'failed',
  chain_cancelled: 'cancelled',
  chain_suspended: 'suspended',
};

/**
 * Tells what becomes of a turn that was left running in a session which nobody looks at: a view follows its own alone.
 * @returns takes entries of the feed. @throws what the store throws
 */
export function createLookElsewhere({ dispatch, session, isOwn }: ElsewhereDeps) {
  return async (client: RuntimeClient, entries: readonly FeedEntry[]): Promise<void> => {
    for (const entry of entries) {
      const { run_id, session_id, kind } = entry;
      const what = told[kind];
      if (what === undefined || run_id === undefined || session_id === undefined) continue;
      if (!isOwn(run_id) || session_id === session()) continue;
      const run = await client.showRun({ run_id });
      // Files that are read for a message are runs of the session too. Meanwhile it may have come into view.
      if (run.kind !== 'chat' || run.session === null || session_id === session()) continue;
      const { session: name, duration_ms: ms } = run;
      dispatch({ type: 'elsewhere', told: { session: name, what, about: aboutOf(entry, run), ms } });
    }
  };
}

function aboutOf({ kind, data }: FeedEntry, { error }: RunRecord): string {
  if (kind === 'ask') return `${String(data['tools'])}.${String(data['tool'])}`;
  return kind === 'chain_failed' && error !== null ? `(${error.class}): ${error.message}` : '';
}
