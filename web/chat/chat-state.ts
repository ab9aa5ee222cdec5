import { useCallback, useRef, useState } from 'react';
import type { RuntimeError } from '../../src/schema/errors.ts';
import type { Session, SessionMessage } from '../../src/schema/session.ts';
import type { Known } from '../../src/schema/shape.ts';
import type { Transcript } from '../../src/view/transcript.ts';
import { createFollowedRuns } from './followed-runs.ts';
import { leftUnsent, outgoingItems, type Refusal } from './unsent.ts';

/**
 * What is shown of a chat. `reading`: how often it was read from what is stored; each time it holds nothing more of the
 * run that goes on, whose events are folded into it from the first one again. `runId`: that run; it changes together with
 * the reading, so that its end, heard for an older one, does not take it from the newer one, which has not heard it yet.
 */
type Heard = { readonly reading: number; readonly runId: string | null; readonly transcript: Transcript };

/** What was read of the chat, in order. */
type Read = {
  readonly messages: readonly Known<typeof SessionMessage>[];
  /** Where older ones begin; null where there are none. */
  readonly cursor: string | null;
  /** The run whose messages come as its events. */
  readonly followed: string | null;
};

/** Nothing was read yet. */
const nothing: Read = { messages: [], cursor: null, followed: null };

/** What the parts of a chat share: what was read of it, what is heard of it now, and what was sent from here. */
export function useChatState(name: string) {
  const [session, setSession] = useState<Known<typeof Session> | null>(null);
  const [error, setError] = useState<RuntimeError | null>(null);
  const [heard, setHeard] = useState<Heard>(() => ({
    reading: 0,
    runId: null,
    transcript: { items: outgoingItems(name) },
  }));
  const [cursor, setCursor] = useState<string | null>(null);
  const [newest, setNewest] = useState<string | null>(null);
  if (heard.runId !== null && heard.runId !== newest) setNewest(heard.runId);
  const [refusals, setRefusals] = useState<readonly Refusal[]>(() => leftUnsent(name));
  const [round, setRound] = useState(0);
  const [runs] = useState(createFollowedRuns);
  return {
    name,
    session,
    setSession,
    error,
    setError,
    heard,
    setHeard,
    cursor,
    setCursor,
    read: useRef<Read>(nothing),
    newest,
    setNewest,
    refusals,
    setRefusals,
    /** How often the chat was to be read, and what has it read again. */
    round,
    reload: useCallback(() => setRound((before) => before + 1), []),
    runs,
    /** The newest run of each chat that has begun since the last reading did. */
    begun: useRef(new Map<string, string>()),
    /** How many messages were sent from here, and when the last one is answered. */
    sent: useRef({ count: 0, last: Promise.resolve() }),
  };
}

export type ChatState = ReturnType<typeof useChatState>;
