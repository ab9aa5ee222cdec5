import { useEffect, useRef } from 'react';
import type { RunEvent } from '../../src/schema/event.ts';
import { onRun } from '../data/run-events.ts';

/** Events of a busy moment are drawn once. */
const frameMs = 16;

/** Folds what is heard of a run, from its first event on, at most once a frame; anew behind each reading of the chat. */
export function useRunEvents(
  runId: string | null,
  reading: number,
  fold: (reading: number, events: readonly RunEvent[]) => void,
  onEnd: (reading: number, runId: string) => void,
): void {
  const latest = useRef({ fold, onEnd });
  latest.current = { fold, onEnd };
  useEffect(() => {
    if (runId === null) return;
    let waiting: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      const events = waiting;
      waiting = [];
      if (events.length > 0) latest.current.fold(reading, events);
    };
    const stop = onRun(runId, (events, ended) => {
      waiting.push(...events);
      timer ??= setTimeout(flush, frameMs);
      if (!ended) return;
      flush();
      latest.current.onEnd(reading, runId);
    });
    return () => {
      stop();
      flush();
    };
  }, [runId, reading]);
}
