import { createHash } from 'node:crypto';
import { ownerIsDead } from './owner.ts';
import { isDriven, type RunHead } from './runs.ts';
import { putSetting } from './settings.ts';
import type { Sql } from './sql.ts';

/** Who plans a goal: the run that a planning is at, and the process that goes on with it. */
export type GoalClaim = { readonly run_id: string; readonly owner: string };

type HeldRow = GoalClaim & Pick<RunHead, 'ended_at' | 'lease_owner' | 'lease_until'>;

/** How long the end of a run may take to become the next one, or a plan, in milliseconds. */
const betweenMs = 10_000;

/** One row for each goal that is being planned, by the digest of its text: a goal is planned once (09 §8.8). */
export function createPlanGoals(sql: Sql, tenant: string) {
  const keyOf = (goal: string): string => `plan.goal.${createHash('sha256').update(goal).digest('hex')}`;

  const heldNow = (key: string, now: number): GoalClaim | null => {
    const held = sql.get<HeldRow>(
      `SELECT json_extract(k.value, '$.run_id') AS run_id, json_extract(k.value, '$.owner') AS owner, r.ended_at,
         st.lease_owner, st.lease_until
       FROM kv k LEFT JOIN runs r ON r.id = json_extract(k.value, '$.run_id') LEFT JOIN run_state st ON st.run_id = r.id
       WHERE k.tenant_id = ? AND k.key = ?`,
      tenant,
      key,
    );
    if (held === undefined || ownerIsDead(held.owner)) return null;
    const goesOn = held.ended_at === null ? isDriven(held, now) : held.ended_at > now - betweenMs;
    return goesOn ? { run_id: held.run_id, owner: held.owner } : null;
  };

  return {
    /**
     * Claims a goal for a run, in the transaction that starts it.
     * @param before the run of the same planning that had it; null for the first one
     * @returns who has it; nothing was written then. Null: it is this one's
     */
    claimGoal(goal: string, claim: GoalClaim, before: string | null, now: number): GoalClaim | null {
      const key = keyOf(goal);
      const held = heldNow(key, now);
      if (held !== null && held.run_id !== before) return held;
      putSetting(sql, tenant, key, JSON.stringify(claim), now);
      return null;
    },

    /** Gives a goal back; nothing where another planning has it. */
    leaveGoal(goal: string, runId: string): void {
      sql.write('normal', () =>
        sql.run(
          "DELETE FROM kv WHERE tenant_id = ? AND key = ? AND json_extract(value, '$.run_id') = ?",
          tenant,
          keyOf(goal),
          runId,
        ),
      );
    },
  };
}
