import { type FormEvent, useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import type { PlanningShown } from '../../src/client/routes/plans.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/field.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { Planning } from './planning.tsx';

const goalKey = 'draft:plan-goal';

/** The goal of a new plan. It stays in the form until there is a plan. */
export function NewPlan({ onClose }: { readonly onClose: (() => void) | null }) {
  const [goal, setGoal] = useState(() => sessionStorage.getItem(goalKey) ?? '');
  const [explore, setExplore] = useState(false);
  const [runId, setRunId] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const start = useAction(() => client.postPlan({ goal, explore }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunId(null);
    const begun = await start.run();
    if (begun === null) return;
    if ('run_id' in begun) setRunId(begun.run_id);
    else navigate(`/plans/${begun.name}`);
  };
  const onPlan = useCallback(
    ({ plan }: PlanningShown) => {
      sessionStorage.removeItem(goalKey);
      if (plan !== null) navigate(`/plans/${plan}`);
    },
    [navigate],
  );
  return (
    <form className="panel stack" onSubmit={(event) => void submit(event)} aria-label="New plan">
      <AreaField
        label="What is to be reached?"
        rows={4}
        value={goal}
        onChange={(event) => {
          setGoal(event.target.value);
          sessionStorage.setItem(goalKey, event.target.value);
        }}
        hint="A planner turns it into steps. Nothing runs before you say so."
      />
      <label className="row">
        <input type="checkbox" checked={explore} onChange={(event) => setExplore(event.target.checked)} />
        Look at the workspace first
      </label>
      {start.error === null ? null : <ErrorNote error={start.error} />}
      <div className="row">
        <Button submit look="primary" busy={start.busy} disabled={goal.trim() === ''}>
          Plan it
        </Button>
        {onClose === null ? null : <Button onClick={onClose}>Close</Button>}
      </div>
      {runId === null ? null : <Planning key={runId} runId={runId} onPlan={onPlan} />}
    </form>
  );
}
