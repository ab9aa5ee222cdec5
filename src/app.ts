import type { AppHandle, AppOptions } from './app-options.ts';
import type { RuntimeClient } from './client/operations.ts';
import { createPools, type Pools } from './runs/pools.ts';

/** Threads that were started before the app was opened. */
export type Threads = Pools;

/**
 * Starts the first run thread while the caller goes on: a thread takes longer to start than the rest of this program
 * takes to load. Hand the result to `createApp`, or close it.
 */
export function startThreads(root: URL): Threads {
  const pools = createPools({ root });
  pools.warm();
  return pools;
}

/** Opens the program for a face; the rooms are loaded as operations need them. `close` ends the threads as well. */
export async function createApp(
  options: AppOptions,
  threads: Threads = createPools({ root: options.root }),
): Promise<AppHandle<RuntimeClient>> {
  const { openApp } = await import('./app/open.ts');
  return openApp(options, threads);
}

/** Number of the schema that this program writes. */
export async function databaseSchema(): Promise<number> {
  const { latest, migrations } = await import('./store/migrate.ts');
  return latest(migrations);
}
