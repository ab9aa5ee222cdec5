import type { AppOptions, ServerGround } from '../app-options.ts';
import type { Secrets } from '../registry/secrets.ts';
import { createLogins } from '../store/logins.ts';
import { machineKey, readPrivateFile } from '../store/private-file.ts';
import { createRepeats } from '../store/repeats.ts';
import type { OpenedStore } from '../store/store.ts';
import type { Workspace } from '../workspace/paths.ts';
import { isOwnAccount } from './connection-ends.ts';
import { comesFromTool } from './inside-tool.ts';
import type { Machine } from './machine.ts';
import { serverToken } from './server-token.ts';
import type { StoreRooms } from './store-rooms.ts';

export type GroundInput = {
  readonly options: AppOptions;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly store: OpenedStore;
  readonly rooms: StoreRooms;
  readonly secrets: Secrets;
  readonly now: () => number;
  rest(withinMs: number): Promise<void>;
};

/** What the server stands on beside the operations: the credentials of this database, and where things lie. */
export function openGround({
  options,
  machine,
  workspace,
  store,
  rooms,
  secrets,
  now,
  rest,
}: GroundInput): ServerGround {
  const { sql, audit, settings } = rooms;
  return {
    logins: createLogins({ sql, audit, tenant: options.tenant, now }),
    repeats: createRepeats({ sql, now }),
    machineKey: () => machineKey(machine.reinsHome, true) ?? new Uint8Array(),
    token: serverToken(machine.reinsHome, secrets),
    secretFile: (path) => {
      const bytes = readPrivateFile(path);
      return bytes === null ? null : textOf(bytes);
    },
    rest,
    answeredRuns: () => {
      // First, because whoever looks at a list marks them, and runs that are just taken up would then seem to be another's.
      rooms.lostRuns.mark();
      return rooms.runs.answered({ tenant: options.tenant, workspace: workspace.root }, now());
    },
    noteServing: rooms.serving.note,
    servingPorts: rooms.serving.ports,
    comesFromTool: (ends, changes) => comesFromTool({ ...rooms, tenant: options.tenant, now }, ends, changes),
    isOwnAccount,
    schema: store.schema,
    tenant: options.tenant,
    reinsHome: machine.reinsHome,
    workspace: workspace.root,
    dataDir: workspace.dataDir,
    database: store.path,
    settings: () => ({
      host: settings.value('beam-host'),
      port: settings.value('beam-port'),
      publicOrigins: settings.value('beam-public-origin'),
      tokenScope: settings.value('beam-token-scope'),
      allowDefaultLogin: settings.value('allow-default-login'),
    }),
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
