import { rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ChangedFile } from '../../schema/file-change.ts';
import { fail, isFailure, type ToolFailure } from '../failure.ts';
import type { KeptChanges, NotedChange } from './change-journal.ts';
import { commitFile, type Preimage, protectedFault, readState, removeFile } from './commit.ts';
import { factsOfReal, type PathFacts, realPathOf } from './root.ts';

/** What a run has made of one file, and how it is undone. */
export type FileUndo = Pick<ChangedFile, 'state' | 'created' | 'calls'> & {
  /** Its real path. */
  readonly path: string;
  /** What it held before the first of them; null: it did not exist, or nothing can be undone. */
  readonly old: Buffer | null;
  readonly facts: PathFacts | null;
  readonly now: Preimage;
  /** How many directories above it the run has made for it. */
  readonly made: number;
};

type Kept = Pick<KeptChanges, 'kept'>;

/** Looks at each file that the changes are of, in the order in which they were first changed. Changes nothing. */
export async function lookAtChanges(
  runId: string,
  changes: readonly NotedChange[],
  journal: Kept,
): Promise<readonly FileUndo[]> {
  const files = new Map<string, NotedChange[]>();
  for (const change of changes) {
    const own = files.get(change.path);
    if (own === undefined) files.set(change.path, [change]);
    else own.push(change);
  }
  const looked: FileUndo[] = [];
  for (const [path, own] of files) looked.push(await lookAt(runId, path, own, journal));
  return looked;
}

async function lookAt(runId: string, path: string, own: readonly NotedChange[], journal: Kept): Promise<FileUndo> {
  const facts = factsOfReal(path);
  const read = facts === null ? null : await readState(facts);
  const now = isFailure(read) ? null : read;
  const sha256 = now?.sha256 ?? null;
  const { before, made = 0 } = own[0] ?? { before: null };
  const known = { path, created: before === null, calls: own.length, facts, now, made };
  const as = (state: FileUndo['state'], old: Buffer | null = null): FileUndo => ({ ...known, state, old });
  // Of what somebody else has noted nothing is believed, and nothing of the file's other lines either.
  if (!own.every(({ proved }) => proved)) return as('not_proved');
  if (facts === null || isFailure(read)) return as('changed_since');
  if (sha256 === before) return as('undone');
  if (!ledTo(own, sha256)) return as('changed_since');
  const old = before === null ? null : journal.kept(runId, before);
  if (before !== null && old === null) return as('not_kept');
  return protectedFault(path, path) === null ? as('changed', old) : as('write_protected');
}

/**
 * Whether these changes alone led to what is there now. A change is noted before it is made: one that was killed in between
 * has left what was there, so each may or may not have been made.
 */
function ledTo(own: readonly NotedChange[], now: string | null): boolean {
  const reached = new Set<string | null>([own[0]?.before ?? null]);
  for (const { before, after } of own) if (reached.has(before)) reached.add(after);
  return reached.has(now);
}

/**
 * Puts back what the file held, or takes it away, with the directories that were made for it and hold nothing else: only from
 * what was looked at.
 */
export async function undoFile({ path, facts, now, old, created, made }: FileUndo): Promise<ToolFailure | null> {
  if (facts === null || now === null) return fail('changed_since_approval', `"${path}" is not there any more.`);
  const done = created ? await removeFile(facts, now) : await commitFile(facts, now, old ?? Buffer.alloc(0));
  if (!done.ok) return done;
  if (created) removeEmpty(dirname(path), made);
  return null;
}

/** The directory and those above it, `count` in all, up to the first that something is in or that is a link by now. */
function removeEmpty(directory: string, count: number): void {
  try {
    for (let at = directory, left = count; left > 0 && realPathOf(at) === at; at = dirname(at), left -= 1)
      rmdirSync(at);
  } catch {
    // Something is in it: it stays.
  }
}
