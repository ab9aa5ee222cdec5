import { useState } from 'react';
import type { AskHead } from '../../src/schema/ask-views.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { plural } from '../../src/view/format.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { SureDialog } from './sure-dialog.tsx';

/** Denies every ask that is shown. There is no such thing for approving (09 §8.6). */
export function DenyAll({ asks }: { readonly asks: readonly AskHead[] }) {
  const [open, setOpen] = useState(false);
  const [said, say] = useState('');
  const deniable = asks.filter(({ kind }) => kind === 'permission' || kind === 'budget');
  const deny = useAction(async () => {
    let denied = 0;
    for (const { id, binding } of deniable) {
      try {
        await client.answerApproval({ id, binding, outcome: 'deny' });
        denied += 1;
      } catch (error) {
        // Somebody else was first: its card says so.
        if (!(error instanceof RuntimeError && (error.code === 'already_answered' || error.code === 'expired')))
          throw error;
      }
    }
    say(`${denied} denied${denied < deniable.length ? `, ${deniable.length - denied} already answered` : ''}.`);
  });
  if (deniable.length === 0) return null;
  return (
    <div className="row">
      <Button look="danger" busy={deny.busy} onClick={() => setOpen(true)}>
        Deny all shown ({deniable.length})
      </Button>
      <span role="status">{said}</span>
      {deny.error === null ? null : <ErrorNote error={deny.error} />}
      {open ? (
        <SureDialog
          title={`Deny these ${plural(deniable.length, 'ask')}?`}
          words=""
          button="Deny them"
          onSure={() => deny.run()}
          onClose={() => setOpen(false)}
        >
          <ul className="trace small">
            {deniable.map((ask) => (
              <li key={ask.id} className="cut">
                <Safe text={`${ask.tools}.${ask.tool}  ${whatOf(ask)}`} />
              </li>
            ))}
          </ul>
        </SureDialog>
      ) : null}
    </div>
  );
}
