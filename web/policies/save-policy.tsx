import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { useAction } from '../data/use-data.ts';
import { SaveDialog } from '../editor/save-dialog.tsx';
import type { Draft } from '../editor/use-draft.ts';
import { useSave } from '../editor/use-save.ts';

const days = 7;
const dayMs = 86_400_000;

/** Saves a policy once its writer has seen what it changes and what it would have let through (09 §8.10). */
export function SavePolicy({
  file,
  source,
  draft,
  onClose,
  onSaved,
}: {
  readonly file: string;
  /** Where it is; null = among the operator's own. */
  readonly source: 'user' | 'project' | null;
  readonly draft: Draft;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const [widened, setWidened] = useState<number | null>(null);
  const [agreed, setAgreed] = useState(false);
  const [, navigate] = useLocation();
  const { text, base } = draft;
  const replay = useAction(() => client.replayPolicy({ text, since: Date.now() - days * dayMs }));
  const saving = useSave({
    ...{ file, draft, onClose },
    write: (over) =>
      client.putPolicy({
        file,
        text,
        ...(source === null ? {} : { source }),
        ...(over === null ? { if_none_match: '*' } : { if_match: `"${over}"` }),
      }),
    read: () => client.getPolicy({ file, ...(source === null ? {} : { source }) }),
    onSaved: () => {
      onSaved();
      if (base === null) navigate(`/policies/${pathOfFile(file)}`, { replace: true });
    },
  });
  const { run } = replay;
  useEffect(() => {
    void run().then((report) => setWidened(report?.widened ?? null));
  }, [run]);
  const needsYes = widened !== null && widened > 0;
  return (
    <SaveDialog
      file={file}
      before={base?.text ?? ''}
      after={text}
      blocked={replay.busy || (needsYes && !agreed)}
      {...saving}
      error={saving.theirs === null ? (saving.error ?? replay.error) : null}
      onClose={onClose}
      extra={
        replay.busy ? (
          <p role="status">Replaying the last {days} days…</p>
        ) : needsYes ? (
          <div className="note warn stack tight">
            <p>
              <strong>{widened}</strong> {widened === 1 ? 'call' : 'calls'} of the last {days} days would have been let
              through that {widened === 1 ? 'was' : 'were'} asked about or denied.
            </p>
            <label className="row">
              <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.target.checked)} />
              That is what I want.
            </label>
          </div>
        ) : widened === 0 ? (
          <p className="note good">No call of the last {days} days would be let through that was not.</p>
        ) : null
      }
    />
  );
}
