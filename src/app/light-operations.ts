import { operations, type RuntimeClient } from '../client/operations.ts';
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
  'askHistory',
  'listRemembered',
  'forgetRemembered',
  'shortIds',
  'listAudit',
  'verifyAudit',
  'exportAudit',
  'pruneAudit',
  'recordRestored',
  'listRuns',
  'showRun',
  'showRunStep',
  'deleteRun',
  'showChanges',
  'undoChanges',
  'pruneRuns',
  'cancelRun',
  'feedRange',
  'listServers',
  'watchFeed',
  ...planOperations,
]);

/** Reading operations that write all the same: sweeps, caches, the rows of a run. */
const writing: ReadonlySet<string> = new Set([
  'listAsks',
  'showAsk',
  'awaitRun',
  'watch',
  'watchFeed',
  'doctor',
  'listModels',
  'showModel',
  'showPlan',
  'planningStep',
  'stepOutcome',
]);

/** Whether an operation only looks, which decides how the database is opened. */
export const isRead = (name: keyof RuntimeClient): boolean =>
  name === 'watchFeed' || (name in operations && operations[name as keyof typeof operations].reads);

/** Whether it does without writing anything at all. */
export const readsOnly = (name: keyof RuntimeClient): boolean => !writing.has(name) && isRead(name);
