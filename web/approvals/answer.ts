import { useCallback, useRef, useState } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import { client } from '../data/client.ts';
import { refusalFrom } from '../data/use-data.ts';

type Sent = Parameters<typeof client.answerApproval>[0];
export type Answer = Omit<Sent, 'id' | 'binding'>;
type Answered = Awaited<ReturnType<typeof client.answerApproval>>;

export type Sending = {
  readonly state: 'idle' | 'sending' | 'unconfirmed';
  readonly error: RuntimeError | null;
  /** Resolves with the ask as it stands; null where the answer was refused. */
  readonly send: (answer: Answer) => Promise<Answered | null>;
};

const againMs = 1000;

/**
 * Sends the answer to an ask. A line that breaks leaves it unconfirmed, and the same answer is sent until there is a reply:
 * an answer is compare-and-swap, so it counts once (09 §5.4).
 * @param binding of the ask as it is displayed
 * @param onRefused another answer has won, or the ask has changed: what is displayed is old
 */
export function useAnswer(id: string, binding: string, onRefused: () => void): Sending {
  const [state, set] = useState<Omit<Sending, 'send'>>({ state: 'idle', error: null });
  const busy = useRef(false);
  const send = useCallback(
    async (answer: Answer) => {
      if (busy.current) return null;
      busy.current = true;
      set({ state: 'sending', error: null });
      try {
        for (;;) {
          try {
            const ask = await client.answerApproval({ ...answer, id, binding });
            set({ state: 'idle', error: null });
            return ask;
          } catch (thrown) {
            if (thrown instanceof RuntimeError && thrown.code !== 'timeout') {
              set({ state: 'idle', error: lost.has(thrown.code) ? null : thrown });
              onRefused();
              return null;
            }
            if (!(thrown instanceof RuntimeError || thrown instanceof TypeError)) {
              set({ state: 'idle', error: refusalFrom(thrown) });
              return null;
            }
            set({ state: 'unconfirmed', error: null });
            await new Promise((resolve) => setTimeout(resolve, againMs));
          }
        }
      } finally {
        busy.current = false;
      }
    },
    [id, binding, onRefused],
  );
  return { ...state, send };
}

/** The card itself says what has become of the ask. */
const lost: ReadonlySet<string> = new Set(['already_answered', 'expired', 'binding_changed']);
