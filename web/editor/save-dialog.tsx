import { type ReactNode, useEffect, useState } from 'react';
import type { RuntimeError } from '../../src/schema/errors.ts';
import { Button } from '../parts/button.tsx';
import { DiffBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote, Skeleton } from '../parts/states.tsx';
import type { Theirs } from './use-save.ts';

/** The lines that differ; the code that finds them is loaded when it is needed. */
function TextDiff({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const [diff, setDiff] = useState<string | null>(null);
  useEffect(() => {
    let old = false;
    void import('./line-diff.ts').then(({ lineDiff }) => old || setDiff(lineDiff(before, after)));
    return () => {
      old = true;
    };
  }, [before, after]);
  if (diff === null) return <Skeleton />;
  return diff === '' ? <p className="muted">No difference.</p> : <DiffBlock text={diff} label={label} mode="prose" />;
}

/** Shows what saving changes before it does, and what somebody else has changed meanwhile (09 §8.10). */
export function SaveDialog({
  file,
  before,
  after,
  theirs,
  extra,
  blocked,
  busy,
  error,
  onSave,
  onTake,
  onClose,
}: {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** The document as somebody else has saved it meanwhile. */
  readonly theirs: Theirs | null;
  /** What else there is to know before saving. */
  readonly extra?: ReactNode;
  readonly blocked: boolean;
  readonly busy: boolean;
  readonly error: RuntimeError | null;
  readonly onSave: () => void;
  /** Leaves the own changes for theirs. */
  readonly onTake: () => void;
  readonly onClose: () => void;
}) {
  const conflict = theirs !== null && theirs.sha256 !== null;
  const gone = theirs !== null && !conflict;
  return (
    <Dialog
      title={conflict || gone ? `${file} was ${gone ? 'deleted' : 'changed'} by somebody else` : `Save ${file}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Go on editing</Button>
          {conflict ? <Button onClick={onTake}>Take theirs</Button> : null}
          <Button look="primary" busy={busy} disabled={blocked} onClick={onSave}>
            {conflict ? 'Save mine over theirs' : gone ? 'Save it anew' : 'Save'}
          </Button>
        </>
      }
    >
      <div className="stack">
        {conflict ? (
          <>
            <p>It is not as it was when you opened it. Nothing has been written.</p>
            <h3>What they changed</h3>
            <TextDiff before={before} after={theirs.text} label="What they changed" />
            <h3>What you changed</h3>
            <TextDiff before={before} after={after} label="What you changed" />
            <h3>Yours against theirs</h3>
            <TextDiff before={theirs.text} after={after} label="Yours against theirs" />
          </>
        ) : (
          <>
            {gone ? <p>It is no longer there. Nothing has been written.</p> : null}
            <TextDiff before={gone ? '' : before} after={after} label="Changes" />
          </>
        )}
        {extra}
        {error === null ? null : <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
