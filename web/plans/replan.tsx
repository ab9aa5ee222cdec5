import type { FormEvent } from 'react';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { stepDiff } from './step-diff.ts';

/** Has the steps that are left planned anew. */
export function ReplanDialog({
  name,
  onBegun,
  onClose,
}: {
  readonly name: string;
  readonly onBegun: (runId: string) => void;
  readonly onClose: () => void;
}) {
  const draft = useFormDraft(`replan ${name}`, { instruction: '' });
  const { instruction } = draft.fields;
  const start = useAction(() => client.postReplan({ name, instruction }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const begun = await start.run();
    if (begun === null) return;
    draft.sent();
    onBegun(begun.run_id);
  };
  return (
    <Dialog title="Plan the rest anew" onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <IsBack draft={draft} />
        <p>
          Steps that are done stay. Those that are open are replaced once the planner has answered; until then nothing
          changes.
        </p>
        <AreaField
          label="What should be different?"
          rows={4}
          value={instruction}
          onChange={(event) => draft.change({ instruction: event.target.value })}
          hint="May stay empty."
        />
        {start.error === null ? null : <ErrorNote error={start.error} />}
        <Button submit look="primary" busy={start.busy}>
          Plan anew
        </Button>
      </form>
    </Dialog>
  );
}

type Step = { readonly id: string; readonly description: string; readonly status: string };
const signs = { kept: ' ', removed: '−', added: '+' } as const;
const classes = { kept: '', removed: 'diff-cut', added: 'diff-add' } as const;
const words = { kept: 'stays', removed: 'is gone', added: 'is new' } as const;

/** What planning anew has changed. */
export function ReplanResult({
  before,
  after,
  onClose,
}: {
  readonly before: readonly Step[];
  readonly after: readonly Step[];
  readonly onClose: () => void;
}) {
  return (
    <section className="panel stack tight" aria-label="What planning anew has changed">
      <div className="row spread">
        <h2>What has changed</h2>
        <Button size="small" look="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <ul className="steps-diff">
        {numbered(stepDiff(before, after)).map(({ key, part: { change, description } }) => (
          <li key={key} className={classes[change]}>
            <span className="mono" aria-hidden="true">
              {signs[change]}
            </span>{' '}
            <Safe text={description.split('\n', 1)[0] ?? ''} />
            <span className="sr"> ({words[change]})</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
