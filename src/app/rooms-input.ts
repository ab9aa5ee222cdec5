import type { AppOptions } from '../app-options.ts';
import type { Secrets } from '../registry/secrets.ts';
import type { Pools } from '../runs/pools.ts';
import type { Workspace } from '../workspace/paths.ts';
import type { Trust } from '../workspace/trust.ts';
import type { DatabaseProblem } from './database-problem.ts';
import type { Machine } from './machine.ts';
import type { StoreRooms } from './store-rooms.ts';

/** What an opened app puts its rooms together from. */
export type RoomsInput = {
  readonly options: AppOptions;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly trust: Trust;
  readonly secrets: Secrets;
  readonly pools: Pools;
  readonly store: StoreRooms;
  /** Why the database itself could not be opened; then `store` is an empty one in memory, for `doctor` alone. */
  readonly problem: DatabaseProblem | null;
  readonly now: () => number;
  readonly warn: (line: string) => void;
};
