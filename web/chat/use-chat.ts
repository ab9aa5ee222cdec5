import { useCallback, useEffect, useRef, useState } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { RunEvent } from '../../src/schema/event.ts';
import { canGoOn } from '../../src/schema/run.ts';
import type { Session, SessionMessage } from '../../src/schema/session.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { Item } from '../../src/view/items.ts';
import { storedItems } from '../../src/view/stored-items.ts';
import { emptyTranscript, reduceTranscript, type Transcript } from '../../src/view/transcript.ts';
import { client, clientRepeating, connection } from '../data/client.ts';
import { beginnings, onFeed } from '../data/live.ts';
import { onReturn } from '../data/on-return.ts';
import { onRun } from '../data/run-events.ts';
import { useStore } from '../data/store.ts';
import { newKey } from '../data/unanswered.ts';
import { refusalFrom } from '../data/use-data.ts';

const pageSize = 200;
/** Events of a busy moment are drawn once. */
const frameMs = 16;

export type SendOptions = {
  readonly model?: string;
  readonly chain?: string;
  readonly policy?: string;
  readonly shell?: boolean;
};

/** A message that was not taken, and what sends it again under the same key. */
export type Unsent = { readonly id: string; readonly error: RuntimeError; readonly again: () => void };

export type Chat = {
  readonly session: Known<typeof Session> | null;
  readonly error: RuntimeError | null;
  readonly items: readonly Item[];
  /** Whether there are older messages than those that are loaded. */
  readonly older: (() => Promise<void>) | null;
  /** The run that is under way. */
  readonly runId: string | null;
  /** That one, or the newest that was. */
  readonly newestRun: string | null;
  readonly unsent: readonly Unsent[];
  readonly send: (text: string, options: SendOptions) => void;
  readonly reload: () => void;
};

type Known200 = { readonly messages: readonly Known<typeof SessionMessage>[]; readonly cursor: string | null };

/**
 * What is shown of a chat. `reading`: how often it was read from what is stored; each time it holds nothing more of the
 * run that goes on, whose events are folded into it from the first one again.
 */
type Heard = { readonly reading: number; readonly transcript: Transcript };

/** Messages of a run that is followed come as its events: each is shown once, whichever way it came. */
const withoutRun = (messages: Known200['messages'], runId: string | null) =>
  messages.filter(({ run_id }) => runId === null || run_id !== runId);

/** One chat: what is stored of it, and what happens in it now, without a gap or a double between the two. */
export function useChat(name: string): Chat {
  const [session, setSession] = useState<Known<typeof Session> | null>(null);
  const [error, setError] = useState<RuntimeError | null>(null);
  const [heard, setHeard] = useState<Heard>({ reading: 0, transcript: emptyTranscript });
  const [stored, setStored] = useState<Known200>({ messages: [], cursor: null });
  const [runId, setRunId] = useState<string | null>(null);
  const [newest, setNewest] = useState<string | null>(null);
  if (runId !== null && runId !== newest) setNewest(runId);
  const [unsent, setUnsent] = useState<readonly Unsent[]>([]);
  const [round, setRound] = useState(0);
  const feed = useStore(beginnings);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  /** The newest run of each chat that has begun since the last reading did. */
  const begun = useRef(new Map<string, string>());
  /** How many messages were sent from here, when the last one is answered, and which of them were not taken. */
  const sent = useRef({ count: 0, last: Promise.resolve(), refused: new Set<string>() });
  /** Of those not taken the ones that no server has refused: what they say, and how often that had been said before. */
  const unconfirmed = useRef(new Map<string, { readonly text: string; readonly before: number }>());
  const items = useRef(heard.transcript.items);
  items.current = heard.transcript.items;

  useEffect(() => {
    void [round, feed];
    let gone = false;
    const load = async (): Promise<void> => {
      const before = sent.current.count;
      begun.current.clear();
      const found = await client.getSession({ session: name });
      const page = await client.pageMessages({ session: name, order: 'desc', limit: pageSize });
      const run = found.active_run_id ?? found.suspended_run_id ?? (await stoppedRun(name));
      if (gone) return;
      // Something was sent meanwhile: what was read knows neither it nor its run.
      if (sent.current.count !== before) {
        await sent.current.last;
        return gone ? undefined : load();
      }
      const following = begun.current.get(found.id) ?? run;
      const messages = withoutRun(page.items.toReversed(), following);
      setSession(found);
      setStored({ messages, cursor: page.next_cursor });
      const { refused } = sent.current;
      // It came all the same: the server was stopped, or the line broke, before the answer.
      for (const [id, { text, before }] of unconfirmed.current) {
        if (page.items.filter((message) => message.role === 'user' && message.text === text).length <= before) continue;
        unconfirmed.current.delete(id);
        refused.delete(id);
      }
      setUnsent((all) => all.filter(({ id }) => refused.has(id)));
      setHeard((now) => ({
        reading: now.reading + 1,
        transcript: {
          items: [...storedItems(messages), ...now.transcript.items.filter(({ id }) => refused.has(id))],
        },
      }));
      setRunId(following);
      setNewest(following ?? page.items.find(({ run_id }) => run_id !== null)?.run_id ?? null);
      setError(null);
    };
    load().catch((thrown: unknown) => {
      // That no answer comes is said of the message which the chat is read for.
      if (!gone && !(unconfirmed.current.size > 0 && isUnanswered(thrown))) setError(refusalFrom(thrown));
    });
    return () => {
      gone = true;
    };
  }, [name, round, feed]);

  // Nobody was there who could tell what has become of the chat, or of a message.
  const isOpen = useStore(connection).state === 'open';
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isOpen && !wasOpen.current && (error !== null || unconfirmed.current.size > 0)) reload();
    wasOpen.current = isOpen;
  }, [isOpen, error, reload]);

  const isKnown = useRef(false);
  isKnown.current = session !== null;
  // No event tells that a chat was deleted or renamed: who comes back to it is told.
  const sessionId = session?.id ?? null;
  useEffect(() => {
    if (sessionId === null) return;
    return onReturn(() => {
      client.getSession({ session: name }).then(
        ({ id }) => {
          if (id !== sessionId) setError(goneElsewhere);
        },
        (thrown: unknown) => {
          // Without an answer nothing is known.
          if (refusalFrom(thrown).code === 'not_found') setError(goneElsewhere);
        },
      );
    });
  }, [name, sessionId]);

  // A run of this session that another surface has started.
  useEffect(() => {
    let gone = false;
    // Behind the answer to what was sent from here: until then nobody knows whose message the first of the run is.
    const follow = (id: string, run: string): void => {
      if (!gone) setRunId(begun.current.get(id) ?? run);
    };
    const stop = onFeed((entries) => {
      for (const { kind, session_id, run_id } of entries) {
        if (kind !== 'chain_started' && kind !== 'chain_resumed') continue;
        if (session_id == null || run_id == null) continue;
        begun.current.set(session_id, run_id);
        if (session_id === sessionId) void sent.current.last.then(() => follow(session_id, run_id));
      }
    });
    return () => {
      gone = true;
      stop();
    };
  }, [sessionId]);

  const finished = useCallback(() => {
    setRunId(null);
    client.getSession({ session: name }).then(setSession, () => undefined);
  }, [name]);
  const fold = useCallback(
    (reading: number, events: readonly RunEvent[]) =>
      setHeard((now) =>
        now.reading === reading ? { reading, transcript: reduceTranscript(now.transcript, events) } : now,
      ),
    [],
  );
  useRun(runId, heard.reading, fold, finished);

  const older = useCallback(async () => {
    if (stored.cursor === null) return;
    const page = await client.pageMessages({ session: name, order: 'desc', limit: pageSize, cursor: stored.cursor });
    const messages = [...withoutRun(page.items.toReversed(), runId), ...stored.messages];
    const before = storedItems(stored.messages).length;
    setStored({ messages, cursor: page.next_cursor });
    const items = storedItems(messages);
    setHeard(({ reading, transcript }) => ({
      reading,
      transcript: { items: [...items, ...transcript.items.slice(before)] },
    }));
  }, [name, runId, stored]);

  const send = useCallback(
    (text: string, options: SendOptions) => {
      let key = newKey();
      const id = `pending:${key}`;
      // It stands at the end: what came meanwhile was said before it.
      const put = (state: 'pending' | 'unsent'): void =>
        setHeard(({ reading, transcript }) => ({
          reading,
          transcript: {
            items: [...transcript.items.filter((item) => item.id !== id), { kind: 'user', id, text, state, seq: null }],
          },
        }));
      const post = (): void => {
        put('pending');
        setUnsent((before) => before.filter((each) => each.id !== id));
        sent.current.refused.delete(id);
        const said = (item: Item): boolean => item.kind === 'user' && item.text === text && item.id !== id;
        const before = unconfirmed.current.get(id)?.before ?? items.current.filter(said).length;
        unconfirmed.current.delete(id);
        sent.current.count += 1;
        sent.current.last = clientRepeating(key)
          .postMessage({ session: name, text, ...options })
          .then(
            ({ run_id }) => {
              setRunId(run_id);
              // A chat that was not there when it was read is there now.
              if (!isKnown.current) reload();
            },
            (thrown: unknown) => {
              const error = refusalFrom(thrown);
              sent.current.refused.add(id);
              put('unsent');
              setUnsent((all) => [...all, { id, error, again: post }]);
              if (!isUnanswered(thrown)) return;
              // Nobody will answer under this key any more. The chat is read now: what is not in it was not taken.
              if (thrown instanceof RuntimeError && thrown.code === 'conflict') key = newKey();
              unconfirmed.current.set(id, { text, before });
              reload();
            },
          );
      };
      post();
    },
    [name, reload],
  );

  return {
    session,
    error,
    items: heard.transcript.items,
    older: stored.cursor === null ? null : older,
    runId,
    newestRun: newest,
    unsent,
    send,
    reload,
  };
}

/** Nobody knows whether it was taken: no answer came, or there was none when it was sent again (09 §5.4). */
function isUnanswered(thrown: unknown): boolean {
  if (!(thrown instanceof RuntimeError)) return thrown instanceof TypeError;
  return thrown.code === 'timeout' || Reflect.get(Object(thrown.data), 'param') === 'Idempotency-Key';
}

/** The run of a chat whose process is gone: what it was doing, and what may have happened, is to be seen before more is sent. */
async function stoppedRun(session: string): Promise<string | null> {
  const { items } = await client.pageRuns({ session, status: 'interrupted', limit: 10 });
  return items.find((run) => run.kind === 'chat' && canGoOn(run))?.id ?? null;
}

const goneElsewhere = new RuntimeError(
  'not_found',
  'This chat was deleted or renamed somewhere else: what you write here cannot be sent.',
);

/** Folds what is heard of a run, from its first event on, at most once a frame; anew behind each reading of the chat. */
function useRun(
  runId: string | null,
  reading: number,
  fold: (reading: number, events: readonly RunEvent[]) => void,
  onEnd: () => void,
): void {
  const latest = useRef({ fold, onEnd });
  latest.current = { fold, onEnd };
  useEffect(() => {
    if (runId === null) return;
    let waiting: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      const events = waiting;
      waiting = [];
      if (events.length > 0) latest.current.fold(reading, events);
    };
    const stop = onRun(runId, (events, ended) => {
      waiting.push(...events);
      timer ??= setTimeout(flush, frameMs);
      if (!ended) return;
      flush();
      latest.current.onEnd();
    });
    return () => {
      stop();
      flush();
    };
  }, [runId, reading]);
}
