import { useState } from 'react';
import { Link } from 'wouter';
import { formatAge } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import type { PagedData } from '../data/use-pages.ts';
import { Button } from '../parts/button.tsx';
import { More } from '../parts/more.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';

type Session = Awaited<ReturnType<typeof client.pageSessions>>['items'][number];

/** The chats, newest activity first; those with a run have a pulse. */
export function SessionsColumn({
  sessions,
  current,
  onOpen,
}: {
  readonly sessions: PagedData<Session>;
  readonly current: string;
  readonly onOpen: (name: string) => void;
}) {
  const [filter, setFilter] = useState('');
  const create = useAction(() => client.createSession({}));
  return (
    <nav className="sessions" aria-label="Chats">
      <div className="row">
        <input
          className="input grow"
          type="search"
          placeholder="Filter chats"
          aria-label="Filter chats"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <Button
          busy={create.busy}
          onClick={() =>
            void create.run().then((made) => {
              if (made === null) return;
              sessions.reload();
              onOpen(made.name);
            })
          }
        >
          New
        </Button>
      </div>
      {create.error === null ? null : <ErrorNote error={create.error} />}
      <Loaded data={sessions} beside>
        {({ items }) => (
          <>
            <ul className="session-list">
              {items
                .filter(({ name, preview }) => `${name} ${preview}`.toLowerCase().includes(filter.toLowerCase()))
                .map((session) => (
                  <li key={session.id}>
                    <Link
                      href={`/chat/${encodeURIComponent(session.name)}`}
                      className="session"
                      aria-current={session.name === current ? 'page' : undefined}
                    >
                      <span className="row">
                        <b className="cut">
                          <Safe text={session.name} />
                        </b>
                        {session.active_run_id === null ? null : (
                          <>
                            <span className="pulse" aria-hidden="true" />
                            <span className="sr">running</span>
                          </>
                        )}
                        <span className="small muted push">
                          {formatAge(Date.now() - Date.parse(session.last_message_at ?? session.created_at))}
                        </span>
                      </span>
                      <span className="small muted cut">
                        <Safe text={session.preview === '' ? 'empty' : session.preview} />
                      </span>
                    </Link>
                  </li>
                ))}
            </ul>
            <More list={sessions} word="Older ones" />
          </>
        )}
      </Loaded>
    </nav>
  );
}
