import { useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { restsAt } from '../../src/view/items.ts';
import { Composer, toWrite } from '../chat/composer.tsx';
import { addToDraft, moveKept, optionsOf, type SendOptions } from '../chat/kept.ts';
import { FindBar } from '../chat/find-bar.tsx';
import { Missing } from '../chat/missing.tsx';
import { RunPanel } from '../chat/run-panel.tsx';
import { SessionDialog } from '../chat/session-dialog.tsx';
import { pageSize, SessionsColumn } from '../chat/sessions.tsx';
import { TranscriptView } from '../chat/transcript.tsx';
import { type Chat, useChat } from '../chat/use-chat.ts';
import { useFind } from '../chat/use-find.ts';
import { client } from '../data/client.ts';
import { onLooks } from '../data/on-return.ts';
import { useStore } from '../data/store.ts';
import { usePages } from '../data/use-pages.ts';
import { useQuery } from '../data/use-query.ts';
import { announce } from '../frame/announce.tsx';
import { useEverywhere, waitingChats } from '../frame/everywhere.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icons.tsx';
import { Page } from '../parts/page.tsx';
import { queueWords, useRun } from '../runs/use-run.ts';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Skeleton } from '../parts/states.tsx';
import '../styles/chat.css';

/** Chats on the left, one of them beside it (09 §8.5). */
export function ChatPage() {
  const { session: named } = useParams();
  const [path, go] = useLocation();
  const { setup } = useEverywhere();
  // Where the app is opened without a page, what is missing comes first (09 §8.15).
  const incomplete = setup.value?.issues.some(({ severity }) => severity === 'error') === true;
  useEffect(() => {
    if (path === '/' && incomplete) go('/setup', { replace: true });
  }, [path, incomplete, go]);
  const sessions = usePages('sessions', pageSize, client.pageSessions, { topics: ['runs'] });
  const known = sessions.value?.items;
  // No event tells that a chat was made, renamed or deleted elsewhere.
  useEffect(() => onLooks(sessions.reload), [sessions.reload]);
  const name = named ?? known?.find(({ active }) => active)?.name ?? known?.[0]?.name;
  const [listed, list] = useState(false);
  // The first chat is made under the name that stands for it before there is any.
  const none = known?.length === 0 && (named ?? firstName) === firstName;
  return (
    <Page title={name === undefined ? 'Chat' : `${name} · Chat`} whole>
      <div className={`chat ${listed ? 'listed' : ''}`}>
        <SessionsColumn
          sessions={sessions}
          current={name ?? ''}
          onGo={() => list(false)}
          onOpen={(opened) => {
            list(false);
            go(`/chat/${encodeURIComponent(opened)}`, { state: toWrite });
          }}
        />
        {name === undefined || none ? (
          <div className="conversation">
            {sessions.value === null ? <Skeleton /> : <First onMade={sessions.reload} />}
          </div>
        ) : (
          <Conversation
            key={name}
            name={name}
            nameOf={(id) => known?.find((each) => each.id === id)?.name ?? null}
            onList={() => list(!listed)}
            onDone={sessions.reload}
            onOther={(other) => go(other === null ? '/chat' : `/chat/${encodeURIComponent(other)}`)}
          />
        )}
      </div>
    </Page>
  );
}

const firstName = 'default';

/** There is no chat yet: the first one is made. */
function First({ onMade }: { readonly onMade: () => void }) {
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    client.createSession({ name: firstName }).then(onMade, onMade);
  }, [onMade]);
  return <Skeleton />;
}

function Conversation({
  name,
  nameOf,
  onList,
  onDone,
  onOther,
}: {
  readonly name: string;
  /** The name of a chat now; null where it is not known. */
  readonly nameOf: (id: string | null) => string | null;
  readonly onList: () => void;
  readonly onDone: () => void;
  readonly onOther: (name: string | null) => void;
}) {
  const chat = useChat(name);
  const run = useRun(chat.newestRun);
  const queued =
    chat.runId !== null && run.value?.id === chat.runId && run.value.status === 'queued' ? run.value : null;
  const area = useRef<HTMLDivElement>(null);
  const [filter] = useQuery('filter');
  // Who has found the chat by a word looks for it in there.
  const find = useFind(chat, area, /\s/.test(filter.trim()) ? '' : filter.trim());
  // When it is there again, that is found without a press.
  const isMissing = chat.error?.code === 'not_found';
  const nameNow = nameOf(chat.session?.id ?? null);
  const [acting, act] = useState(false);
  const chosen = optionsOf(name);
  const options = useStore(chosen);
  // The same one for every delta: with another, each message in the page would be drawn again.
  const latest = useRef({ chat, options });
  latest.current = { chat, options };
  const again = useCallback((text: string) => {
    const { chat, options } = latest.current;
    const last = chat.items.findLast((item) => item.kind === 'user');
    const wanted = text === '' && last?.kind === 'user' ? last.text : text;
    if (wanted !== '') chat.send(wanted, options);
  }, []);
  const use = useCallback((text: string) => addToDraft(name, text), [name]);
  const last = chat.items.at(-1);
  const rests = last?.kind === 'end' && restsAt(last);
  const waits = waitingChats(useEverywhere()).has(chat.session?.id ?? null);
  const streams = chat.items.at(-1)?.kind === 'assistant' && chat.runId !== null;
  useEffect(() => {
    if (streams) announce('Reins is answering');
  }, [streams]);
  const running = useRef(chat.runId);
  const ended = last?.kind === 'end' ? last.status : null;
  useEffect(() => {
    if (running.current !== null && chat.runId === null)
      announce(ended === null ? 'Reins has answered' : `The turn: ${ended}`);
    running.current = chat.runId;
  }, [chat.runId, ended]);
  return (
    <>
      <div className="conversation" ref={area}>
        <header className="conversation-head row">
          <span className="only-small">
            <Button size="small" onClick={onList}>
              Chats
            </Button>
          </span>
          <h1 className="cut">
            <Safe text={name} />
          </h1>
          {chat.runId === null ? null : (
            <Link href={`/runs/${chat.runId}`} className={`tag ${waits ? 'warn' : 'accent'}`}>
              {waits ? 'waits for you' : rests ? 'rests' : queued !== null ? queueWords(queued) : 'running'}
            </Link>
          )}
          <span className="push">
            <Button
              size="small"
              look="quiet"
              aria-label="Find in this conversation"
              aria-expanded={find.isOpen}
              onClick={find.isOpen ? find.close : find.open}
            >
              <Icon name="find" />
            </Button>
            <Button size="small" look="quiet" aria-label="About this chat" onClick={() => act(true)}>
              •••
            </Button>
          </span>
        </header>
        {acting ? <SessionDialog name={name} onDone={onDone} onOther={onOther} onClose={() => act(false)} /> : null}
        {find.isOpen ? <FindBar find={find} /> : null}
        {chat.error === null ? null : <ErrorNote error={chat.error} onRetry={isMissing ? undefined : chat.reload} />}
        {isMissing ? (
          <Missing
            name={name}
            now={nameNow}
            onNow={(other) => {
              moveKept(name, other);
              onOther(other);
            }}
            onMade={(lead) => {
              chat.reload();
              onDone();
              lead(() => onOther(name));
            }}
          />
        ) : null}
        {chat.session === null && chat.error === null ? <Skeleton /> : null}
        {chat.session !== null && chat.items.length === 0 ? <Nothing chat={chat} options={options} /> : null}
        <TranscriptView
          items={chat.items}
          older={chat.older}
          unsent={chat.unsent}
          onAgain={again}
          onUse={use}
          sought={find.sought}
        />
        <Composer
          name={name}
          chat={chat}
          rests={rests}
          waits={waits}
          queued={queued}
          options={options}
          onOptions={chosen.set}
        />
      </div>
      <RunPanel runId={chat.newestRun} run={run} />
    </>
  );
}

const examples = [
  'What is in this workspace? Read what matters and tell me in five lines.',
  'Find the longest files of the sources and say what each is about.',
  'Write a short README for this project.',
] as const;

/** Nothing was said yet: three ways to begin, or what is missing before. */
function Nothing({ chat, options }: { readonly chat: Chat; readonly options: SendOptions }) {
  const { setup } = useEverywhere();
  const missing = setup.value?.issues.filter(({ severity }) => severity === 'error') ?? [];
  // In the order of the set-up: without a project no chat begins, and without a backend no model can be chosen.
  const issue =
    missing.find(({ code }) => code === 'no_project') ??
    missing.find(({ code }) => code === 'no_backends') ??
    missing[0];
  if (issue !== undefined) {
    return (
      <div className="panel stack start">
        <h2>{missing.length === 1 ? 'One thing is missing' : `${missing.length} things are missing; first:`}</h2>
        <p>{issue.message}</p>
        {issue.cliCommand === null ? null : <p className="mono small">{issue.cliCommand}</p>}
        <Link href="/setup">Open the set-up</Link>
      </div>
    );
  }
  return (
    <div className="stack start">
      <p className="muted">
        Ask for something to be done here. What your policy leaves to you is asked in this place, before it happens.
      </p>
      {examples.map((text) => (
        <button key={text} type="button" className="example" onClick={() => chat.send(text, options)}>
          {text}
        </button>
      ))}
    </div>
  );
}
