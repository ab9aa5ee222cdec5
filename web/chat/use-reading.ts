import { useCallback, useEffect, useRef } from 'react';
import { canGoOn } from '../../src/schema/run.ts';
import type { SessionMessage } from '../../src/schema/session.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { Item } from '../../src/view/items.ts';
import { storedItems } from '../../src/view/stored-items.ts';
import { client, connection } from '../data/client.ts';
import { beginnings } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { refusalFrom } from '../data/use-data.ts';
import type { ChatState } from './chat-state.ts';
import { isUnderWay, letGo, outgoingOf } from './kept.ts';
import { isUnanswered, unconfirmedOf } from './unsent.ts';

const pageSize = 200;

/** Messages of a run that is followed come as its events: each is shown once, whichever way it came. */
const withoutRun = (messages: readonly Known<typeof SessionMessage>[], runId: string | null) =>
  messages.filter(({ run_id }) => runId === null || run_id !== runId);

/**
 * Reads what is stored of a chat, anew with each beginning of the feed and whenever it is asked for.
 * @returns what reads older messages than those that are loaded, at most so many
 */
export function useReading(chat: ChatState) {
  const { name, error, setError, setSession, setHeard, cursor, setCursor, read, setNewest, setRefusals } = chat;
  const { round, reload, runs, begun, sent } = chat;
  const feed = useStore(beginnings);

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
  }, [name, round, feed, runs, read, begun, sent, setSession, setHeard, setCursor, setNewest, setRefusals, setError]);

  // Nobody was there who could tell what has become of the chat, or of a message.
  const isOpen = useStore(connection).state === 'open';
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isOpen && !wasOpen.current && (error !== null || unconfirmedOf(name).length > 0)) reload();
    wasOpen.current = isOpen;
  }, [name, isOpen, error, reload]);

  /** Whoever wants what is older while it is being read waits for the same. */
  const reading = useRef<Promise<void> | null>(null);
  return useCallback(
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
    [name, cursor, read, setCursor, setHeard],
  );
}

/** The run of a chat whose process is gone: what it was doing, and what may have happened, is to be seen before more is sent. */
async function stoppedRun(session: string): Promise<string | null> {
  const { items } = await client.pageRuns({ session, status: 'interrupted', limit: 10 });
  return items.find((run) => run.kind === 'chat' && canGoOn(run))?.id ?? null;
}
