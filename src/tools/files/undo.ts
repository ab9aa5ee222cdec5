import type { ChangedFile, FileChange } from '../../schema/file-change.ts';
import { fail, isFailure, type ToolFailure } from '../failure.ts';
import type { KeptChanges } from './change-journal.ts';
import { commitFile, type Preimage, readPreimage, removeFile } from './commit.ts';
import { factsOfReal, type PathFacts } from './root.ts';

/** What a run has made of one file, and how it is undone. */
export type FileUndo = Pick<ChangedFile, 'state' | 'created' | 'calls'> & {
  /** Its real path. */
  readonly path: string;
  /** What it held before the first of them; null: it did not exist, or nothing can be undone. */
  readonly old: Buffer | null;
  readonly facts: PathFacts | null;
  readonly now: Preimage;
};

type Kept = Pick<KeptChanges, 'kept'>;

/** Looks at each file that the changes are of, in the order in which they were first changed. Changes nothing. */
export async function lookAtChanges(
  runId: string,
  changes: readonly FileChange[],
  journal: Kept,
): Promise<readonly FileUndo[]> {
  const files = new Map<string, FileChange[]>();
  for (const change of changes) files.set(change.path, [...(files.get(change.path) ?? []), change]);
  const looked: FileUndo[] = [];
  for (const [path, own] of files) looked.push(await lookAt(runId, path, own, journal));
  return looked;
}

async function lookAt(runId: string, path: string, own: readonly FileChange[], journal: Kept): Promise<FileUndo> {
  const facts = factsOfReal(path);
  const read = facts === null ? null : await readPreimage(facts);
  const now = isFailure(read) ? null : read;
  const sha256 = now?.sha256 ?? null;
  const { before } = own[0] ?? { before: null };
  const known = { path, created: before === null, calls: own.length, facts, now };
  const as = (state: FileUndo['state'], old: Buffer | null = null): FileUndo => ({ ...known, state, old });
  if (facts === null || isFailure(read)) return as('changed_since');
  if (sha256 === before) return as('undone');
  if (!ledTo(own, sha256)) return as('changed_since');
  const old = before === null ? null : journal.kept(runId, before);
  return before !== null && old === null ? as('not_kept') : as('changed', old);
}

/**
 * Whether these changes alone led to what is there now. A change is noted before it is made: one that was killed in between
 * has left what was there, so each may or may not have been made.
 */
function ledTo(own: readonly FileChange[], now: string | null): boolean {
  const reached = new Set<string | null>([own[0]?.before ?? null]);
  for (const { before, after } of own) if (reached.has(before)) reached.add(after);
  return reached.has(now);
}

/** Puts back what the file held, or takes it away: only from what was looked at. */
export async function undoFile({ path, facts, now, old, created }: FileUndo): Promise<ToolFailure | null> {
  if (facts === null || now === null) return fail('changed_since_approval', `"${path}" is not there any more.`);
  const made = created ? await removeFile(facts, now) : await commitFile(facts, now, old ?? Buffer.alloc(0));
  return made.ok ? null : made;
}
