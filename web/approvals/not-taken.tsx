import { useRef, useState } from 'react';

/** An answer that is written in a dialog, which closes when it was taken. What was not taken stays to be sent again. */
export function useWritten(onClose: () => void) {
  const [state, set] = useState<'idle' | 'sending' | 'refused'>('idle');
  const busy = useRef(false);
  // Sent twice, the second would be told of the first, and so be taken for one that was refused.
  const send = async (answer: () => Promise<unknown>): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    set('sending');
    const isTaken = (await answer()) !== null;
    busy.current = false;
    set(isTaken ? 'idle' : 'refused');
    if (isTaken) onClose();
  };
  return { refused: state === 'refused', busy: state === 'sending', send };
}

export const NotTaken = () => (
  <p className="note warn" role="alert">
    That was not taken. The card behind this says what stands in the way.
  </p>
);
