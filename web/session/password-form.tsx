import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { auth } from './auth.ts';
import { lookElsewhere } from './session.ts';

/** The rules that a page can see for itself (09 §4.3); the server has the list of common ones. */
const rules: readonly (readonly [words: string, holds: (password: string) => boolean])[] = [
  ['at least 12 characters', (password) => [...password].length >= 12],
  ['not one character repeated', (password) => new Set(password).size > 1],
  ['not your user name', (password) => password !== '' && password.toLowerCase() !== 'admin'],
];

/** Current, new and repeated password, with the rules as they are met. */
export function PasswordForm({
  first = false,
  alone = false,
  onDone,
}: {
  /** None was set yet: the current one is that of the default login. */
  readonly first?: boolean;
  /** There is nothing else to do: writing can begin. */
  readonly alone?: boolean;
  readonly onDone: (sessionsRevoked: number) => void;
}) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (alone) field.current?.focus();
  }, [alone]);
  const change = useAction(() => auth.changePassword(current, next));
  const code = change.error?.code;
  const ready = rules.every(([, holds]) => holds(next)) && next === again && current !== '';
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await change.run();
    if (done !== null) onDone(done.sessions_revoked);
    // Somebody else may have chosen one, which ends this login.
    else void lookElsewhere();
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <input type="text" autoComplete="username" value="admin" readOnly hidden />
      <TextField
        ref={field}
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        value={current}
        hint={first ? 'None was set yet: it is “admin”.' : undefined}
        onChange={(event) => setCurrent(event.target.value)}
        fault={code === 'invalid_current_password' ? (change.error?.message ?? null) : null}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        value={next}
        onChange={(event) => setNext(event.target.value)}
        fault={change.error !== null && code !== 'invalid_current_password' ? change.error.message : null}
        hint={
          <span className="stack tight">
            {rules.map(([words, holds]) => (
              <span key={words}>
                <span aria-hidden="true">{holds(next) ? '✓' : '·'}</span> {words}
                <span className="sr">{holds(next) ? ' (met)' : ' (not met)'}</span>
              </span>
            ))}
          </span>
        }
      />
      <TextField
        label="New password again"
        type="password"
        autoComplete="new-password"
        required
        value={again}
        onChange={(event) => setAgain(event.target.value)}
        fault={again !== '' && again !== next ? 'The two are not the same.' : null}
      />
      <Button submit look="primary" busy={change.busy} disabled={!ready}>
        Set the password
      </Button>
    </form>
  );
}
