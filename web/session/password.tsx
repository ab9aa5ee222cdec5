import { useEffect } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PasswordForm } from './password-form.tsx';
import { entered, logout } from './session.ts';

const title = 'Choose a password';

/** Somebody came in with the default password: nothing else is reachable until it is replaced (09 §8.4). */
export function PasswordPage() {
  useEffect(() => {
    document.title = 'Reins · set a password';
  }, []);
  return (
    <main className="gate" aria-label="Set a password">
      <div className="panel gate-card stack">
        <h1>{title}</h1>
        <Choose />
        <Button look="quiet" onClick={() => void logout()}>
          Log out
        </Button>
      </div>
    </main>
  );
}

/** The same of a login that was renewed over an open page: it stays under the form, as it was. */
export const PasswordAgain = () => (
  <Dialog title={title}>
    <Choose />
  </Dialog>
);

const Choose = () => (
  <>
    <p>You came in with the default password. Choose your own; the default one stops working at once.</p>
    <PasswordForm alone onDone={() => entered({ must_change_password: false })} />
  </>
);
