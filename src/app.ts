import type { AppHandle, AppOptions } from './app-options.ts';
import type { RuntimeClient } from './client/operations.ts';
import type { RouteClient } from './client/routes.ts';
import { createPools, type Pools } from './runs/pools.ts';

/** Threads that were started before the app was opened. */
export type Threads = Pools;

/**
 * Gets ready for a run: the first thread takes longer to start than the rest of this program takes to load, so it is on
 * its way before anything else is read. Hand the result to `createApp`, or close it.
 */
export async function startThreads(root: URL): Promise<Threads> {
  const pools = createPools({ root });
  await pools.warm();
  for (const part of [import('./app/open.ts'), import('./app/rooms.ts')]) part.catch(ignored);
  return pools;
}

/** Whoever needs what failed to load meets the same failure and reports it. */
const ignored = (): void => {};

/** Reads what every operation needs while the caller goes on. */
export function prefetch(): void {
  import('./app/open.ts').catch(ignored);
}

/** Opens the program for a face; the rooms are loaded as operations need them. `close` ends the threads as well. */
export async function createApp(
  options: AppOptions,
  threads?: Threads,
): Promise<AppHandle<RuntimeClient, RouteClient>> {
  const { openApp } = await import('./app/open.ts');
  // With threads a run is about to be written, so the database is opened for writing at once.
  return openApp(options, threads ?? createPools({ root: options.root }), threads !== undefined);
}

/** Writes down that a tool child tried a command that is refused to it. @returns the refusal */
export async function refusal(options: AppOptions, command: string): Promise<Error> {
  const { insideTool } = await import('./app/inside-tool.ts');
  const { noteAttempt } = await import('./app/refused-attempt.ts');
  await noteAttempt(options, command);
  return insideTool(command);
}

/** Number of the schema that this program writes. */
export async function databaseSchema(): Promise<number> {
  const { latest, migrations } = await import('./store/migrate.ts');
  return latest(migrations);
}
