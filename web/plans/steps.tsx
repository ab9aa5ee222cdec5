import { Link } from 'wouter';
import type { PlanStep } from '../../src/schema/plan.ts';
import { stepMark, stepResult } from '../../src/view/plan-lines.ts';
import { AskCard } from '../approvals/ask-card.tsx';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty } from '../parts/states.tsx';
import { queueWords, useRun } from '../runs/use-run.ts';
import { useRunText } from './use-run-text.ts';

const looks: Readonly<Record<PlanStep['status'], string>> = {
  pending: '',
  running: 'accent',
  waiting: 'warn',
  completed: 'good',
  failed: 'danger',
  skipped: '',
};

/** The steps of a plan, one below the other. */
export function Steps({
  steps,
  busy,
  onRetry,
  onSkip,
}: {
  readonly steps: readonly PlanStep[];
  readonly busy: boolean;
  readonly onRetry: (ordinal: number) => void;
  readonly onSkip: (ordinal: number) => void;
}) {
  if (steps.length === 0) return <Empty>The plan has no steps.</Empty>;
  return (
    <ol className="steps" aria-label="Steps">
      {steps.map((step) => (
        <Step key={step.id} step={step} busy={busy} onRetry={onRetry} onSkip={onSkip} />
      ))}
    </ol>
  );
}

function Step({
  step,
  busy,
  onRetry,
  onSkip,
}: {
  readonly step: PlanStep;
  readonly busy: boolean;
  readonly onRetry: (ordinal: number) => void;
  readonly onSkip: (ordinal: number) => void;
}) {
  const { ordinal, status, interrupted, description, run_id, ask_id } = step;
  const live = (status === 'running' && !interrupted) || status === 'waiting';
  const result = stepResult(step);
  const shown = interrupted ? 'interrupted' : ask_id !== null ? 'waits for you' : status;
  return (
    <li className={`step ${live ? 'live' : ''}`}>
      <span className="mono step-mark" aria-hidden="true">
        {stepMark(step)}
      </span>
      <div className="stack tight grow">
        <div className="row spread">
          <strong className="wrap">
            {ordinal}. <Safe text={description} mode="prose" />
          </strong>
          {live && ask_id === null && run_id !== null ? <Queued runId={run_id} /> : null}
          <span className={`tag ${interrupted || ask_id !== null ? 'warn' : looks[status]}`}>{shown}</span>
        </div>
        {result === '' || ask_id !== null ? null : (
          <p className="wrap muted">
            <Safe text={result} mode="prose" />
          </p>
        )}
        {live && run_id !== null ? <LiveText runId={run_id} /> : null}
        {ask_id === null ? null : <AskCard key={ask_id} id={ask_id} />}
        <div className="row small">
          {run_id === null ? null : <Link href={`/runs/${run_id}`}>Run</Link>}
          {step.attempts > 1 ? <span className="muted">attempt {step.attempts}</span> : null}
          {live || (status === 'pending' && !interrupted) ? null : (
            <Button size="small" busy={busy} onClick={() => onRetry(ordinal)}>
              Retry<span className="sr"> step {ordinal}</span>
            </Button>
          )}
          {status === 'pending' || status === 'failed' || status === 'waiting' || interrupted ? (
            <Button size="small" busy={busy} onClick={() => onSkip(ordinal)}>
              Skip<span className="sr"> step {ordinal}</span>
            </Button>
          ) : null}
        </div>
      </div>
    </li>
  );
}

/** Its run has not begun: other runs of the server are ahead of it. */
function Queued({ runId }: { readonly runId: string }) {
  const { value } = useRun(runId);
  return value?.status === 'queued' ? <span className="tag">{queueWords(value)}</span> : null;
}

function LiveText({ runId }: { readonly runId: string }) {
  const text = useRunText(runId);
  if (text === '') return null;
  return (
    <pre className="wrap small step-text">
      <Safe text={text} mode="prose" />
    </pre>
  );
}
