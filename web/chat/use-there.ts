import { useCallback, useEffect, useRef } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import { client } from '../data/client.ts';
import { onLooks } from '../data/on-return.ts';
import { refusalFrom } from '../data/use-data.ts';
import type { ChatState } from './chat-state.ts';

/**
 * Says of a chat that was deleted or renamed elsewhere that it is, and reads one that was not there when it is.
 * @returns what looks whether it is still there
 */
export function useThere({ name, session, error, setError, reload }: ChatState): () => void {
  // No event tells that a chat was deleted or renamed: who looks at it is told soon.
  const sessionId = session?.id ?? null;
  const lookForIt = useRef<() => void>(() => undefined);
  lookForIt.current = () => {
    // One that is still being read says itself whether it is there.
    if (sessionId === null && error === null) return;
    client.getSession({ session: name }).then(
      ({ id }) => {
        if (sessionId === null) reload();
        else if (id !== sessionId) setError(goneElsewhere);
        else setError((before) => (before === goneElsewhere ? null : before));
      },
      (thrown: unknown) => {
        // Without an answer nothing is known.
        if (sessionId !== null && refusalFrom(thrown).code === 'not_found') setError(goneElsewhere);
      },
    );
  };
  useEffect(() => onLooks(() => lookForIt.current()), []);
  return useCallback(() => lookForIt.current(), []);
}

const goneElsewhere = new RuntimeError(
  'not_found',
  'This chat was deleted or renamed somewhere else: what you write here cannot be sent.',
);
