import { useAction, useData } from '../data/use-data.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { auth } from '../session/auth.ts';
import { Time } from './time.tsx';

const methods = { pwd: 'password', link: 'one-time link', default: 'default password' } as const;

/** Where somebody is logged in; each login can be ended. */
export function LoginSessions() {
  const data = useData('login sessions', () => auth.sessions());
  const end = useAction(async (what: () => Promise<unknown>) => {
    await what();
    data.reload();
    return true;
  });
  return (
    <div className="stack">
      {end.error === null ? null : <ErrorNote error={end.error} />}
      <Loaded data={data}>
        {({ items }) => (
          <>
            <div>
              <SureButton
                word="End all others"
                sureWord="Really end all others?"
                busy={end.busy}
                disabled={items.length < 2}
                onSure={() => void end.run(() => auth.revokeOthers())}
              />
            </div>
            <Table
              caption="Logins"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Browser',
                  cell: ({ user_agent, current }) => (
                    <>
                      {current ? <span className="tag accent">this one</span> : null}{' '}
                      <span className="small">
                        {/* A program logs in with the password as well, and need not say what it is. */}
                        {user_agent === '' ? 'a program without a name' : <Safe text={user_agent} />}
                      </span>
                    </>
                  ),
                },
                { label: 'From', words: true, cell: ({ peer }) => <span className="mono">{peer}</span> },
                {
                  label: 'By',
                  words: true,
                  spare: true,
                  cell: ({ auth_method }) => <span className="small">{methods[auth_method]}</span>,
                },
                { label: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
                { label: 'Seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
                { label: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} /> },
                {
                  label: 'Change',
                  unseen: true,
                  right: true,
                  cell: ({ id, current, created_at }) =>
                    current ? null : (
                      <Button size="small" busy={end.busy} onClick={() => void end.run(() => auth.revoke(id))}>
                        End
                        <span className="sr">
                          {' the login of '}
                          <Time at={created_at} />
                        </span>
                      </Button>
                    ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  );
}
