import type { Pruned } from '../schema/run-record.ts';
import { createRunPruner } from '../store/prune-runs.ts';
import { createSettings } from '../store/settings.ts';
import type { Sql } from '../store/sql.ts';

export type PruningDeps = {
  readonly sql: Sql;
  readonly tenant: string;
  /** Milliseconds, or `never`. */
  readonly retention: (key: 'state-retention' | 'record-retention') => number | 'never';
  /** Gives the room of removed rows back to the file system: so many pages, 0 = all. */
  readonly vacuum: (pages: number) => void;
  /** Removes what the calls of a run have left in the spool. */
  readonly removeOutput: (runId: string) => void;
  readonly now: () => number;
};

const dayMs = 86_400_000;
/** 11 §2.11. */
const feedMs = 30 * dayMs;
/** A prune that nobody asked for takes no longer than this. */
const mostMs = 50;
const mostPages = 500;
const lastKey = 'prune.last';

/** Removes runs that have ended, by age or by name (11 §2.11). */
export function createPruning(deps: PruningDeps) {
  const { sql, now } = deps;
  const pruner = createRunPruner(sql, deps.tenant);
  const state = createSettings(sql, deps.tenant);
  const cutoff = (key: Parameters<PruningDeps['retention']>[0]): number | null => {
    const kept = deps.retention(key);
    return kept === 'never' ? null : now() - kept;
  };

  const prune = (before: number | null, pages = 0, goOn?: () => boolean): Pruned => {
    const until = {
      records: before ?? cutoff('record-retention'),
      details: before ?? cutoff('state-retention'),
      feed: now() - feedMs,
      blobs: now() - dayMs,
    };
    const { removed, cleared } = pruner.prune(until, goOn);
    for (const id of removed) deps.removeOutput(id);
    if (removed.length + cleared > 0) deps.vacuum(pages);
    return { removed: removed.length, cleared };
  };

  return {
    /** @returns false when the run has not ended, or a plan awaits its outcome: then nothing was removed. */
    remove(id: string): boolean {
      if (!pruner.remove(id)) return false;
      deps.removeOutput(id);
      deps.vacuum(0);
      return true;
    },

    /** @param before ended runs before this time go whole; null = as `state-retention` and `record-retention` say */
    prune: (before: number | null): Pruned => prune(before),

    /** At most once a day, and no longer than 50 ms: what is left goes with the next day. Never throws. */
    due(): void {
      try {
        const last = Number(state.get(lastKey) ?? 0);
        if (Math.abs(now() - last) < dayMs) return;
        state.set(lastKey, String(now()), now());
        const until = now() + mostMs;
        prune(null, mostPages, () => now() < until);
      } catch {
        // A lock or a full disk: another day is as good.
      }
    },
  };
}

export type Pruning = ReturnType<typeof createPruning>;
