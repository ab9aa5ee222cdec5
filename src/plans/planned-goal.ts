import { RuntimeError } from '../schema/errors.ts';
import { driverOf } from '../store/owner.ts';
import type { Plans } from '../store/plans.ts';

/** The claim of one planning on its goal, over all of its runs. */
export type PlannedGoal = {
  /** Belongs in the transaction that starts a run of it. @throws RuntimeError in_use while somebody else plans the goal */
  readonly take: (runId: string) => void;
  readonly leave: () => void;
};

type PlannedGoalDeps = {
  readonly plans: Pick<Plans, 'claimGoal' | 'leaveGoal'>;
  readonly owner: string;
  readonly now: () => number;
};

/** Two windows, or a terminal and a browser, that ask for the same plan at once get one (09 §8.8): the first row decides. */
export function plannedGoal({ plans, owner, now }: PlannedGoalDeps, goal: string): PlannedGoal {
  let last: string | null = null;
  return {
    take(runId) {
      const held = plans.claimGoal(goal, { run_id: runId, owner }, last, now());
      if (held !== null && last === null) throw isPlanned(held.run_id, held.owner);
      if (held === null) last = runId;
    },
    leave() {
      if (last === null) return;
      try {
        plans.leaveGoal(goal, last);
      } catch {
        // What came of the planning stands; a claim whose run has ended counts for nothing in a moment.
      }
    },
  };
}

function isPlanned(runId: string, owner: string): RuntimeError {
  const driver = driverOf(owner);
  const by = driver === null ? '' : ` by ${driver.surface}, process ${driver.pid}`;
  return new RuntimeError('in_use', `This goal is being planned already${by}: its plan will be in the list of plans.`, {
    data: { run_id: runId },
    hints: ['reins plan list', `reins state cancel ${runId}`],
  });
}
