import { useEffect, useRef, useState } from 'react';
import { emptyTranscript, reduceTranscript, type Transcript } from '../../src/view/transcript.ts';
import { FindBar } from '../chat/find-bar.tsx';
import { TranscriptView } from '../chat/transcript.tsx';
import { useFind } from '../chat/use-find.ts';
import { onRun } from '../data/run-events.ts';
import { Button } from '../parts/button.tsx';
import '../styles/chat.css';

/** What was said and done in a run, as a chat shows it. */
export function TranscriptTab({ runId }: { readonly runId: string }) {
  const [transcript, setTranscript] = useState<Transcript>(emptyTranscript);
  useEffect(() => onRun(runId, (events) => setTranscript((before) => reduceTranscript(before, events))), [runId]);
  const area = useRef<HTMLDivElement>(null);
  const find = useFind({ items: transcript.items, older: null }, area);
  return (
    <div className="transcript-tab" ref={area}>
      {find.isOpen ? (
        <FindBar find={find} />
      ) : (
        <p className="row">
          <Button size="small" look="quiet" onClick={find.open}>
            Find
          </Button>
        </p>
      )}
      <TranscriptView items={transcript.items} sought={find.sought} />
    </div>
  );
}
