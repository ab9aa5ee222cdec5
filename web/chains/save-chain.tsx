import { client } from '../data/client.ts';
import { SaveDialog } from '../editor/save-dialog.tsx';
import type { Draft } from '../editor/use-draft.ts';
import { useSave } from '../editor/use-save.ts';

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
  const { text, base } = draft;
  const saving = useSave({
    ...{ file, draft, onSaved, onClose },
    write: (over) =>
      client.putChain({ file, text, source, ...(over === null ? { if_none_match: '*' } : { if_match: `"${over}"` }) }),
    read: () => client.getChain({ file, source }),
  });
  return (
    <SaveDialog file={file} before={base?.text ?? ''} after={text} blocked={false} {...saving} onClose={onClose} />
  );
}
