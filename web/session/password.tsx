import { useEffect } from 'react';
import { Button } from '../parts/button.tsx';
import { PasswordForm } from './password-form.tsx';
import { entered, logout } from './session.ts';

/** Somebody came in with the default password: nothing else is reachable until it is replaced (09 §8.4). */
export function PasswordPage() {
  useEffect(() => {
    document.title = 'Reins · set a password';
  }, []);
  return (
    <main className="gate" aria-label="Set a password">
      <div className="panel gate-card stack">
        <h1>Choose a password</h1>
        <p>You came in with the default password. Choose your own; the default one stops working at once.</p>
        <PasswordForm alone onDone={() => entered({ must_change_password: false })} />
        <Button look="quiet" onClick={() => void logout()}>
          Log out
        </Button>
      </div>
    </main>
  );
}
