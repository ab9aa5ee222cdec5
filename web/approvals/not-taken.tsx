import { useState } from 'react';

/** An answer that is written in a dialog, which closes when it was taken. What was not taken stays to be sent again. */
export function useWritten(onClose: () => void) {
  const [refused, setRefused] = useState(false);
  const send = async (answered: Promise<unknown>): Promise<void> => {
    setRefused(false);
    if ((await answered) === null) setRefused(true);
    else onClose();
  };
  return { refused, send };
}

export const NotTaken = () => (
  <p className="note warn" role="alert">
    That was not taken. The card behind this says what stands in the way.
  </p>
);
