import { useEffect } from 'react';
import type { PlanningShown } from '../../src/client/routes/plans.ts';
import { client } from '../data/client.ts';
import { type Data, useAction } from '../data/use-data.ts';
import { SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';
import { useRunText } from './use-run-text.ts';

const phases = {
  explore: 'Looking at the workspace…',
  plan: 'Planning…',
  repair: 'Planning once more: the first answer could not be used…',
} as const;

/** How a planning goes: what the planner writes, and what became of it. */
export function Planning({
  data,
  onPlan,
}: {
  readonly data: Data<PlanningShown>;
  /** The plan that came of it. */
  readonly onPlan: (state: PlanningShown) => void;
}) {
  const stop = useAction((id: string) => client.endRun({ id, reason: 'the planning was stopped' }));
  const state = data.value;
  const text = useRunText(state?.run_id ?? null);
  useEffect(() => {
    if (state?.state === 'done') onPlan(state);
  }, [state, onPlan]);
  return (
    <Loaded data={data}>
      {({ state: how, phase, run_id, warnings, error, question }) => (
        <div className="panel stack tight">
          {how === 'running' ? (
            <div className="row spread">
              <p role="status">{phases[phase]}</p>
              <SureButton
                size="small"
                word="Stop planning"
                sureWord="Really stop it?"
                busy={stop.busy}
                onSure={() => void stop.run(run_id)}
              />
            </div>
          ) : null}
          {how !== 'running' || stop.error === null ? null : <ErrorNote error={stop.error} />}
          {warnings.map((warning) => (
            <p key={warning} className="note warn">
              <Safe text={warning} />
            </p>
          ))}
          {question === null ? null : (
            <p className="note" role="status">
              The planner asks: <Safe text={question} />
            </p>
          )}
          {error === null ? null : (
            <div className="note danger stack tight" role="alert">
              <p>
                <Safe text={error.message} />
              </p>
              {error.answer === null ? null : (
                <pre className="wrap small">
                  <Safe text={error.answer} mode="prose" />
                </pre>
              )}
            </div>
          )}
          {how === 'running' && text !== '' ? (
            <pre className="wrap small muted">
              <Safe text={text} mode="prose" />
            </pre>
          ) : null}
        </div>
      )}
    </Loaded>
  );
}
