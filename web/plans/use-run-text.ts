import { useEffect, useState } from 'react';
import { reduceSaid, saidNothing } from '../../src/view/said-text.ts';
import { onRun } from '../data/run-events.ts';

const mostChars = 8000;

/** What the model of a run is writing now; empty before it begins. */
export function useRunText(runId: string | null): string {
  const [text, setText] = useState('');
  useEffect(() => {
    setText('');
    if (runId === null) return;
    let said = saidNothing;
    return onRun(runId, (events) => {
      said = reduceSaid(said, events);
      setText((said.before + said.message).slice(-mostChars));
    });
  }, [runId]);
  return text;
}
