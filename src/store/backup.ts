import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createPrivateFile } from './private-file.ts';

/** How many copies made before migrations are kept (11 §2.10). */
const keep = 3;

/** `local.db.backup-v<n>-<time>`; the time sorts as text. */
const backupName = (path: string, schema: number, at: number): string =>
  `${path}.backup-v${schema}-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}`;

/** Backups of this database, oldest first, by the time in their names. */
function listBackups(path: string): string[] {
  const start = `${basename(path)}.backup-v`;
  let names: string[];
  try {
    names = readdirSync(dirname(path));
  } catch {
    return [];
  }
  const time = (name: string): string => name.slice(name.lastIndexOf('-') + 1);
  return names
    .filter((name) => name.startsWith(start) && /^\d+-\d{8}T\d{9}Z$/.test(name.slice(start.length)))
    .sort((a, b) => (time(a) < time(b) ? -1 : 1))
    .map((name) => join(dirname(path), name));
}

export const newestBackup = (path: string): string | null => listBackups(path).at(-1) ?? null;

/** The two steps that need a connection of their own. */
export type Copier = {
  /** VACUUM INTO an empty file. */
  copyInto(target: string): void;
  /** Text of `PRAGMA quick_check` of a file. */
  check(target: string): string;
};

/**
 * Writes a checked copy with mode 0600, then removes all but the newest three.
 * @throws Error when copy or check fails; the half-made copy is removed
 */
export function backUp(path: string, schema: number, at: number, copier: Copier): string {
  const target = backupName(path, schema, at);
  if (!createPrivateFile(target)) throw new Error(`${target} exists already`);
  try {
    copier.copyInto(target);
    const verdict = copier.check(target);
    if (verdict !== 'ok') throw new Error(`the copy is damaged: ${verdict}`);
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  }
  for (const old of listBackups(path).slice(0, -keep)) rmSync(old, { force: true });
  return target;
}
