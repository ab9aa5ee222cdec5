import { boolean, nullable, number, object, optional, string } from 'superstruct';
import type { CapturedStep } from '../../schema/event.ts';
import type { FeedRange } from '../../schema/feed.ts';
import { RunChanges } from '../../schema/file-change.ts';
import type { Pruned, RunDetails, RunSummary } from '../../schema/run-record.ts';
import { operation, returns, shown } from '../operation.ts';

const run = object({ run_id: string() });

/** Runs as they were recorded, and the feed across them. A run is named by its id or an end of it. */
export const records = {
  /** Newest first. */
  listRuns: operation(
    'reads',
    object({ status: nullable(string()), session: nullable(string()), limit: number() }),
    returns<{ readonly runs: readonly RunSummary[]; readonly total: number }>(),
  ),
  /** The run with its steps, calls and waits; `full` also has what steps and calls were given and made. */
  showRun: operation('reads', object({ run_id: string(), full: optional(boolean()) }), returns<RunDetails>()),
  /** One step whole; `index` counts from 1. */
  showRunStep: operation('reads', object({ run_id: string(), index: number() }), returns<CapturedStep>()),
  /** The files that its calls have changed, and what can be done about each. */
  showChanges: operation('reads', run, shown(RunChanges)),
  /** Puts back what can be. Refused for a run that has not ended. */
  undoChanges: operation('acts', run, shown(RunChanges)),
  /** Refused for a run that has not ended. */
  deleteRun: operation('acts', run, returns<{ readonly run_id: string }>()),
  /** Removes ended runs from before a time, in milliseconds since the epoch; null = as the retention keys say. */
  pruneRuns: operation('acts', object({ before: nullable(number()) }), returns<Pruned>()),
  /** Where servers of this database listen on this machine now; what they noted themselves. */
  listServers: operation('reads', object({}), returns<readonly { readonly port: number }[]>()),
  /** Where the feed begins and ends now. */
  feedRange: operation('reads', object({}), returns<FeedRange>()),
} as const;
