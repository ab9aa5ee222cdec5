import { Link } from 'wouter';
import { runTitle } from '../../src/view/run-title.ts';
import { stuckText } from '../../src/view/stuck-text.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { useRestingRuns } from '../runs/use-resting-runs.ts';

/** Runs that rest and wait for nobody: one line each, with a way to go on (09 §8.6). */
export function RestingRuns() {
  const runs = useRestingRuns();
  const resume = useAction((id: string) => client.continueRun({ id }));
  if (runs.value === null || runs.value.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Runs that rest">
      <h2>Runs that rest</h2>
      {resume.error === null ? null : <ErrorNote error={resume.error} />}
      {runs.value.map((run) => (
        <p key={run.id} className="note row">
          <Link href={`/runs/${run.id}`} className="mono">
            {run.id}
          </Link>
          <span className="tag warn">{run.status}</span>
          <span className="resting-input cut">
            <Safe text={runTitle(run)} />
          </span>
          <Button size="small" busy={resume.busy} onClick={() => void resume.run(run.id).then(runs.reload)}>
            Resume
          </Button>
          <Stuck why={stuckText(run)} />
        </p>
      ))}
    </section>
  );
}

const Stuck = ({ why }: { readonly why: string | null }) =>
  why === null ? null : (
    <span className="resting-why wrap">
      <Safe text={why} />
    </span>
  );
