import { useEffect, useRef, useState } from 'react';
import { refusalFrom } from '../data/use-data.ts';

/** How long nobody has typed when a text is looked at. */
const quietMs = 300;

export type Vetted<T> = {
  readonly value: T | null;
  /** Why the last text could not be asked about. */
  readonly fault: string | null;
  /** The answer is about the text as it is now. */
  readonly current: boolean;
};

/** Asks something about a text once its writer pauses; a late answer to an earlier text is dropped. */
export function useVetted<T>(text: string, ask: (text: string) => Promise<T>): Vetted<T> {
  const [state, set] = useState<{
    readonly text: string | null;
    readonly value: T | null;
    readonly fault: string | null;
  }>({
    text: null,
    value: null,
    fault: null,
  });
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let old = false;
    const timer = setTimeout(() => {
      latest.current(text).then(
        (value) => old || set({ text, value, fault: null }),
        (error: unknown) => old || set((before) => ({ ...before, text, fault: refusalFrom(error).message })),
      );
    }, quietMs);
    return () => {
      old = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { value: state.value, fault: state.fault, current: state.text === text };
}
