import type { FormEvent } from 'react';
import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { saveFile } from '../data/save-file.ts';
import { useAction } from '../data/use-data.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { forgetKept, moveKept } from './kept.ts';

/** What can be done with a chat as a whole: another name, a copy, the text as a file, and its end. */
export function SessionDialog({
  name,
  onDone,
  onOther,
  onClose,
}: {
  readonly name: string;
  /** What there is has changed. */
  readonly onDone: () => void;
  /** The chat to go to: the renamed one or the copy; null = this one is gone. */
  readonly onOther: (name: string | null) => void;
  readonly onClose: () => void;
}) {
  const draft = useFormDraft(`chat ${name}`, { wanted: name });
  const { wanted } = draft.fields;
  const act = useAction(async (what: () => Promise<unknown>) => {
    await what();
    return true;
  });
  /** Does something, closes, and goes where it leads. */
  const leave = (what: () => Promise<string | null>) => {
    const lead = leadOn();
    void act.run(async () => {
      const other = await what();
      onClose();
      onDone();
      lead(() => onOther(other));
    });
  };
  const rename = (event: FormEvent) => {
    event.preventDefault();
    leave(async () => {
      const renamed = await client.patchSession({ session: name, name: wanted });
      draft.sent();
      moveKept(name, renamed.name);
      return renamed.name;
    });
  };
  const copy = async () => {
    const made = await client.copySession({ session: name });
    // A copy without a summary is there at once; one with it would come with its run.
    return 'name' in made ? made.name : name;
  };
  const take = (format: 'md' | 'json') =>
    void act.run(async () => saveFile(await client.downloadSession({ session: name, format })));
  return (
    <Dialog title="This chat" onClose={onClose}>
      <form className="stack tight" onSubmit={rename}>
        <IsBack draft={draft} />
        <TextField label="Name" value={wanted} onChange={(event) => draft.change({ wanted: event.target.value })} />
        <div>
          <Button submit busy={act.busy} disabled={wanted.trim() === '' || wanted === name}>
            Rename
          </Button>
        </div>
      </form>
      {act.error === null ? null : <ErrorNote error={act.error} />}
      <div className="row">
        <Button disabled={act.busy} onClick={() => leave(copy)}>
          Fork
        </Button>
        <Button disabled={act.busy} onClick={() => take('md')}>
          Export as Markdown
        </Button>
        <Button disabled={act.busy} onClick={() => take('json')}>
          Export as JSON
        </Button>
        <SureButton
          word="Delete"
          sureWord="Really delete it?"
          disabled={act.busy}
          onSure={() =>
            leave(async () => {
              await client.removeSession({ session: name });
              forgetKept(name);
              return null;
            })
          }
        />
      </div>
      <p className="small muted">A fork is a copy that goes on by itself. A chat whose run is under way stays.</p>
    </Dialog>
  );
}
