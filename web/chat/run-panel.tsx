import { Link } from 'wouter';
import { formatSpan } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Loaded } from '../parts/states.tsx';
import { Bounds } from '../runs/bounds.tsx';
import { RunPicture } from '../runs/run-picture.tsx';

/** Beside a chat on a wide screen: the newest run as a picture, and what it has used of its bounds. */
export function RunPanel({ runId }: { readonly runId: string | null }) {
  const run = useData(runId === null ? null : `run ${runId}`, () => client.getRun({ id: runId ?? '' }), {
    topics: ['runs', 'approvals'],
    when: (entry) => entry.run_id === runId,
  });
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
                <span className="tag">{shown.status}</span>
                <span className="small muted">{formatSpan(shown.duration_ms)}</span>
              </p>
              <RunPicture run={shown} compact />
              <Bounds run={shown} />
            </div>
          )}
        </Loaded>
      )}
    </aside>
  );
}
