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

/** Takes away what a process that was killed has left half-written beside mirror files of plans and what was typed. */
export function tidy(directory: string, at: number): void {
  for (const name of ['', 'plans', 'history']) removeLeftovers(join(directory, name), at);
}
