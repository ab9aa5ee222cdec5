import type { PlanOperations } from '../plans/plans.ts';

/** Operations of plans that run nothing. */
export const planOperations = [
  'listPlans',
  'showPlan',
  'switchPlan',
  'archivePlan',
  'deletePlan',
  'cleanPlans',
  'retryStep',
  'skipStep',
] as const satisfies readonly (keyof PlanOperations)[];

/** What stands on the database alone: a listing loads nothing else (06 §1.2.3). */
export const light: ReadonlySet<string> = new Set([
  'listSessions',
  'sessionNames',
  'newSession',
  'switchSession',
  'showSession',
  'deleteSession',
  'renameSession',
  'forkSession',
  'exportSession',
  'searchMessages',
  'setConfig',
  'getConfig',
  'unsetConfig',
  'listConfig',
  'listAsks',
  'showAsk',
  'listRemembered',
  'forgetRemembered',
  'shortIds',
  'listAudit',
  'verifyAudit',
  'exportAudit',
  'pruneAudit',
  'listRuns',
  'showRun',
  'showRunStep',
  'deleteRun',
  'pruneRuns',
  'cancelRun',
  'feedRange',
  'watchFeed',
  ...planOperations,
]);
