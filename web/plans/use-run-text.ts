import { useEffect, useState } from 'react';
import { client } from '../data/client.ts';

const mostChars = 8000;

/** What the model of a run is writing now; empty before it begins. A finished message takes the place of its pieces. */
export function useRunText(runId: string | null): string {
  const [text, setText] = useState('');
  useEffect(() => {
    setText('');
    if (runId === null) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      let said = '';
      for await (const events of client.watch({ run_id: runId, after: 0, signal: stop.signal })) {
        for (const event of events) {
          if (event.kind === 'step_chunk') said += event.content ?? '';
          if (event.kind === 'tool_call') said += `\n[${event.tools}.${event.tool}]\n`;
        }
        setText(said.slice(-mostChars));
      }
    };
    // A stream that ends for good is said above the page.
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [runId]);
  return text;
}
