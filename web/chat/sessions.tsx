import { Fragment, useRef } from 'react';
import { Link, useSearch } from 'wouter';
import { formatAge } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction } from '../data/use-data.ts';
import { type PagedData, type Pages, usePages } from '../data/use-pages.ts';
import { useQuery } from '../data/use-query.ts';
import { useSettled } from '../data/use-settled.ts';
import { useEverywhere, waitingChats } from '../frame/everywhere.ts';
import { Button } from '../parts/button.tsx';
import { More } from '../parts/more.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';

type Session = Awaited<ReturnType<typeof client.pageSessions>>['items'][number];

/** Chats that are read at once. */
export const pageSize = 200;

/** The chats, newest activity first; those with a run have a pulse, those that wait for somebody say so. */
export function SessionsColumn({
  sessions,
  current,
  onOpen,
  onGo,
}: {
  readonly sessions: PagedData<Session>;
  readonly current: string;
  readonly onOpen: (name: string) => void;
  /** One was chosen, by a link that leads to it. */
  readonly onGo: () => void;
}) {
  const [filter, setFilter] = useQuery('filter');
  const wanted = useSettled(filter.trim());
  const create = useAction(() => client.createSession({}));
  return (
    <nav className="sessions" aria-label="Chats">
      <div className="row">
        <input
          className="input grow"
          type="search"
          placeholder="Filter chats"
          aria-label="Filter chats"
          maxLength={256}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <Button
          busy={create.busy}
          onClick={() => {
            const lead = leadOn();
            void create.run().then((made) => {
              if (made === null) return;
              sessions.reload();
              lead(() => onOpen(made.name));
            });
          }}
        >
          New
        </Button>
      </div>
      {create.error === null ? null : <ErrorNote error={create.error} />}
      {filter.trim() === '' || wanted === '' ? (
        <List sessions={sessions} current={current} onGo={onGo} none="" />
      ) : (
        <Found text={wanted} current={current} onGo={onGo} />
      )}
    </nav>
  );
}

/** Chats whose name has a text, or in which its words were said, of all that there are. */
function Found({ text, ...rest }: { readonly text: string; readonly current: string; readonly onGo: () => void }) {
  const found = usePages(`chats with ${text}`, pageSize, (page) => client.pageSessions({ query: text, ...page }), {
    topics: ['runs'],
  });
  // What was found for the letters before stays until there is news.
  const shown = useRef<Pages<Session> | null>(null);
  if (found.value !== null) shown.current = found.value;
  const value = found.error === null ? shown.current : null;
  return <List sessions={{ ...found, value }} none="In no chat." {...rest} />;
}

function List({
  sessions,
  current,
  onGo,
  none,
}: {
  readonly sessions: PagedData<Session>;
  readonly current: string;
  readonly onGo: () => void;
  /** Said where there is none. */
  readonly none: string;
}) {
  const search = useSearch();
  const waiting = waitingChats(useEverywhere());
  return (
    <Loaded data={sessions} beside>
      {({ items }) => (
        <>
          {items.length === 0 && none !== '' ? <p className="small muted">{none}</p> : null}
          <ul className="session-list">
            {items.map((session) => (
              <li key={session.id}>
                <Link
                  // The filter goes with who looks through what it has found.
                  href={`/chat/${encodeURIComponent(session.name)}${search === '' ? '' : `?${search}`}`}
                  className="session"
                  onClick={onGo}
                  aria-current={session.name === current ? 'page' : undefined}
                >
                  <span className="row">
                    <b>
                      <Safe text={session.name} />
                    </b>
                    <Mark session={session} waits={waiting.has(session.id)} />
                    <span className="small muted push">
                      {formatAge(Date.now() - Date.parse(session.last_message_at ?? session.created_at))}
                    </span>
                  </span>
                  <span className={session.said === undefined ? 'small muted cut' : 'small muted said-part'}>
                    {session.said === undefined ? (
                      <Safe text={session.preview === '' ? 'empty' : session.preview} />
                    ) : (
                      <PassageWords passage={session.said} />
                    )}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          <More list={sessions} word="Older ones" />
        </>
      )}
    </Loaded>
  );
}

const mostBefore = 24;
const endOf = (text: string): string =>
  text.length <= mostBefore ? text : `…${text.slice(-mostBefore).toWellFormed()}`;

/** A passage with what was looked for in it. */
function PassageWords({ passage: { snippet, matches } }: { readonly passage: NonNullable<Session['said']> }) {
  let from = 0;
  const parts = matches.map(({ start, end }) => {
    // What was found stands in the first line of the few that there are.
    const before = from === 0 ? endOf(snippet.slice(0, start)) : snippet.slice(from, start);
    from = end;
    return { start, before, hit: snippet.slice(start, end) };
  });
  return (
    <>
      {parts.map(({ start, before, hit }) => (
        <Fragment key={start}>
          <Safe text={before} />
          <mark>
            <Safe text={hit} />
          </mark>
        </Fragment>
      ))}
      <Safe text={snippet.slice(from)} />
    </>
  );
}

/** What the run of a chat is at, in a word or less. */
function Mark({ session, waits }: { readonly session: Session; readonly waits: boolean }) {
  if (waits) {
    return (
      <span className="tag warn">
        waits<span className="sr"> for you</span>
      </span>
    );
  }
  if (session.suspended_run_id !== null) return <span className="tag">rests</span>;
  if (session.active_run_id === null) return null;
  return (
    <>
      <span className="pulse" aria-hidden="true" />
      <span className="sr">at work</span>
    </>
  );
}
