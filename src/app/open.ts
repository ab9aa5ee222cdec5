import { existsSync } from 'node:fs';
import { type DatabaseProblem, databaseProblem } from './database-problem.ts';
import { refuseInside } from './inside-tool.ts';
import { isRead, light, readsOnly } from './light-operations.ts';
import { readMachine } from './machine.ts';
import type { Rooms } from './rooms.ts';
import { openStoreRooms, type StoreRooms } from './store-rooms.ts';
import type { AppHandle, AppOptions } from '../app-options.ts';
import { createLocalClient, type Services } from '../client/local-client.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { createSecrets } from '../registry/secrets.ts';
import type { Pools } from '../runs/pools.ts';
import type { ForeignOptions } from '../store/foreign.ts';
import { type OpenedStore, openStore } from '../store/store.ts';
import { RuntimeError } from '../schema/errors.ts';
import { findWorkspace, namedDataDirFault } from '../workspace/paths.ts';
import { createTrust } from '../workspace/trust.ts';
import { quote } from '../text/quote.ts';

/** What looks at a set-up that may be broken, and reports it. */
const examines: ReadonlySet<string> = new Set(['doctor', 'doctorBundle']);

/** @throws RuntimeError config_invalid (exit 3) when the named data directory is not there (06 §5.1) */
function checkDataDir(path: string): void {
  const fault = namedDataDirFault(path);
  if (fault === null) return;
  const hints = fault === 'does not exist' ? [`reins --data-dir ${quote(path)} init`] : [`ls -ld ${quote(path)}`];
  throw new RuntimeError('config_invalid', `The data directory ${path} ${fault}.`, { hints });
}

type Opened = {
  readonly store: OpenedStore;
  readonly rooms: StoreRooms;
  readonly problem: DatabaseProblem | null;
  readonly reading: boolean;
  /** Everything else, loaded when an operation needs it. */
  all: Promise<Rooms> | null;
};

/**
 * Builds everything in one readable order. Nothing is opened before it is needed: the database at the first operation,
 * for reading only where that is enough, and the rooms that act when something is to be done.
 * @param writes a run is about to start: a database that is there is opened for writing at once. One that is not there is
 * made by the run itself, so that a run without a chain leaves none behind (06 §10).
 */
export async function openApp(
  options: AppOptions,
  pools: Pools,
  writes: boolean,
): Promise<AppHandle<RuntimeClient, RouteClient>> {
  const now = Date.now;
  const { warn } = options;
  const machine = readMachine(options);
  const workspace = findWorkspace({
    cwd: options.cwd,
    dataDirFlag: options.dataDir?.value ?? null,
    dbFlag: options.database?.value ?? null,
    reinsHome: machine.reinsHome,
    uid: machine.uid,
  });
  const secrets = createSecrets({ environment: options.environment });
  const trust = createTrust({ home: machine.reinsHome, uid: machine.uid, now });
  let opened: Opened | undefined;

  const open = async (dbPath: string, reading: boolean, problem: DatabaseProblem | null = null): Promise<Opened> => {
    const store = await openStore({
      path: dbPath,
      installation: options.root,
      // Without a database that may be used, an empty one in memory stands for it.
      mode: problem !== null ? 'none' : reading ? 'read' : 'create',
      reinsHome: machine.reinsHome,
      version: options.version,
      now,
      warn,
    });
    if (store.created && workspace.dataDir !== null && dbPath.startsWith(workspace.dataDir)) {
      const { ensureIgnoreFile } = await import('../workspace/init.ts');
      ensureIgnoreFile(workspace.dataDir);
    }
    const rooms = openStoreRooms({ options, machine, workspace, store, secrets, now, warn, reading });
    try {
      if (options.notInside !== undefined) refuseInside({ ...rooms, ...options, now }, options.notInside);
    } catch (error) {
      store.close();
      throw error;
    }
    return { store, rooms, problem, reading, all: null };
  };
  /**
   * @param endThreads begun once no run is going; a thread takes as long to end as a database takes to close
   * @returns what it gives
   */
  const shut = async (endThreads: () => Promise<boolean> = async () => true): Promise<boolean> => {
    const current = opened;
    opened = undefined;
    // What kept the rooms from opening was told to whoever wanted them.
    await (await current?.all?.catch(() => null))?.close();
    const ended = endThreads();
    // A rejection is told by the wait below; until then it is nobody's.
    ended.catch(() => {});
    // The database is closed in one go, which would hold the word to the threads back.
    await new Promise((resolve) => setImmediate(resolve));
    await current?.rooms.noteHead();
    current?.store.close();
    return ended;
  };

  /** For an operation that reads: where nothing can be written, it does without what it would have written (11 §2.12). */
  const openToLook = async (reading: boolean): Promise<Opened> => {
    try {
      return await open(workspace.dbPath, reading);
    } catch (error) {
      const unwritable = error instanceof RuntimeError && (error.code === 'storage' || error.code === 'config_invalid');
      if (reading || !unwritable) throw error;
      return open(workspace.dbPath, true);
    }
  };

  /** Read to its end first: what cannot be used is reported and stays as it is, and nothing of it is used. */
  const openForDoctor = async (): Promise<Opened> => {
    try {
      const sound = await open(workspace.dbPath, true);
      try {
        sound.store.check();
      } catch (error) {
        sound.store.close();
        throw error;
      }
      sound.store.close();
      return await openToLook(false);
    } catch (error) {
      const problem = databaseProblem(error);
      if (problem === null) throw error;
      return open(workspace.dbPath, true, problem);
    }
  };

  /** What an operation needs; a database opened for reading is opened anew when something is to be written. */
  const openNow = async (name: keyof RuntimeClient): Promise<Opened> => {
    if (options.dataDir !== null && !examines.has(name)) checkDataDir(options.dataDir.value);
    const atOnce = writes && (opened === undefined ? existsSync(workspace.dbPath) : !opened.reading);
    const reading = readsOnly(name) && !atOnce;
    if (opened?.reading === true && !reading) await shut();
    if (examines.has(name)) opened ??= await openForDoctor();
    else opened ??= await (isRead(name) && !atOnce ? openToLook(reading) : open(workspace.dbPath, reading));
    return opened;
  };
  let opening: Promise<unknown> = Promise.resolve();
  /** One after another: two operations that come first together would each open it, and one of them for nobody. */
  const openFor = (name: keyof RuntimeClient): Promise<Opened> => {
    const next = opening.then(() => openNow(name));
    opening = next.catch(() => undefined);
    return next;
  };
  const loadAll = async (current: Opened): Promise<Rooms> => {
    const { openRooms } = await import('./rooms.ts');
    const { rooms: store, problem } = current;
    return openRooms({ options, machine, workspace, trust, secrets, pools, store, problem, now, warn });
  };
  const allFor = async (name: keyof RuntimeClient): Promise<Rooms> => {
    const current = await openFor(name);
    current.all ??= loadAll(current);
    return current.all;
  };

  const initialise: RuntimeClient['initialise'] = async (input) => {
    const { createInitialise } = await import('../workspace/init.ts');
    const { providerTypes } = await import('../schema/registry.ts');
    return createInitialise({
      workspace,
      dataDirFlag: options.dataDir?.value ?? null,
      uid: machine.uid,
      trust,
      providers: providerTypes,
      async backendsBefore(dataDir) {
        if (options.database !== null || workspace.dbPath === `${dataDir}/local.db` || !existsSync(workspace.dbPath)) {
          return [];
        }
        try {
          return (await openFor('listBackends')).rooms.registry.listBackends().map(({ name }) => name);
        } catch {
          // One that cannot be read has nothing to offer; `doctor` says why.
          return [];
        }
      },
      setUpProvider: async (provider, dataDir) => {
        const path = options.database?.value ?? `${dataDir}/local.db`;
        await shut();
        const current = await open(path, false);
        opened = current;
        current.all = loadAll(current);
        const action = current.store.created ? ('created' as const) : ('kept' as const);
        return { database: { path, action }, ...(await (await current.all).setUpProvider(provider)) };
      },
    }).initialise(input);
  };

  const foreign = (): ForeignOptions => ({
    path: workspace.dbPath,
    installation: options.root,
    reinsHome: machine.reinsHome,
    version: options.version,
    now,
  });
  const foreignDatabase: RuntimeClient['foreignDatabase'] = async () =>
    (await import('../store/foreign.ts')).readForeign(foreign());
  const acceptDatabase: RuntimeClient['acceptDatabase'] = async ({ sha256 }) => {
    await (await import('../store/foreign.ts')).acceptForeign({ ...foreign(), sha256 });
    return null;
  };

  const services = async (name: keyof RuntimeClient): Promise<Partial<Services>> => {
    if ((name === 'initialise' || name === 'acceptDatabase') && options.notInside !== undefined) {
      await (await import('./refused-attempt.ts')).refuseUnopened(options, options.notInside);
    }
    if (name === 'initialise') return { initialise };
    if (name === 'foreignDatabase' || name === 'acceptDatabase') return { foreignDatabase, acceptDatabase };
    if (light.has(name)) {
      const current = await openFor(name);
      // Where runs may be going on in this process, its own are among those to cancel.
      return (await current.all)?.services ?? current.rooms.services;
    }
    return (await allFor(name)).services;
  };

  return {
    client: createLocalClient(services),
    workspace: workspace.root,
    warnings: workspace.warnings,
    async routes() {
      const { createRouteClient } = await import('../client/route-client.ts');
      return createRouteClient(async () => (await allFor('setConfig')).routes());
    },
    async ground(access) {
      const { rooms, store } = await openFor(access === 'read' ? 'getConfig' : 'setConfig');
      const { openGround } = await import('./ground.ts');
      const rest = async (withinMs: number) => (await opened?.all)?.rest(withinMs);
      return openGround({ options, machine, workspace, store, rooms, secrets, now, rest });
    },
    async close() {
      return shut(() => pools.close());
    },
  };
}
