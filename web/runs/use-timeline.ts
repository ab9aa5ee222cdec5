import { useEffect, useState } from 'react';
import type { RunEvent } from '../../src/schema/event.ts';
import { emptyTimeline, reduceTimeline, type Timeline } from '../../src/view/timeline.ts';
import { onRun } from '../data/run-events.ts';

/** A live run is drawn anew at most this often. */
const drawMs = 250;

/** The picture of a run from its first event, growing while it goes on. */
export function useTimeline(runId: string): Timeline {
  const [timeline, setTimeline] = useState<Timeline>(emptyTimeline);
  useEffect(() => {
    let waiting: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setTimeline(emptyTimeline);
    const flush = () => {
      timer = undefined;
      const events = waiting;
      waiting = [];
      setTimeline((before) => reduceTimeline(before, events));
    };
    const stop = onRun(runId, (events) => {
      waiting.push(...events.filter(({ seq }) => seq > 0));
      if (waiting.length > 0) timer ??= setTimeout(flush, drawMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [runId]);
  return timeline;
}
