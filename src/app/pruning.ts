import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../registry/settings.ts';
import { createPruning, type Pruning } from '../runs/pruning.ts';
import type { OpenedStore } from '../store/store.ts';
import { spoolBase } from '../tools/spool.ts';
import { removeLeftovers } from '../workspace/files.ts';

export type OpenPruningDeps = {
  readonly store: OpenedStore;
  readonly settings: Pick<Settings, 'value'>;
  readonly tenant: string;
  readonly reinsHome: string;
  readonly now: () => number;
};

/** Where the results of calls lie that are too large for a message, and what files held before calls changed them. */
export const toolOutput = (reinsHome: string): string => join(reinsHome, 'tool_output');

/** What removes old runs, with the files that their calls have left. */
export const openPruning = ({ store, settings, tenant, reinsHome, now }: OpenPruningDeps): Pruning =>
  createPruning({
    sql: store.sql,
    tenant,
    retention: (key) => settings.value(key),
    vacuum: (pages) => store.vacuum(pages),
    removeOutput: (id) => rmSync(join(toolOutput(reinsHome), spoolBase(id)), { recursive: true, force: true }),
    now,
  });

/** Soon after the start, when what was asked for is under way. */
const tidyAfterMs = 1_000;
const tidyEveryMs = 60 * 60 * 1_000;

/**
 * Takes away what processes that were killed have left half-written in directories of ours (11 §1.2.2): soon after the
 * start, since this process may be killed as well, then every hour, since it may live on for weeks.
 * @returns what ends it, with a last look, which is the only one of a short command
 */
export function keepTidy(directories: readonly (string | null)[], now: () => number): () => void {
  const tidy = (): void => {
    // Beside what was typed and mirror files of plans, too.
    for (const directory of directories.filter((each) => each !== null)) {
      for (const name of ['', 'plans', 'history']) removeLeftovers(join(directory, name), now());
    }
  };
  const first = setTimeout(tidy, tidyAfterMs).unref();
  const others = setInterval(tidy, tidyEveryMs).unref();
  return () => {
    clearTimeout(first);
    clearInterval(others);
    tidy();
  };
}
