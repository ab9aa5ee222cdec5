import { useEffect, useState } from 'react';
import { emptyTranscript, reduceTranscript, type Transcript } from '../../src/view/transcript.ts';
import { TranscriptView } from '../chat/transcript.tsx';
import { onRun } from '../data/run-events.ts';
import '../styles/chat.css';

/** What was said and done in a run, as a chat shows it. */
export function TranscriptTab({ runId }: { readonly runId: string }) {
  const [transcript, setTranscript] = useState<Transcript>(emptyTranscript);
  useEffect(() => onRun(runId, (events) => setTranscript((before) => reduceTranscript(before, events))), [runId]);
  return (
    <div className="transcript-tab">
      <TranscriptView items={transcript.items} />
    </div>
  );
}
