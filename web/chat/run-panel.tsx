import { memo } from 'react';
import { Link } from 'wouter';
import type { RunRecord } from '../../src/schema/run-record.ts';
import type { Data } from '../data/use-data.ts';
import { Loaded } from '../parts/states.tsx';
import { Bounds } from '../runs/bounds.tsx';
import { queueWords } from '../runs/use-run.ts';
import { RunPicture } from '../runs/run-picture.tsx';
import { RunSpan } from '../runs/run-span.tsx';

type RunPanelProps = { readonly runId: string | null; readonly run: Data<RunRecord> };

/**
 * Beside a chat on a wide screen: the newest run as a picture, and what it has used of its bounds. It changes with its
 * run, not with each delta of an answer.
 */
export const RunPanel = memo(({ runId, run }: RunPanelProps) => {
  return (
    <aside className="run-panel" aria-label="The run">
      {runId === null ? (
        <p className="muted small">The run of the newest message appears here.</p>
      ) : (
        <Loaded data={run} beside>
          {(shown) => (
            <div className="stack">
              <p className="row">
                <Link href={`/runs/${shown.id}`}>Run</Link>
                <span className="tag">{shown.status === 'queued' ? queueWords(shown) : shown.status}</span>
                <span className="small muted">
                  <RunSpan run={shown} />
                </span>
              </p>
              <RunPicture run={shown} compact />
              <Bounds run={shown} />
            </div>
          )}
        </Loaded>
      )}
    </aside>
  );
});
