import { useEffect, useState } from 'react';

const pauseMs = 300;

/** A text that has not changed for a moment: what is asked of a server about it is not asked for each letter. */
export function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
