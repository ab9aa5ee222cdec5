import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AppOptions, ServerGround } from '../app-options.ts';
import { createLogins } from '../store/logins.ts';
import { ensurePrivateFile, machineKey, readPrivateFile } from '../store/private-file.ts';
import { createRepeats } from '../store/repeats.ts';
import type { OpenedStore } from '../store/store.ts';
import { writeAtomic } from '../workspace/files.ts';
import type { Workspace } from '../workspace/paths.ts';
import { comesFromTool } from './inside-tool.ts';
import type { Machine } from './machine.ts';
import type { StoreRooms } from './store-rooms.ts';

export type GroundInput = {
  readonly options: AppOptions;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly store: OpenedStore;
  readonly rooms: StoreRooms;
  readonly now: () => number;
  rest(withinMs: number): Promise<void>;
};

/** What the server stands on beside the operations: the credentials of this database, and where things lie. */
export function openGround({ options, machine, workspace, store, rooms, now, rest }: GroundInput): ServerGround {
  const { sql, audit, settings } = rooms;
  const tokenPath = join(machine.reinsHome, 'beam-token');
  const newToken = (): Uint8Array => Buffer.from(`rbt_${randomBytes(32).toString('base64url')}\n`);
  return {
    logins: createLogins({ sql, audit, tenant: options.tenant, now }),
    repeats: createRepeats({ sql, now }),
    machineKey: () => machineKey(machine.reinsHome, true) ?? new Uint8Array(),
    token: {
      path: tokenPath,
      ensure: () => textOf(ensurePrivateFile(tokenPath, newToken)),
      read: () => {
        const bytes = readPrivateFile(tokenPath);
        return bytes === null ? null : textOf(bytes);
      },
      rotate: () => {
        const text = newToken();
        writeAtomic(tokenPath, text, 0o600);
        return textOf(text);
      },
    },
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
