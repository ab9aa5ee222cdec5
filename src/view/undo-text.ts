import type { ChangedFile, RunChanges } from '../schema/file-change.ts';
import { plural } from './format.ts';

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
  }
};

/** Files that stay as they are once the others have been undone, and why. */
export const stayed = ({ files }: RunChanges): readonly string[] =>
  files
    .filter(({ state }) => state !== 'undone')
    // One that was as the run left it a moment ago, and still is no other, was changed in between.
    .map(
      (file) =>
        `${file.path} ${file.error ?? undoText(file.state === 'changed' ? { ...file, state: 'changed_since' } : file)}`,
    );

/** Null where nothing is left out that anybody could expect. */
export const commandsStay = ({ commands, files }: RunChanges): string | null =>
  commands === 0 || files.length === 0
    ? null
    : `${plural(commands, 'command')} of this run ran: what these have changed is not undone`;
