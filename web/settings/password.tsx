import { useState } from 'react';
import { useData } from '../data/use-data.ts';
import { auth } from '../session/auth.ts';
import { PasswordForm } from '../session/password-form.tsx';

/** Another password; it ends the other logins. */
export function Password() {
  const sessions = useData('login sessions', () => auth.sessions());
  const me = useData('me', () => auth.me());
  const [ended, setEnded] = useState<number | null>(null);
  const others = (sessions.value?.items ?? []).filter(({ current }) => !current).length;
  if (ended !== null) {
    return (
      <p className="note good" role="status">
        The password is set. {ended === 0 ? 'No other login was open.' : `${ended} other logins have ended.`}
      </p>
    );
  }
  return (
    <div className="panel stack narrow">
      <p className="muted">
        {others === 0 ? 'No other login is open.' : `It ends ${others} other ${others === 1 ? 'login' : 'logins'}.`}
      </p>
      <PasswordForm first={me.value?.password_set === false} onDone={setEnded} />
    </div>
  );
}
