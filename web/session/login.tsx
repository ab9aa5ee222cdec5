import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { RuntimeError } from '../../src/schema/errors.ts';
import { useStore } from '../data/store.ts';
import { refusalFrom, useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { auth } from './auth.ts';
import { entered, lookAgain, session } from './session.ts';

/** Log in (09 §8.4). */
export function LoginPage() {
  const state = useStore(session);
  useEffect(() => {
    document.title = 'Log in · Reins';
  }, []);
  if (state.at === 'checking') return null;
  return (
    <main className="gate">
      <div className="panel gate-card stack">
        <div className="row">
          <img src="/mark.svg" alt="" width="28" height="28" />
          <h1>Reins</h1>
        </div>
        {state.at === 'opening' ? <p role="status">Opening…</p> : null}
        {state.at === 'unreachable' ? <Unreachable /> : null}
        {state.at === 'out' && state.said !== null ? <p className="note warn">{state.said}</p> : null}
        {state.at === 'out' && state.defaultInForce ? <DefaultNote /> : null}
        {state.at === 'out' ? <LoginForm /> : null}
      </div>
    </main>
  );
}

/** The login has ended while a page was open: the page waits under the form, as it was. */
export function LoginAgain() {
  const status = useData('login status', () => auth.status());
  return (
    <Dialog title="Your login has ended" unasked>
      <p>
        Log in again to go on where you were, or open a link of “reins beam link” in this browser and come back. What
        you were writing is still there.
      </p>
      {status.value?.default_login_in_force === true ? <DefaultNote /> : null}
      <LoginForm />
    </Dialog>
  );
}

const DefaultNote = () => (
  <p className="note">
    No password is set yet: log in as <b>admin</b> with the password <b>admin</b>. You choose your own right after.
  </p>
);

const Unreachable = () => (
  <>
    <p className="note danger">The server does not answer. Is “reins beam” running?</p>
    <Button onClick={() => void lookAgain()}>Try again</Button>
  </>
);

function LoginForm() {
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<RuntimeError | null>(null);
  const left = useCountdown(error);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      entered(await auth.login(name, password));
    } catch (thrown) {
      setError(refusalFrom(thrown));
      field.current?.focus();
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <TextField
        label="Username"
        autoComplete="username"
        autoCapitalize="none"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        ref={field}
        data-first
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        fault={error === null ? null : error.message}
      />
      <Button submit look="primary" busy={busy} disabled={left > 0}>
        Log in{left > 0 ? ` (again in ${left} s)` : ''}
      </Button>
    </form>
  );
}

/** Seconds until another attempt makes sense. */
function useCountdown(error: RuntimeError | null): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const said: unknown = Reflect.get(Object(error?.data), 'retryAfterS');
    let seconds = typeof said === 'number' ? said : 0;
    setLeft(seconds);
    if (seconds === 0) return;
    const timer = setInterval(() => {
      seconds -= 1;
      setLeft(Math.max(0, seconds));
      if (seconds <= 0) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [error]);
  return left;
}
