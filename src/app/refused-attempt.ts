import type { AppOptions } from '../app-options.ts';
import { createAudit } from '../store/audit.ts';
import { createCalls } from '../store/calls.ts';
import { type OpenedStore, type OpenOptions, openStore } from '../store/store.ts';
import { findWorkspace } from '../workspace/paths.ts';
import { insideTool, note, startedBy } from './inside-tool.ts';
import { readMachine } from './machine.ts';

/** Writes down that something with the marker of a run tried a command; nothing where there is no database. Never throws. */
export async function noteAttempt(options: AppOptions, command: string): Promise<void> {
  const marker = (options.environment['REINS_RUN_ID'] ?? '').slice(0, 64);
  await noted(options, marker, { command, by: 'marker' });
}

/**
 * As `refuseInside`, for what opens no database: the one that is there is only looked at.
 * @throws RuntimeError inside_tool
 */
export async function refuseUnopened(options: AppOptions, command: string): Promise<void> {
  const running = await withStore(options, 'read', ({ sql }) => createCalls(sql).running());
  const { run, call } = startedBy(running ?? [], options.root);
  if (run === null) return;
  await noted(options, run, { command, ...(call === undefined ? {} : { call_id: call.call_id }), by: 'process' });
  throw insideTool(command);
}

async function noted(options: AppOptions, run: string, body: object): Promise<void> {
  const { tenant } = options;
  await withStore(options, 'existing', ({ sql }) =>
    note({ sql, audit: createAudit(sql), tenant, now: Date.now }, run, body),
  );
}

/** @returns null where there is no database, or none that can be used: a refusal stands, whether or not anybody can be told */
async function withStore<T>(
  options: AppOptions,
  mode: OpenOptions['mode'],
  use: (store: OpenedStore) => T,
): Promise<T | null> {
  try {
    const { reinsHome, uid } = readMachine(options);
    const { cwd, dataDir, database, version, root } = options;
    const flags = { dataDirFlag: dataDir?.value ?? null, dbFlag: database?.value ?? null };
    const { dbPath } = findWorkspace({ cwd, ...flags, reinsHome, uid });
    const warn = (): void => {};
    const store = await openStore({ path: dbPath, installation: root, mode, reinsHome, version, now: Date.now, warn });
    try {
      return use(store);
    } finally {
      store.close();
    }
  } catch {
    return null;
  }
}
