import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { PolicyDocument } from '../../src/schema/document-views.ts';
import { client } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { useAction } from '../data/use-data.ts';
import { SaveDialog } from '../editor/save-dialog.tsx';
import type { Draft } from '../editor/use-draft.ts';
import { announce } from '../frame/announce.tsx';
import { isOutdated } from '../editor/outdated.ts';

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
  const [theirs, setTheirs] = useState<PolicyDocument | null>(null);
  const [widened, setWidened] = useState<number | null>(null);
  const [agreed, setAgreed] = useState(false);
  const [, navigate] = useLocation();
  const { text, base } = draft;
  const replay = useAction(() => client.replayPolicy({ text, since: Date.now() - days * dayMs }));
  const save = useAction((over: string | null) =>
    client.putPolicy({
      file,
      text,
      ...(source === null ? {} : { source }),
      ...(over === null && base === null ? { if_none_match: '*' } : { if_match: `"${over ?? base?.sha256}"` }),
    }),
  );
  const { run } = replay;
  useEffect(() => {
    void run().then((report) => setWidened(report?.widened ?? null));
  }, [run]);
  useEffect(() => {
    if (isOutdated(save.error)) void client.getPolicy({ file, ...(source === null ? {} : { source }) }).then(setTheirs);
  }, [save.error, file, source]);

  const onSave = async (over: string | null) => {
    const saved = await save.run(over);
    if (saved === null) return;
    draft.rebase(saved);
    announce(`${file} is saved.`);
    onSaved();
    onClose();
    if (base === null) navigate(`/policies/${pathOfFile(file)}`, { replace: true });
  };
  const needsYes = widened !== null && widened > 0;
  return (
    <SaveDialog
      file={file}
      before={base?.text ?? ''}
      after={text}
      theirs={theirs}
      blocked={replay.busy || (needsYes && !agreed)}
      busy={save.busy}
      error={theirs === null ? (save.error ?? replay.error) : null}
      onSave={(over) => void onSave(over)}
      onTake={() => {
        if (theirs !== null) draft.rebase(theirs);
        onClose();
      }}
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
