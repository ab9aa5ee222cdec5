import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { RunEvent } from '../../src/schema/event.ts';
import { canGoOn } from '../../src/schema/run.ts';
import type { Session, SessionMessage } from '../../src/schema/session.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { Item } from '../../src/view/items.ts';
import { storedItems } from '../../src/view/stored-items.ts';
import { reduceTranscript, type Transcript } from '../../src/view/transcript.ts';
import { client, connection } from '../data/client.ts';
import { beginnings, onFeed } from '../data/live.ts';
import { onReturn } from '../data/on-return.ts';
import { useStore } from '../data/store.ts';
import { newKey } from '../data/unanswered.ts';
import { refusalFrom } from '../data/use-data.ts';
import { createFollowedRuns } from './followed-runs.ts';
import { addToDraft, deliver, hold, isUnderWay, letGo, type Outgoing, outgoingOf, type SendOptions } from './kept.ts';
import { isUnanswered, leftUnsent, outgoingItems, type Refusal, unconfirmedOf } from './unsent.ts';
import { useRunEvents } from './use-run-events.ts';

const pageSize = 200;

/** A message that was not taken: what sends it again under the same key, and what puts it back where it was written. */
export type Unsent = {
  readonly id: string;
  readonly error: RuntimeError;
  readonly again: () => void;
  readonly takeBack: () => void;
};

export type Chat = {
  readonly session: Known<typeof Session> | null;
  readonly error: RuntimeError | null;
  readonly items: readonly Item[];
  /** Reads older messages than those that are loaded, at most so many; null where there are none. */
  readonly older: ((most?: number) => Promise<void>) | null;
  /** The run that is under way. */
  readonly runId: string | null;
  /** That one, or the newest that was. */
  readonly newestRun: string | null;
  readonly unsent: readonly Unsent[];
  /** A message is on its way, and not answered yet. */
  readonly sending: boolean;
  readonly send: (text: string, options: SendOptions) => void;
  readonly reload: () => void;
};

type Known200 = { readonly messages: readonly Known<typeof SessionMessage>[]; readonly cursor: string | null };

/**
 * What is shown of a chat. `reading`: how often it was read from what is stored; each time it holds nothing more of the
 * run that goes on, whose events are folded into it from the first one again. `runId`: that run; it changes together with
 * the reading, so that its end, heard for an older one, does not take it from the newer one, which has not heard it yet.
 */
type Heard = { readonly reading: number; readonly runId: string | null; readonly transcript: Transcript };

/** Nothing was read yet. */
const nothing: Read = { messages: [], cursor: null, followed: null };

/** What was read of the chat, in order. */
type Read = Known200 & {
  /** The run whose messages come as its events. */
  readonly followed: string | null;
};

/** Messages of a run that is followed come as its events: each is shown once, whichever way it came. */
const withoutRun = (messages: Known200['messages'], runId: string | null) =>
  messages.filter(({ run_id }) => runId === null || run_id !== runId);

/** One chat: what is stored of it, and what happens in it now, without a gap or a double between the two. */
export function useChat(name: string): Chat {
  const [session, setSession] = useState<Known<typeof Session> | null>(null);
  const [error, setError] = useState<RuntimeError | null>(null);
  const [heard, setHeard] = useState<Heard>(() => ({
    reading: 0,
    runId: null,
    transcript: { items: outgoingItems(name) },
  }));
  const [cursor, setCursor] = useState<string | null>(null);
  const read = useRef<Read>(nothing);
  const { runId } = heard;
  const [newest, setNewest] = useState<string | null>(null);
  if (runId !== null && runId !== newest) setNewest(runId);
  const [refusals, setRefusals] = useState<readonly Refusal[]>(() => leftUnsent(name));
  const sending = useStore(outgoingOf(name)).some(isUnderWay);
  const [round, setRound] = useState(0);
  const feed = useStore(beginnings);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  /** The newest run of each chat that has begun since the last reading did. */
  const begun = useRef(new Map<string, string>());
  /** How many messages were sent from here, and when the last one is answered. */
  const sent = useRef({ count: 0, last: Promise.resolve() });
  const [runs] = useState(createFollowedRuns);
  const items = useRef(heard.transcript.items);
  items.current = heard.transcript.items;

  useEffect(() => {
    void [round, feed];
    let gone = false;
    const load = async (): Promise<void> => {
      const sentBefore = sent.current.count;
      begun.current.clear();
      const found = await client.getSession({ session: name });
      const page = await client.pageMessages({ session: name, order: 'desc', limit: pageSize });
      const run = found.active_run_id ?? found.suspended_run_id ?? (await stoppedRun(name));
      if (gone) return;
      // Something is being sent, or was meanwhile: what was read knows neither it nor its run.
      if (sent.current.count !== sentBefore || outgoingOf(name).get().some(isUnderWay)) {
        await sent.current.last;
        return gone ? undefined : load();
      }
      const following = begun.current.get(found.id) ?? run;
      const newest = page.items.toReversed();
      const messages = withoutRun(newest, following);
      const before = storedItems(withoutRun(read.current.messages, read.current.followed)).length;
      const goesOn = runs.read(
        following,
        messages.map(({ run_id }) => run_id),
      );
      setSession(found);
      read.current = { messages: newest, cursor: page.next_cursor, followed: following };
      setCursor(page.next_cursor);
      // It came all the same: the server was stopped, or the line broke, before the answer.
      for (const { id, text, before } of unconfirmedOf(name)) {
        const said = newest.filter((message) => message.role === 'user' && message.text === text);
        if (said.length > before) letGo(name, id);
      }
      const left = new Set(
        outgoingOf(name)
          .get()
          .map(({ id }) => id),
      );
      setRefusals((all) => all.filter(({ id }) => left.has(id)));
      const stays = (item: Item): boolean =>
        left.has(item.id) || (goesOn && !(item.kind === 'user' && item.state !== 'sent'));
      const reading = runs.reading();
      setHeard((now) => ({
        reading,
        runId: following,
        transcript: {
          items: [...storedItems(messages), ...now.transcript.items.slice(goesOn ? before : 0).filter(stays)],
        },
      }));
      setNewest(following ?? newest.findLast(({ run_id }) => run_id !== null)?.run_id ?? null);
      setError(null);
    };
    load().catch((thrown: unknown) => {
      // That no answer comes is said of the message which the chat is read for.
      if (!gone && !(unconfirmedOf(name).length > 0 && isUnanswered(thrown))) setError(refusalFrom(thrown));
    });
    return () => {
      gone = true;
    };
  }, [name, round, feed, runs]);

  // Nobody was there who could tell what has become of the chat, or of a message.
  const isOpen = useStore(connection).state === 'open';
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isOpen && !wasOpen.current && (error !== null || unconfirmedOf(name).length > 0)) reload();
    wasOpen.current = isOpen;
  }, [name, isOpen, error, reload]);

  const isKnown = useRef(false);
  isKnown.current = session !== null;
  // No event tells that a chat was deleted or renamed: who comes back to it is told.
  const sessionId = session?.id ?? null;
  const lookForIt = useRef<() => void>(() => undefined);
  lookForIt.current = () => {
    if (sessionId === null) return;
    client.getSession({ session: name }).then(
      ({ id }) => {
        if (id !== sessionId) setError(goneElsewhere);
      },
      (thrown: unknown) => {
        // Without an answer nothing is known.
        if (refusalFrom(thrown).code === 'not_found') setError(goneElsewhere);
      },
    );
  };
  useEffect(() => onReturn(() => lookForIt.current()), []);

  // A run of this session that another surface has started.
  useEffect(() => {
    let gone = false;
    // Behind the answer to what was sent from here: until then nobody knows whose message the first of the run is.
    const follow = (id: string, run: string): void => {
      if (gone) return;
      const newest = begun.current.get(id) ?? run;
      // The feed may tell of it when it is over already.
      const isWhole = runs.isWhole(newest);
      const isCut = runs.followsOther(newest);
      if (!isWhole) {
        runs.follow(newest);
        setHeard((now) => ({ ...now, runId: newest }));
      }
      // It may be of a message that was given up here: the chat is read for it.
      if (isWhole || isCut || unconfirmedOf(name).length > 0) reload();
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
  }, [name, sessionId, reload, runs]);

  const finished = useCallback(
    (reading: number, run: string) => {
      runs.ended(run, reading);
      setHeard((now) => (now.reading === reading && now.runId === run ? { ...now, runId: null } : now));
      client.getSession({ session: name }).then(setSession, () => undefined);
    },
    [name, runs],
  );
  const fold = useCallback(
    (reading: number, events: readonly RunEvent[]) =>
      setHeard((now) =>
        now.reading === reading ? { ...now, transcript: reduceTranscript(now.transcript, events) } : now,
      ),
    [],
  );
  useRunEvents(runId, heard.reading, fold, finished);

  /** Whoever wants what is older while it is being read waits for the same. */
  const reading = useRef<Promise<void> | null>(null);
  const older = useCallback(
    (most = pageSize): Promise<void> => {
      const load = async (): Promise<void> => {
        if (cursor === null) return;
        const page = await client.pageMessages({ session: name, order: 'desc', limit: most, cursor });
        // The chat was read anew meanwhile, and what is older than that begins elsewhere.
        if (read.current.cursor !== cursor) return;
        const { messages: known, followed } = read.current;
        const messages = [...page.items.toReversed(), ...known];
        read.current = { ...read.current, messages, cursor: page.next_cursor };
        const shown = storedItems(withoutRun(known, followed)).length;
        const items = storedItems(withoutRun(messages, followed));
        setCursor(page.next_cursor);
        setHeard((now) => ({
          ...now,
          transcript: { items: [...items, ...now.transcript.items.slice(shown)] },
        }));
      };
      reading.current ??= load().finally(() => {
        reading.current = null;
      });
      return reading.current;
    },
    [name, cursor],
  );

  const post = useCallback(
    (message: Outgoing) => {
      const { id, text } = message;
      // It stands at the end: what came meanwhile was said before it.
      const put = (state: 'pending' | 'unsent'): void =>
        setHeard((now) => ({
          ...now,
          transcript: {
            items: [
              ...now.transcript.items.filter((item) => item.id !== id),
              { kind: 'user', id, text, state, seq: null },
            ],
          },
        }));
      put('pending');
      setRefusals((before) => before.filter((each) => each.id !== id));
      sent.current.count += 1;
      const answered = deliver(name, message).then(
        ({ run_id, message_id }) => {
          runs.follow(run_id);
          setHeard((now) => {
            const { items } = now.transcript;
            // It had come before, and its run has told of it.
            const isTold = items.some((item) => item.kind === 'user' && item.id === message_id);
            const transcript = isTold ? { items: items.filter((item) => item.id !== id) } : now.transcript;
            return { ...now, runId: run_id, transcript };
          });
          // A chat that was not there when it was read is there now.
          if (!isKnown.current) reload();
        },
        (thrown: unknown) => {
          const error = refusalFrom(thrown);
          put('unsent');
          setRefusals((all) => [...all.filter((each) => each.id !== id), { id, error }]);
          if (!isUnanswered(thrown)) {
            hold(name, { ...message, refused: { code: error.code, message: error.message } });
            if (error.code === 'not_found') lookForIt.current();
            return;
          }
          // Nobody will answer under this key any more. The chat is read now: what is not in it was not taken.
          if (error.code === 'conflict') hold(name, { ...message, key: newKey() });
          reload();
        },
      );
      sent.current.last = Promise.all([sent.current.last, answered]).then(() => undefined);
    },
    [name, reload, runs],
  );

  const send = useCallback(
    (text: string, options: SendOptions) => {
      const key = newKey();
      const before = items.current.filter((item) => item.kind === 'user' && item.text === text).length;
      post({ id: `pending:${key}`, key, text, options, before, refused: null });
    },
    [post],
  );

  // What somebody has sent and left is still under way, and answered here.
  useEffect(() => {
    for (const message of outgoingOf(name).get()) if (isUnderWay(message)) post(message);
  }, [name, post]);

  const unsent = useMemo(
    () =>
      refusals.map(({ id, error }): Unsent => {
        const withIt = (act: (message: Outgoing) => void) => () => {
          const message = outgoingOf(name)
            .get()
            .find((each) => each.id === id);
          if (message !== undefined) act(message);
        };
        return {
          id,
          error,
          again: withIt((message) => post({ ...message, refused: null })),
          takeBack: withIt(({ text }) => {
            letGo(name, id);
            addToDraft(name, text);
            setRefusals((all) => all.filter((each) => each.id !== id));
            setHeard((now) => ({
              ...now,
              transcript: { items: now.transcript.items.filter((item) => item.id !== id) },
            }));
          }),
        };
      }),
    [name, refusals, post],
  );

  return {
    session,
    error,
    items: heard.transcript.items,
    older: cursor === null ? null : older,
    runId,
    newestRun: newest,
    unsent,
    sending,
    send,
    reload,
  };
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
