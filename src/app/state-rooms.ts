import { type CancelDeps, cancelElsewhere } from '../runs/cancel-requests.ts';
import { createRecorded, type RecordedDeps } from '../runs/recorded.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type LeaveDeps, leaveTurnOf } from '../sessions/leave-turn.ts';
import type { LostRuns } from '../runs/lost-runs.ts';
import { createRecordedRuns, type RunFilter } from '../store/recorded-runs.ts';
import { createRunDeeds } from '../store/run-deeds.ts';
import { type OpenPruningDeps, openPruning } from './pruning.ts';
import { createUndo, type UndoDeps } from './undo-run.ts';

export type StateRoomsDeps = OpenPruningDeps &
  Omit<RecordedDeps, 'recorded'> &
  Omit<CancelDeps, 'left'> &
  LeaveDeps &
  Omit<UndoDeps, 'record' | 'commands' | 'writes'> & {
    readonly lostRuns: LostRuns;
    /** Who cancels. */
    readonly by: string;
  };

type Named = { readonly run_id: string };
type CancelInput = Named & { readonly reason: string; readonly wait?: boolean | undefined };

/** What looks back at runs, and ends and removes those of other processes; loaded when somebody asks for it. */
export function openStateRooms(deps: StateRoomsDeps) {
  const { lostRuns } = deps;
  const recorded = createRecorded({
    ...deps,
    recorded: createRecordedRuns(deps.store.sql, deps.tenant, lostRuns.ids),
  });
  const pruning = openPruning(deps);
  const { commandsOf, writesOf } = createRunDeeds(deps.store.sql);
  const undo = createUndo({ ...deps, record: recorded.record, commands: commandsOf, writes: writesOf });
  const left: CancelDeps['left'] = (head) => leaveTurnOf(deps, head);
  return {
    /** The whole id of a run that is named by a part of it. @throws RuntimeError not_found, ambiguous_id */
    findRun: (part: string): string => recorded.find(part),
    listRuns: (filter: RunFilter) => recorded.list(filter),
    showRun: ({ run_id, full }: Named & { readonly full?: boolean | undefined }) =>
      recorded.show(run_id, full === true),
    showRunStep: ({ run_id, index }: Named & { readonly index: number }) => recorded.step(run_id, index),
    async cancelRun({ run_id, reason, wait }: CancelInput): Promise<null> {
      await cancelElsewhere({ ...deps, left }, recorded.find(run_id), { by: deps.by, reason }, wait === true);
      return null;
    },
    /** @throws RuntimeError in_use for a run that has not ended, or that a step of a plan still counts on */
    deleteRun({ run_id }: Named): { readonly run_id: string } {
      const id = recorded.find(run_id);
      if (pruning.remove(id)) return { run_id: id };
      const { status, plan } = recorded.show(id, false);
      throw deps.runs.ended(id) === undefined ? notEnded(id, status) : awaited(id, plan);
    },
    ...undo,
    pruneRuns: ({ before }: { readonly before: number | null }) => pruning.prune(before),
  };
}

const notEnded = (id: string, status: string): RuntimeError =>
  new RuntimeError('in_use', `run ${id} has not ended: it is ${status}`, { hints: [`reins state cancel ${id}`] });

const awaited = (id: string, plan: string | null): RuntimeError =>
  new RuntimeError('in_use', `run ${id} has ended, but the step of its plan has not taken in what came of it`, {
    hints: [`reins plan show ${plan ?? ''}`.trimEnd()],
  });
