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
  /** Those that are about to be denied: one that comes while they are looked at is not among them. */
  const [listed, list] = useState<readonly AskHead[] | null>(null);
  const [said, say] = useState('');
  const deniable = asks.filter(({ kind }) => kind === 'permission' || kind === 'budget');
  const deny = useAction(async (all: readonly AskHead[]) => {
    let denied = 0;
    for (const { id, binding } of all) {
      try {
        await client.answerApproval({ id, binding, outcome: 'deny' });
        denied += 1;
      } catch (error) {
        // Somebody else was first: its card says so.
        if (!(error instanceof RuntimeError && (error.code === 'already_answered' || error.code === 'expired')))
          throw error;
      }
    }
    say(`${denied} denied${denied < all.length ? `, ${all.length - denied} already answered` : ''}.`);
  });
  const open = () => {
    say('');
    list(deniable);
  };
  const offered = deny.busy || (asks.length > 1 && deniable.length > 0);
  // It stays while the asks go, and says what became of them.
  if (!offered && listed === null && said === '' && deny.error === null) return null;
  return (
    <div className="row">
      {offered ? (
        <Button look="danger" busy={deny.busy} onClick={open}>
          Deny all shown ({deniable.length})
        </Button>
      ) : null}
      <span role="status">{said}</span>
      {deny.error === null ? null : <ErrorNote error={deny.error} />}
      {listed === null ? null : (
        <SureDialog
          title={`Deny these ${plural(listed.length, 'ask')}?`}
          words=""
          button="Deny them"
          onSure={() => deny.run(listed)}
          onClose={() => list(null)}
        >
          <ul className="trace small">
            {listed.map((ask) => (
              <li key={ask.id} className="cut">
                <Safe text={`${ask.tools}.${ask.tool}  ${whatOf(ask)}`} />
              </li>
            ))}
          </ul>
        </SureDialog>
      )}
    </div>
  );
}
