import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createPrivateFile, syncDirectory } from './private-file.ts';

/** How many copies made before migrations are kept (11 §2.10). */
const keep = 3;

/** `local.db.backup-v<n>-<time>`; the time sorts as text. */
const backupName = (path: string, schema: number, at: number): string =>
  `${path}.backup-v${schema}-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}`;

/** Files beside this database whose names end, behind the `v` of a backup, as the pattern says. */
function beside(path: string, ending: RegExp): string[] {
  const start = `${basename(path)}.backup-v`;
  try {
    return readdirSync(dirname(path)).filter((name) => name.startsWith(start) && ending.test(name.slice(start.length)));
  } catch {
    return [];
  }
}

/** Backups of this database, oldest first, by the time in their names. */
function listBackups(path: string): string[] {
  const time = (name: string): string => name.slice(name.lastIndexOf('-') + 1);
  return beside(path, /^\d+-\d{8}T\d{9}Z$/)
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

/** What was copied came out damaged, as it does from a damaged database. */
export class DamagedCopy extends Error {}

/**
 * Writes a checked copy with mode 0600, then removes all but the newest three. It gets its name when it is whole and on
 * the disk: the half of one, left by a process that was killed, must neither be advised to anybody nor count as one of
 * the three (11 §1.2.2). Only one process makes a copy at a time: what others have left half-made goes first.
 * @throws Error when copy or check fails; the half-made copy is removed
 */
export function backUp(path: string, schema: number, at: number, copier: Copier): string {
  const target = backupName(path, schema, at);
  for (const half of beside(path, /^\d+-\w+\.tmp-[0-9a-f]{12}(-journal)?$/)) {
    rmSync(join(dirname(path), half), { force: true });
  }
  const temporary = `${target}.tmp-${randomBytes(6).toString('hex')}`;
  if (existsSync(target) || !createPrivateFile(temporary)) throw new Error(`${target} exists already`);
  try {
    copier.copyInto(temporary);
    const verdict = copier.check(temporary);
    if (verdict !== 'ok') throw new DamagedCopy(`the copy is damaged: ${verdict}`);
    flush(temporary);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(target));
  for (const old of listBackups(path).slice(0, -keep)) rmSync(old, { force: true });
  return target;
}

/** VACUUM INTO leaves what it has written to the system. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
