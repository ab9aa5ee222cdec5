import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { gravestFirst } from '../../src/view/issue-order.ts';
import { connection } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { useStore } from '../data/store.ts';
import { useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { useRestingRuns } from '../runs/use-resting-runs.ts';
import { auth } from '../session/auth.ts';
import { session } from '../session/session.ts';
import { useEverywhere } from './everywhere.ts';

/** One strip above the page, the gravest of those that hold (09 §8.2). */
export function Strips() {
  const { setup, policy } = useEverywhere();
  const listed = policy?.listed ?? null;
  const line = useStore(connection);
  const { at } = useStore(session);
  const me = useData('me', () => auth.me());
  const [dismissed, dismiss] = useState('');
  const issues = (setup.value?.issues ?? []).filter(({ severity }) => severity !== 'info');
  const codes = issues.map(({ code }) => code).join(' ');

  // Where the login has ended the server was heard, and the form over the page says what is to be done.
  if (line.state === 'lost' && at === 'in') return <Lost retryAt={line.retryAt} />;
  if (listed?.trusted === false) {
    return (
      <Strip danger>
        This policy of the project is not trusted, so nothing runs.{' '}
        <Link href={`/policies/${pathOfFile(listed.file)}`}>Look at it</Link>
      </Strip>
    );
  }
  if (listed?.valid === false) {
    return (
      <Strip danger>
        The policy cannot be read, so every call asks.{' '}
        <Link href={`/policies/${pathOfFile(listed.file)}`}>Open it</Link>
      </Strip>
    );
  }
  if (me.value?.password_set === false) {
    return (
      <Strip>
        No password is set: admin / admin works from this machine. <Link href="/settings/password">Set one</Link>
      </Strip>
    );
  }
  if (codes === '' || codes === dismissed) return null;
  const [gravest] = gravestFirst(issues);
  const more = codes.split(' ').length - 1;
  return (
    <Strip
      action={
        <Button size="small" look="quiet" onClick={() => dismiss(codes)}>
          Dismiss
        </Button>
      }
    >
      {gravest?.message} {gravest?.code === 'runs_interrupted' ? <ToRest subject={gravest.subject} /> : null}{' '}
      {gravest?.code === 'runs_interrupted' && more === 0 ? null : (
        <Link href="/setup">{more === 0 ? 'Set-up' : `Set-up, and ${more} more`}</Link>
      )}
    </Strip>
  );
}

/** Where what rests is continued by a button: on its own page, or in the list of all that rest. */
function ToRest({ subject }: { readonly subject: string | null }) {
  const resting = useRestingRuns().value;
  const run = subject ?? (resting?.length === 1 ? resting[0]?.id : undefined);
  if (run === undefined) return <Link href="/approvals">Go to what rests</Link>;
  return <Link href={`/runs/${run}`}>Go to the run</Link>;
}

function Strip({
  danger = false,
  action,
  children,
}: {
  readonly danger?: boolean;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className={`strip ${danger ? 'danger' : ''}`} role="status">
      <span>{children}</span>
      {action}
    </div>
  );
}

function Lost({ retryAt }: { readonly retryAt: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, Math.ceil((retryAt - now) / 1000));
  return (
    <Strip danger>
      Connection lost. {/* Seconds are for the eye: each of them would be read out. */}
      <span aria-hidden="true">{left === 0 ? 'Trying again…' : `Trying again in ${left} s.`}</span> What you see may be
      old. Runs go on as long as the server does.
    </Strip>
  );
}
