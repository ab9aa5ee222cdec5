import { type DatabaseProblem, databaseProblem } from './app/inspect.ts';
import { readMachine } from './app/machine.ts';
import { openRooms, type Rooms } from './app/rooms.ts';
import { openStoreRooms } from './app/store-rooms.ts';
import type { AppHandle, AppOptions } from './app-options.ts';
import { createLocalClient, type Services } from './client/local-client.ts';
import { operations, type RuntimeClient } from './client/operations.ts';
import { createSecrets } from './registry/secrets.ts';
import { createPools } from './runs/pools.ts';
import { providerTypes } from './schema/registry.ts';
import { latest, migrations } from './store/migrate.ts';
import { type OpenedStore, openStore } from './store/store.ts';
import { createInitialise, ensureIgnoreFile } from './workspace/init.ts';
import { findWorkspace } from './workspace/paths.ts';
import { createTrust } from './workspace/trust.ts';

/** Number of the schema that this program writes. */
export const databaseSchema = latest(migrations);

/** Reading operations that write all the same: sweeps, caches, the rows of a run. */
const writing: ReadonlySet<string> = new Set([
  'listAsks',
  'showAsk',
  'awaitRun',
  'watch',
  'doctor',
  'listModels',
  'showModel',
]);

const readsOnly = (name: keyof RuntimeClient): boolean =>
  !writing.has(name) && name !== 'pullModel' && operations[name as keyof typeof operations].access === 'read';

/**
 * Builds everything in one readable order. Nothing is opened before it is needed: the database at the first operation,
 * for reading only where that is enough, the first run thread when a run is about to start.
 */
export async function createApp(options: AppOptions): Promise<AppHandle<RuntimeClient>> {
  const now = Date.now;
  const machine = readMachine(options);
  const workspace = findWorkspace({
    cwd: options.cwd,
    dataDirFlag: options.dataDir?.value ?? null,
    dbFlag: options.database?.value ?? null,
    reinsHome: machine.reinsHome,
    uid: machine.uid,
  });
  const secrets = createSecrets({ environment: options.environment });
  const pools = createPools({ root: options.root });
  const trust = createTrust({ home: machine.reinsHome, uid: machine.uid, now });
  const { warn } = options;
  let opened: { readonly rooms: Rooms; readonly store: OpenedStore; readonly reading: boolean } | undefined;

  const open = async (
    dbPath: string,
    reading: boolean,
    problem: DatabaseProblem | null = null,
  ): Promise<NonNullable<typeof opened>> => {
    const store = await openStore({
      // Without a database that may be used, an empty one in memory stands for it.
      path: problem === null ? dbPath : `${dbPath}.absent`,
      mode: reading ? 'read' : 'create',
      reinsHome: machine.reinsHome,
      version: options.version,
      now,
      warn,
    });
    if (store.created && workspace.dataDir !== null && dbPath.startsWith(workspace.dataDir))
      ensureIgnoreFile(workspace.dataDir);
    const rooms = openRooms({
      options,
      machine,
      workspace: { ...workspace, dbPath },
      trust,
      secrets,
      pools,
      store: openStoreRooms(options, machine, store, secrets, now),
      problem,
      now,
      warn,
    });
    return { rooms, store, reading };
  };
  const shut = async (): Promise<void> => {
    const current = opened;
    opened = undefined;
    await current?.rooms.close();
    current?.store.close();
  };

  /** The services for an operation; what was opened for reading is opened anew when something is to be written. */
  const roomsFor = async (name: keyof RuntimeClient): Promise<Rooms> => {
    const reading = readsOnly(name);
    if (opened?.reading === true && !reading) await shut();
    opened ??= await open(workspace.dbPath, reading).catch((error: unknown) => {
      const problem = name === 'doctor' ? databaseProblem(error) : null;
      if (problem === null) throw error;
      return open(workspace.dbPath, true, problem);
    });
    return opened.rooms;
  };

  const { initialise } = createInitialise({
    workspace,
    dataDirFlag: options.dataDir?.value ?? null,
    uid: machine.uid,
    trust,
    providers: providerTypes,
    setUpProvider: async (provider, dataDir) => {
      const path = options.database?.value ?? `${dataDir}/local.db`;
      await shut();
      opened = await open(path, false);
      const action = opened.store.created ? ('created' as const) : ('kept' as const);
      return { database: { path, action }, ...(await opened.rooms.setUpProvider(provider)) };
    },
  });

  const services = async (name: keyof RuntimeClient): Promise<Services> => {
    if (name === 'untrusted' || name === 'startRun' || name === 'sendMessage') pools.warm();
    const only = { initialise } as unknown as Services;
    return name === 'initialise' ? only : { ...(await roomsFor(name)).services, initialise };
  };

  return {
    client: createLocalClient(services),
    warnings: workspace.warnings,
    async close() {
      await shut();
      await pools.close();
    },
  };
}
