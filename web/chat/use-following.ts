import { useCallback, useEffect } from 'react';
import type { RunEvent } from '../../src/schema/event.ts';
import { reduceTranscript } from '../../src/view/transcript.ts';
import { client } from '../data/client.ts';
import { onFeed } from '../data/live.ts';
import type { ChatState } from './chat-state.ts';
import { unconfirmedOf } from './unsent.ts';
import { useRunEvents } from './use-run-events.ts';

/** Shows what happens in a chat: the events of its runs, those that another surface has started, too. */
export function useFollowing(chat: ChatState): void {
  const { name, session, setSession, heard, setHeard, reload, runs, begun, sent } = chat;
  const sessionId = session?.id ?? null;

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
  }, [name, sessionId, reload, runs, begun, sent, setHeard]);

  const finished = useCallback(
    (reading: number, run: string) => {
      runs.ended(run, reading);
      setHeard((now) => (now.reading === reading && now.runId === run ? { ...now, runId: null } : now));
      client.getSession({ session: name }).then(setSession, () => undefined);
    },
    [name, runs, setHeard, setSession],
  );
  const fold = useCallback(
    (reading: number, events: readonly RunEvent[]) =>
      setHeard((now) =>
        now.reading === reading ? { ...now, transcript: reduceTranscript(now.transcript, events) } : now,
      ),
    [setHeard],
  );
  useRunEvents(heard.runId, heard.reading, fold, finished);
}
