import { relative } from 'node:path';
import type { RunRecord } from '../schema/run-record.ts';
import type { ChangedFile, RunChanges } from '../schema/file-change.ts';
import { RuntimeError } from '../schema/errors.ts';
import { isOver } from '../schema/run.ts';
import type { Audit } from '../store/audit.ts';
import type { Documents } from '../store/documents.ts';
import type { Feed } from '../store/feed.ts';
import { machineKey } from '../store/private-file.ts';
import { createChangeJournal } from '../tools/files/change-journal.ts';
import { type FileUndo, lookAtChanges, undoFile } from '../tools/files/undo.ts';
import { isInside } from '../tools/files/root.ts';
import { toolOutput } from './pruning.ts';

export type UndoDeps = {
  /** @throws RuntimeError not_found, ambiguous_id */
  readonly record: (part: string) => RunRecord;
  /** Commands that ran. */
  readonly commands: (runId: string) => number;
  /** Calls of file tools that have written. */
  readonly writes: (runId: string) => number;
  readonly reinsHome: string;
  readonly documents: Pick<Documents, 'lockPath'>;
  readonly feed: Feed;
  readonly audit: Pick<Audit, 'append'>;
  readonly mask: <T>(value: T) => T;
  readonly tenant: string;
  /** Who acts, for the record. */
  readonly by: string;
  readonly now: () => number;
};

type Named = { readonly run_id: string };

/** Puts back what the file tools of a run have changed. What commands did is not known, and stays. */
export function createUndo(deps: UndoDeps) {
  const journal = createChangeJournal({
    directory: toolOutput(deps.reinsHome),
    key: () => machineKey(deps.reinsHome, false),
  });
  const look = (runId: string) => lookAtChanges(runId, journal.changes(runId), journal);
  const shown = (run: RunRecord, files: readonly FileUndo[], errors: ReadonlyMap<string, string> = new Map()) => ({
    run_id: run.id,
    files: files.map((file): ChangedFile => {
      const { path, state, created, calls } = file;
      const name = isInside(run.cwd, path) ? relative(run.cwd, path) : path;
      return { path: name, state, created, calls, error: errors.get(path) ?? null };
    }),
    forgotten: files.length === 0 && deps.writes(run.id) > 0,
    commands: deps.commands(run.id),
  });

  return {
    /** @throws RuntimeError not_found, ambiguous_id */
    async showChanges({ run_id }: Named): Promise<RunChanges> {
      const run = deps.record(run_id);
      return shown(run, await look(run.id));
    },

    /**
     * Undoes each file that is as the run left it, and leaves the others as they are.
     * @returns the files as they are then
     * @throws RuntimeError not_found, ambiguous_id; in_use for a run that has not ended
     */
    async undoChanges({ run_id }: Named): Promise<RunChanges> {
      const run = deps.record(run_id);
      if (!isOver(run.status)) {
        throw new RuntimeError('in_use', `run ${run.id} has not ended: it is ${run.status}`, {
          hints: [`reins state cancel ${run.id}`],
        });
      }
      const files = (await look(run.id)).filter(({ state }) => state === 'changed');
      if (files.length > 0) note(run.id, files);
      const errors = new Map<string, string>();
      // From the last one on: a directory was made for the first file in it, and is empty when that one is taken away.
      for (const file of files.toReversed()) {
        const error = await underLock(file);
        if (error !== null) errors.set(file.path, error);
      }
      return shown(run, await look(run.id), errors);
    },
  };

  /** On the disk before the first file is touched. */
  function note(runId: string, files: readonly FileUndo[]): void {
    deps.feed.commit('full', () => {
      const undone = files.map(({ path, created, now }) => ({ path, removed: created, sha256: now?.sha256 ?? null }));
      deps.audit.append(
        {
          type: 'files_undone',
          tenant_id: deps.tenant,
          run_id: runId,
          session_id: null,
          body: deps.mask({ files: undone, by: deps.by }),
        },
        deps.now(),
      );
    });
  }

  async function underLock(file: FileUndo): Promise<string | null> {
    const release = await deps.documents.lockPath(file.path, new AbortController().signal);
    if (release === null) return `"${file.path}" has been written by another call for 10 s.`;
    try {
      const failure = await undoFile(file);
      // Where it is another file by now, the look at it afterwards says so; such a message is for the model of a call.
      return failure?.error === 'io_error' ? failure.message : null;
    } finally {
      release();
    }
  }
}
