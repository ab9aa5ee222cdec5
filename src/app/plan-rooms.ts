import { join } from 'node:path';
import { createMirror } from '../plans/mirror.ts';
import { createPlanOperations } from '../plans/plans.ts';
import { createPlanBooks, type PlanDeps } from '../plans/settle.ts';
import { createSettings } from '../store/settings.ts';
import type { Sql } from '../store/sql.ts';

export type PlanRoomsDeps = Omit<PlanDeps, 'mirror'> & {
  readonly sql: Sql;
  /** The data directory, or the user's own without a project. */
  readonly directory: string;
  readonly writable: boolean;
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
  readonly warn: (line: string) => void;
};

/** Plans as rows and files; loaded when somebody asks for them. */
export function openPlanRooms(deps: PlanRoomsDeps) {
  const mirror = createMirror({
    directory: join(deps.directory, 'plans'),
    settings: createSettings(deps.sql, deps.tenant),
    now: deps.now,
    warn: deps.warn,
  });
  const books = createPlanBooks({ ...deps, mirror });
  return { books, operations: createPlanOperations({ ...deps, books, mirror }) };
}
