import { RuntimeError } from '../schema/errors.ts';
import type { PlanStatus } from '../schema/plan.ts';
import { orTaken } from './failure.ts';
import { createPlanGoals } from './plan-goals.ts';
import { createPlanSteps } from './plan-steps.ts';
import { putSetting } from './settings.ts';
import type { Sql } from './sql.ts';

/** Times are milliseconds; JSON columns are text. */
export type PlanRow = {
  readonly id: string;
  readonly name: string;
  readonly goal: string;
  readonly status: PlanStatus;
  readonly workspace: string;
  readonly repo_context: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
};

/** A plan with its progress. */
export type PlanListRow = PlanRow & { readonly done: number; readonly total: number };

/** Most plans of one database (11 §11). */
const maxPlans = 10_000;
const activeKey = 'plan.active';

const planColumns =
  'p.id, p.name, p.goal, p.status, p.workspace, p.repo_context, p.created_at, p.updated_at, p.completed_at';
const counts = `(SELECT count(*) FROM plan_steps s WHERE s.plan_id = p.id) AS total,
  (SELECT count(*) FROM plan_steps s WHERE s.plan_id = p.id AND s.status IN ('completed', 'skipped')) AS done`;

/** Plans, their steps and the active pointer (11 §2.3), of one tenant. Writes belong in the caller's transaction. */
export function createPlans(sql: Sql, tenant: string) {
  return {
    ...createPlanSteps(sql, tenant),
    ...createPlanGoals(sql, tenant),

    /** @throws RuntimeError already_exists when the name is taken, storage at 10,000 plans */
    insert(plan: PlanRow): void {
      const count = sql.get<{ n: number }>('SELECT count(*) AS n FROM plans WHERE tenant_id = ?', tenant)?.n ?? 0;
      if (count >= maxPlans) {
        throw new RuntimeError('storage', `There are ${maxPlans} plans, which is the most; delete some first.`, {
          hints: ['reins plan list', 'reins plan clean'],
        });
      }
      orTaken(
        (cause) => new RuntimeError('already_exists', `A plan named "${plan.name}" exists.`, { cause }),
        () =>
          sql.run(
            `INSERT INTO plans (id, tenant_id, name, goal, status, workspace, repo_context, created_at, updated_at, completed_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
            plan.id,
            tenant,
            plan.name,
            plan.goal,
            plan.status,
            plan.workspace,
            plan.repo_context,
            plan.created_at,
            plan.updated_at,
            plan.completed_at,
          ),
      );
    },

    byId(id: string): PlanListRow | undefined {
      return sql.get<PlanListRow>(
        `SELECT ${planColumns}, ${counts} FROM plans p WHERE p.tenant_id = ? AND p.id = ?`,
        tenant,
        id,
      );
    },

    byName(name: string): PlanListRow | undefined {
      return sql.get<PlanListRow>(
        `SELECT ${planColumns}, ${counts} FROM plans p WHERE p.tenant_id = ? AND p.name = ?`,
        tenant,
        name,
      );
    },

    /** Last changed first. */
    list(): PlanListRow[] {
      return sql.all<PlanListRow>(
        `SELECT ${planColumns}, ${counts} FROM plans p WHERE p.tenant_id = ? ORDER BY p.updated_at DESC, p.id DESC`,
        tenant,
      );
    },

    names: (): string[] =>
      sql.column<string>('SELECT name FROM plans WHERE tenant_id = ? ORDER BY updated_at DESC, id DESC', tenant),

    /** Id of the active plan; null when there is none or it was deleted. */
    activeId(): string | null {
      return (
        sql.get<{ id: string }>(
          `SELECT p.id FROM kv JOIN plans p ON p.id = CASE WHEN json_valid(kv.value) THEN json_extract(kv.value, '$') END AND p.tenant_id = kv.tenant_id
           WHERE kv.tenant_id = ? AND kv.key = ?`,
          tenant,
          activeKey,
        )?.id ?? null
      );
    },

    setActive(id: string, now: number): void {
      putSetting(sql, tenant, activeKey, JSON.stringify(id), now);
    },

    /** Clears the pointer when it names this plan. */
    leaveActive(id: string): void {
      sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ? AND value = ?', tenant, activeKey, JSON.stringify(id));
    },

    setStatus(id: string, status: PlanStatus, now: number): void {
      sql.run(
        'UPDATE plans SET status = ?, completed_at = ?, updated_at = ? WHERE tenant_id = ? AND id = ?',
        status,
        status === 'completed' ? now : null,
        now,
        tenant,
        id,
      );
    },

    setContext(id: string, context: string, now: number): void {
      sql.run(
        'UPDATE plans SET repo_context = ?, updated_at = ? WHERE tenant_id = ? AND id = ?',
        context,
        now,
        tenant,
        id,
      );
    },

    /** Notes on the run of a planning which plan came of it (09 §6.5). */
    linkRun(runId: string, planId: string): void {
      sql.write('normal', () =>
        sql.run(
          'UPDATE runs SET plan_id = ? WHERE id = ? AND tenant_id = ? AND plan_id IS NULL',
          planId,
          runId,
          tenant,
        ),
      );
    },

    touch(id: string, now: number): void {
      sql.run('UPDATE plans SET updated_at = ? WHERE tenant_id = ? AND id = ?', now, tenant, id);
    },

    /** Removes a plan with its steps, and what is kept beside it; its runs stay. @returns whether there was one */
    delete(id: string): boolean {
      for (const step of sql.column<string>('SELECT id FROM plan_steps WHERE plan_id = ?', id)) this.settled(step);
      sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, `plan.mirror.${id}`);
      this.leaveActive(id);
      return sql.run('DELETE FROM plans WHERE tenant_id = ? AND id = ?', tenant, id) === 1;
    },
  };
}

export type Plans = ReturnType<typeof createPlans>;
