import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { assign, is, object, optional, string } from 'superstruct';
import { FileChange } from '../../schema/file-change.ts';
import { canonicalJson } from '../../text/canonical-json.ts';
import { makeDirectory, openNew, spoolBase } from '../spool.ts';
import type { ChangeJournal } from '../tool.ts';
import { sha256Of } from './commit.ts';

/** Of a larger file nothing is kept: as much as one result of a tool may take (05 §2.5.2). */
const keptBytes = 8 * 1024 * 1024;
const fileName = 'changes';

/** A line: the change, and the mark of whoever noted it. */
const Line = assign(FileChange, object({ mac: optional(string()) }));

/** @property proved this program has noted it for this run */
export type NotedChange = FileChange & { readonly proved: boolean };

export type JournalDeps = {
  readonly directory: string;
  /** The machine's key, which no tool may read; null where there is none. */
  readonly key: () => Uint8Array | null;
};

/**
 * The changes of a run beside the results of its calls, `<REINS_HOME>/tool_output/<run id>/`: a line for each in `changes`,
 * and what a file held before under its SHA-256. It is kept and removed with them (05 §2.5), and has no name that a tool
 * may read (`@output/…` has no dot but before `stdout` and `stderr`). Commands may still write there, so each line bears a mark
 * made with the machine's key: undoing would take their word for what a file is to hold.
 */
export function createChangeJournal(deps: JournalDeps) {
  const directoryOf = (runId: string): string => join(deps.directory, spoolBase(runId));
  const journal: ChangeJournal = {
    note(runId, change, before) {
      try {
        const directory = directoryOf(runId);
        makeDirectory(deps.directory);
        makeDirectory(directory);
        if (before !== null && before.length <= keptBytes) keep(join(directory, keptName(change.before)), before);
        const key = deps.key();
        const line = key === null ? change : { ...change, mac: macOf(key, runId, change) };
        append(join(directory, fileName), `${JSON.stringify(line)}\n`);
      } catch {
        // As with the results of calls: what cannot be kept fails nothing.
      }
    },
  };
  return {
    ...journal,

    /** In their order; a line that was cut or has another form is passed over. */
    changes(runId: string): readonly NotedChange[] {
      const text = readOrNull(join(directoryOf(runId), fileName))?.toString('utf8') ?? '';
      if (text === '') return [];
      const key = deps.key();
      return text.split('\n').flatMap((line) => changeOf(line, runId, key));
    },

    /** What a file held under this digest; null when it was not kept, or is something else by now. */
    kept(runId: string, sha256: string): Buffer | null {
      const bytes = readOrNull(join(directoryOf(runId), keptName(sha256)));
      return bytes === null || sha256Of(bytes) !== sha256 ? null : bytes;
    },
  };
}

export type KeptChanges = ReturnType<typeof createChangeJournal>;

const keptName = (sha256: string | null): string => `${sha256 ?? ''}.before`;

function keep(path: string, bytes: Uint8Array): void {
  // A part is what a process has left that was killed while it kept this.
  if (lstatSync(path, { throwIfNoEntry: false })?.size !== bytes.length) rmSync(path, { force: true });
  const fd = openNew(path);
  // The same content was kept for another call.
  if (fd === null) return;
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** In one write, so that a line is there whole or cut at its end; behind one that was cut, the next begins anew. */
function append(path: string, line: string): void {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, endsCut(fd) ? `\n${line}` : line);
  } finally {
    closeSync(fd);
  }
}

function endsCut(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
}

const macOf = (key: Uint8Array, runId: string, change: FileChange): string =>
  createHmac('sha256', key)
    .update(canonicalJson({ change_of: runId, ...change }))
    .digest('hex');

function changeOf(line: string, runId: string, key: Uint8Array | null): readonly NotedChange[] {
  try {
    const value: unknown = JSON.parse(line);
    if (!is(value, Line)) return [];
    const { mac = '', ...change } = value;
    return [{ ...change, proved: key !== null && areSame(mac, macOf(key, runId, change)) }];
  } catch {
    return [];
  }
}

const areSame = (given: string, right: string): boolean =>
  given.length === right.length && timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(right, 'latin1'));

function readOrNull(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  try {
    return readFileSync(fd);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
