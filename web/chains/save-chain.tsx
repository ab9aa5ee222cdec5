import { useEffect, useState } from 'react';
import type { ChainDocument } from '../../src/schema/document-views.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { isOutdated } from '../editor/outdated.ts';
import { SaveDialog } from '../editor/save-dialog.tsx';
import type { Draft } from '../editor/use-draft.ts';
import { announce } from '../frame/announce.tsx';

/** Saves a chain once its writer has seen what changes. */
export function SaveChain({
  file,
  source,
  draft,
  onClose,
  onSaved,
}: {
  readonly file: string;
  readonly source: 'user' | 'project';
  readonly draft: Draft;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const [theirs, setTheirs] = useState<ChainDocument | null>(null);
  const { text, base } = draft;
  const save = useAction((over: string | null) =>
    client.putChain({ file, text, source, if_match: `"${over ?? base?.sha256}"` }),
  );
  useEffect(() => {
    if (isOutdated(save.error)) void client.getChain({ file, source }).then(setTheirs);
  }, [save.error, file, source]);
  const onSave = async (over: string | null) => {
    const saved = await save.run(over);
    if (saved === null) return;
    draft.rebase(saved);
    announce(`${file} is saved.`);
    onSaved();
    onClose();
  };
  return (
    <SaveDialog
      file={file}
      before={base?.text ?? ''}
      after={text}
      theirs={theirs}
      blocked={false}
      busy={save.busy}
      error={theirs === null ? save.error : null}
      onSave={(over) => void onSave(over)}
      onTake={() => {
        if (theirs !== null) draft.rebase(theirs);
        onClose();
      }}
      onClose={onClose}
    />
  );
}
