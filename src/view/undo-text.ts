import type { ChangedFile, RunChanges } from '../schema/file-change.ts';
import type { RunSummary } from '../schema/run-record.ts';
import type { RunKind } from '../schema/run.ts';
import { plural } from './format.ts';

/** Runs of other kinds are made by the program itself, beside or behind one of these, and change no files. */
const working: readonly RunKind[] = ['run', 'chat', 'plan_step'];

/** How many runs are looked through for the newest one that works: agents that answer asks may stand before it. */
export const mostLookedThrough = 100;

/** The run that is meant where none is named. @param runs newest first */
export const newestToUndo = (runs: readonly RunSummary[]): RunSummary | undefined =>
  runs.find(({ kind }) => working.includes(kind));

/** What undoing does to a file that a run has changed. */
export const undoText = ({ state, created }: Pick<ChangedFile, 'state' | 'created'>): string => {
  switch (state) {
    case 'changed':
      return created ? 'is taken away' : 'is put back';
    case 'undone':
      return 'is as before';
    case 'changed_since':
      return 'stays: changed since';
    case 'not_kept':
      return 'stays: what it held is not kept';
    case 'not_proved':
      return 'stays: what is noted of it does not come from this program';
    case 'write_protected':
      return 'stays: write-protected';
  }
};

/** Said where no file can be told. */
export const noFiles = ({ forgotten }: Pick<RunChanges, 'forgotten'>): string =>
  forgotten
    ? 'What the file tools of this run have changed is not known any more: it is kept for a week.'
    : 'The file tools of this run have changed no file.';

/** Files that stay as they are once the others have been undone, and why. */
export const stayed = ({ files }: RunChanges): readonly string[] =>
  files
    .filter(({ state }) => state !== 'undone')
    // One that was as the run left it a moment ago, and still is no other, was changed in between.
    .map(
      (file) =>
        file.error ?? `${file.path} ${undoText(file.state === 'changed' ? { ...file, state: 'changed_since' } : file)}`,
    );

/** Null where nothing is left out that anybody could expect. */
export const commandsStay = ({ commands, files }: RunChanges): string | null =>
  commands === 0 || files.length === 0
    ? null
    : `${plural(commands, 'command')} of this run ran: what these have changed is not undone`;
