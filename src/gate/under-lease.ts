import type { ToolOutcome } from '../schema/protocol.ts';
import type { Feed, Record } from '../store/feed.ts';
import { takenOver, takenOverText } from '../store/run-leases.ts';
import type { Runs } from '../store/runs.ts';
import type { GateRun } from './run.ts';

/** The end of a call whose lease is another's: nothing of it may start or be recorded here. */
export const leaseLost: ToolOutcome = { kind: 'fatal', error: { code: 'storage', message: takenOverText } };

export type LeaseDeps = { readonly feed: Feed; readonly runs: Pick<Runs, 'holdsLease'> };

/**
 * One transaction of a run that this process still has. A process that was stopped for longer than its lease (Ctrl+Z, a
 * machine that slept) goes on where it waited, but what was answered meanwhile belongs to whoever took the run over (11 §2.9).
 * @throws RuntimeError storage when the lease is another's; nothing was written then
 */
export const underLease = <T>(
  { feed, runs }: LeaseDeps,
  run: GateRun,
  durability: 'full' | 'normal',
  body: (record: Record) => T,
): T =>
  feed.commit(durability, (record) => {
    if (!runs.holdsLease(run.ref.run_id, run.owner)) throw takenOver();
    return body(record);
  });
