import { useCallback, useEffect, useRef } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import { client } from '../data/client.ts';
import { onReturn } from '../data/on-return.ts';
import { refusalFrom } from '../data/use-data.ts';
import type { ChatState } from './chat-state.ts';

/**
 * Says of a chat that was deleted or renamed elsewhere that it is.
 * @returns what looks whether it is still there
 */
export function useThere({ name, session, setError }: ChatState): () => void {
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
  return useCallback(() => lookForIt.current(), []);
}

const goneElsewhere = new RuntimeError(
  'not_found',
  'This chat was deleted or renamed somewhere else: what you write here cannot be sent.',
);
