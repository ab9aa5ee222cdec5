import { type FormEvent, useState } from 'react';
import { useStore } from '../data/store.ts';
import { useAction, useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { auth } from './auth.ts';
import { type ProofWanted, proofWanted } from './session.ts';

/** The password once more, in front of what needs a recent proof (09 §4.6). */
export function ProofDialog() {
  const wanted = useStore(proofWanted);
  return wanted === null ? null : <Proof wanted={wanted} />;
}

function Proof({ wanted }: { readonly wanted: ProofWanted }) {
  const [password, setPassword] = useState('');
  const verify = useAction(() => auth.verify(password));
  const me = useData('me', () => auth.me());
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ((await verify.run()) !== null) wanted.settle(true);
  };
  return (
    <Dialog title="Your password, please" onClose={() => wanted.settle(false)}>
      <p>This changes what may run. It needs a password that was given in the last 30 minutes.</p>
      {me.value?.password_set === false ? (
        <p className="note">No password is set yet, so it is still “admin”.</p>
      ) : null}
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          fault={verify.error?.message ?? null}
        />
        <div className="dialog-foot">
          <Button onClick={() => wanted.settle(false)}>Cancel</Button>
          <Button submit look="primary" busy={verify.busy}>
            Go on
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
