import { useState } from 'react';
import type { ChangedFile, RunChanges } from '../../src/schema/file-change.ts';
import { commandsStay, noFiles, stayed, undoText } from '../../src/view/undo-text.ts';
import { client } from '../data/client.ts';
import { useAction, useData } from '../data/use-data.ts';
import { SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';

const columns: readonly Column<ChangedFile>[] = [
  {
    label: 'File',
    cell: ({ path }) => (
      <span className="mono">
        <Safe text={path} />
      </span>
    ),
  },
  { label: 'Calls', right: true, cell: ({ calls }) => calls },
  { label: 'Undo', cell: (file) => undoText(file) },
];

/** Files that the calls of a run have changed, and the way back. */
export function FilesTab({ runId, ended }: { readonly runId: string; readonly ended: boolean }) {
  const changes = useData(`changes ${runId}`, () => client.getChanges({ id: runId }), {
    topics: ['runs'],
    when: (entry) => entry.run_id === runId,
  });
  return (
    <Loaded data={changes}>
      {(shown) =>
        shown.files.length === 0 ? (
          <Empty>{noFiles(shown)}</Empty>
        ) : (
          <>
            <Table caption="Files" columns={columns} rows={shown.files} keyOf={({ path }) => path} />
            <Undo changes={shown} ended={ended} reload={changes.reload} />
          </>
        )
      }
    </Loaded>
  );
}

function Undo({
  changes,
  ended,
  reload,
}: {
  readonly changes: RunChanges;
  readonly ended: boolean;
  readonly reload: () => void;
}) {
  const undo = useAction(() => client.undoRun({ id: changes.run_id }));
  const wanted = changes.files.filter(({ state }) => state === 'changed').length;
  const hint = commandsStay(changes);
  const [stays, setStays] = useState<readonly string[]>([]);
  const act = async (): Promise<void> => {
    const after = await undo.run();
    if (after === null) return;
    setStays(stayed(after));
    reload();
  };
  return (
    <>
      {undo.error === null ? null : <ErrorNote error={undo.error} />}
      {stays.map((line) => (
        <p key={line} className="note danger">
          <Safe text={line} />
        </p>
      ))}
      {hint === null ? null : <p className="muted small">{hint}</p>}
      {wanted === 0 ? null : ended ? (
        <p>
          <SureButton
            word="Undo these changes"
            sureWord="Really undo them?"
            busy={undo.busy}
            onSure={() => void act()}
          />
        </p>
      ) : (
        <p className="muted small">They can be undone when the run has ended.</p>
      )}
    </>
  );
}
