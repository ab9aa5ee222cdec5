import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { notKeptIn } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { boundaryBefore } from '../text/utf8.ts';
import type { Spool } from './tool.ts';

export type SpoolDeps = {
  /** `<REINS_HOME>/tool_output`. */
  readonly directory: string;
  /** The runs whose results a scope may read: those of a session; for a run without one nothing more is needed. */
  readonly runsOf: (scope: string) => readonly string[];
  readonly now: () => number;
};

/** How much is kept: of one result, of all of them, and for how long (05 §2.5). */
const spoolFileBytes = 8 * 1024 * 1024;
const keepMs = 7 * 24 * 3600_000;
const keepBytes = 1024 ** 3;
const sweepEveryMs = 3600_000;
const maxSameName = 1000;

const safeName = /^[A-Za-z0-9_-]{1,100}$/;
const spoolName = /^@output\/([A-Za-z0-9_-]{1,110}(?:\.stdout|\.stderr)?)$/;

/** A file name for a call id, which is a model's text: what is not plainly a name becomes its hash. */
export const spoolBase = (callId: string): string =>
  safeName.test(callId) ? callId : `call_${createHash('sha256').update(callId).digest('hex').slice(0, 26)}`;

/** True for `@output/…`, whether or not such a result exists. */
export const isSpoolName = (path: string): boolean => path.startsWith('@output/');

/** Full results on disk: directories 0700, files 0600, made exclusively and never through a link. */
export function createSpool(deps: SpoolDeps): Spool & { sweep(): void } {
  const directoryOf = (runId: string): string => join(deps.directory, spoolBase(runId));

  return {
    directory: directoryOf,

    put(runId, callId, content) {
      const bytes = Buffer.from(content);
      const kept = typeof content === 'string' ? cutText(bytes, spoolFileBytes) : bytes.subarray(0, spoolFileBytes);
      try {
        const directory = directoryOf(runId);
        makeDirectory(deps.directory);
        makeDirectory(directory);
        const name = writeNew(directory, spoolBase(callId), kept);
        return { name: `@output/${name}`, truncated: kept.length < bytes.length };
      } catch (error) {
        return { name: null, fault: notKeptIn(deps.directory, error) };
      }
    },

    resolve(scope, runId, name) {
      const file = spoolName.exec(name)?.[1];
      if (file === undefined) return null;
      const own = join(directoryOf(runId), file);
      if (isFile(own)) return own;
      for (const run of deps.runsOf(scope)) {
        const path = join(directoryOf(run), file);
        if (isFile(path)) return path;
      }
      return null;
    },

    /** Removes what is older than 7 days or beyond 1 GiB, oldest runs first; at most once an hour. Never throws. */
    sweep() {
      try {
        if (!due(deps.directory, deps.now())) return;
        sweepRuns(deps.directory, deps.now());
      } catch {
        // The next start tries again; a run does not wait for old files.
      }
    },
  };
}

/** Makes a directory of the spool, 0700. @throws what the system says, or where something else has the name */
export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!lstatSync(path).isDirectory()) throw new Error('not a directory');
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Ids of calls are unique in one round only: a taken name gets a number. */
function writeNew(directory: string, base: string, bytes: Uint8Array): string {
  for (let count = 1; count <= maxSameName; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    const file = openNew(join(directory, name));
    if (file === null) continue;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      return name;
    } catch (error) {
      rmSync(join(directory, name), { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  }
  throw new Error('too many results of one name');
}

/** Opens a new file, 0600, never through a link. @returns null when the name is taken. */
export function openNew(path: string): number | null {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null;
    throw error;
  }
}

/** At most `max` bytes, cut between characters. */
const cutText = (bytes: Buffer, max: number): Buffer =>
  bytes.length <= max ? bytes : bytes.subarray(0, boundaryBefore(bytes, max));

/** The time of the last sweep is that of an empty file beside the runs. */
function due(directory: string, now: number): boolean {
  const stamp = join(directory, '.swept');
  const last = statSync(stamp, { throwIfNoEntry: false });
  if (last !== undefined && Math.abs(now - last.mtimeMs) < sweepEveryMs) return false;
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  if (last === undefined) {
    const file = openNew(stamp);
    if (file !== null) closeSync(file);
  }
  utimesSync(stamp, now / 1000, now / 1000);
  return true;
}

function sweepRuns(directory: string, now: number): void {
  const runs: { readonly path: string; readonly at: number; readonly bytes: number }[] = [];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) runs.push(measureRun(path, stat.mtimeMs));
  }
  runs.sort((a, b) => b.at - a.at);
  let total = 0;
  for (const run of runs) {
    total += run.bytes;
    if (now - run.at > keepMs || total > keepBytes) rmSync(run.path, { recursive: true, force: true });
  }
}

/** A run is as old as the newest of its results. */
function measureRun(path: string, mtimeMs: number): { path: string; at: number; bytes: number } {
  let at = mtimeMs;
  let bytes = 0;
  for (const name of readdirSync(path)) {
    const stat = lstatSync(join(path, name), { throwIfNoEntry: false });
    bytes += stat?.size ?? 0;
    at = Math.max(at, stat?.mtimeMs ?? 0);
  }
  return { path, at, bytes };
}
