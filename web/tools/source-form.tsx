import type { FormEvent, ReactNode } from 'react';
import type { Action } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { type FormDraft, IsBack } from '../parts/form-draft.tsx';
import { ErrorNote } from '../parts/states.tsx';

/** The dialog around the fields that register a source of tools or change one. What was written is kept until it is saved. */
export function SourceForm<T extends Readonly<Record<string, string | boolean | null>>>({
  what,
  name,
  note,
  draft,
  save,
  onDone,
  onClose,
  children,
}: {
  /** What a new one is called, with its article. */
  readonly what: string;
  /** Of the one that is changed; null for a new one. */
  readonly name: string | null;
  /** What saving it does not do. */
  readonly note: string;
  readonly draft: FormDraft<T>;
  readonly save: Action<[], unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ((await save.run()) === null) return;
    draft.sent();
    onDone();
  };
  return (
    <Dialog title={name === null ? `Add ${what}` : `Edit ${name}`} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <IsBack draft={draft} />
        {children}
        <p className="small muted">{note}</p>
        {save.error === null ? null : <ErrorNote error={save.error} />}
        <Button submit look="primary" busy={save.busy}>
          {name === null ? 'Register' : 'Save'}
        </Button>
      </form>
    </Dialog>
  );
}
