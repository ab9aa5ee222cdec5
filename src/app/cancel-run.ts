import type { RuntimeClient } from '../client/operations.ts';
import type { RunService } from '../runs/runs.ts';
import { RuntimeError } from '../schema/errors.ts';

export type CancelRunDeps = {
  readonly runs: Pick<RunService, 'isGoing' | 'isHere' | 'cancelRun'>;
  /** For a run that another process drives, or that rests. */
  readonly elsewhere: RuntimeClient['cancelRun'];
  readonly by: string;
};

/** Ends a run wherever it is. One that ended here while it was being cancelled is what was wanted. */
export function cancelRunWith({ runs, elsewhere, by }: CancelRunDeps): RuntimeClient['cancelRun'] {
  return async (wanted) => {
    if (runs.isGoing(wanted.run_id)) return runs.cancelRun(wanted, by);
    try {
      return await elsewhere(wanted);
    } catch (error) {
      const over = error instanceof RuntimeError && error.code === 'run_not_active' && runs.isHere(wanted.run_id);
      if (!over) throw error;
      return null;
    }
  };
}
