import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { RuntimeError } from '../../src/schema/errors.ts';
import { newKey } from '../data/unanswered.ts';
import { refusalFrom } from '../data/use-data.ts';
import type { ChatState } from './chat-state.ts';
import { addToDraft, deliver, hold, isUnderWay, letGo, type Outgoing, outgoingOf, type SendOptions } from './kept.ts';
import { isUnanswered } from './unsent.ts';

/** A message that was not taken: what sends it again under the same key, and what puts it back where it was written. */
export type Unsent = {
  readonly id: string;
  readonly error: RuntimeError;
  readonly again: () => void;
  readonly takeBack: () => void;
};

/**
 * Sends messages, each once however often it is tried, and keeps those that were not taken.
 * @param lookForIt finds out whether the chat is still there
 */
export function useSending(chat: ChatState, lookForIt: () => void) {
  const { name, session, heard, setHeard, refusals, setRefusals, reload, runs, sent } = chat;
  const items = useRef(heard.transcript.items);
  items.current = heard.transcript.items;
  const isKnown = useRef(false);
  isKnown.current = session !== null;

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
            if (error.code === 'not_found') lookForIt();
            return;
          }
          // Nobody will answer under this key any more. The chat is read now: what is not in it was not taken.
          if (error.code === 'conflict') hold(name, { ...message, key: newKey() });
          reload();
        },
      );
      sent.current.last = Promise.all([sent.current.last, answered]).then(() => undefined);
    },
    [name, reload, runs, sent, setHeard, setRefusals, lookForIt],
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
    [name, refusals, post, setRefusals, setHeard],
  );

  return { send, unsent };
}
