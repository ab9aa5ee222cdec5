import type { FormEvent } from 'react';
import { useLocation } from 'wouter';
import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { ErrorNote } from '../parts/states.tsx';

/** Starts a run of the chain and goes to it. A text that is not saved is run as it stands. */
export function RunChain({
  name,
  text,
  onClose,
}: {
  readonly name: string;
  readonly text: string | null;
  readonly onClose: () => void;
}) {
  const draft = useFormDraft(`run ${name}`, { input: '' });
  const { input } = draft.fields;
  const [, navigate] = useLocation();
  const start = useAction(() =>
    client.postRun({ ...(text === null ? { chain: name } : { chain_document: text }), input, input_type: 'string' }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const lead = leadOn();
    const begun = await start.run();
    if (begun === null) return;
    draft.sent();
    lead(() => navigate(`/runs/${begun.run_id}`));
  };
  return (
    <Dialog title={`Run ${name}`} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <IsBack draft={draft} />
        {text === null ? null : <p className="note">The text is run as it stands here; it is not saved.</p>}
        <AreaField
          label="Input"
          rows={5}
          value={input}
          onChange={(event) => draft.change({ input: event.target.value })}
        />
        {start.error === null ? null : <ErrorNote error={start.error} />}
        <Button submit look="primary" busy={start.busy}>
          Run
        </Button>
      </form>
    </Dialog>
  );
}
