import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { PlanningShown } from '../../src/client/routes/plans.ts';
import { client } from '../data/client.ts';
import { keptInTab } from '../data/kept-in-tab.ts';
import { useStore } from '../data/store.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/field.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { Planning } from './planning.tsx';
import { isGoing, usePlanning, usePlannings } from './use-planning.ts';

const goalKey = 'draft:plan-goal';
/** The planning that was begun in this tab: a page that is loaded again goes on with it. */
export const begunHere = keptInTab<string | null>('planning', null, (kept) => (typeof kept === 'string' ? kept : null));

/**
 * The goal of a new plan. It stays in the form until there is a plan.
 * @param wanted how often somebody has asked for the form, who wants to write then
 */
export function NewPlan({ wanted, onClose }: { readonly wanted: number; readonly onClose: (() => void) | null }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (wanted > 0) field.current?.focus();
  }, [wanted]);
  const [goal, setGoal] = useState(() => sessionStorage.getItem(goalKey) ?? '');
  const [explore, setExplore] = useState(false);
  const runId = useStore(begunHere);
  const planning = usePlanning(runId);
  /** Somebody has waited here for what comes of it. */
  const isAwaited = useRef(false);
  if (planning.value?.state === 'running') isAwaited.current = true;
  const [, navigate] = useLocation();
  const start = useAction(() => client.postPlan({ goal, explore }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    begunHere.set(null);
    const begun = await start.run();
    if (begun === null) return;
    isAwaited.current = true;
    if ('run_id' in begun) begunHere.set(begun.run_id);
    else navigate(`/plans/${begun.name}`);
  };
  const onPlan = useCallback(
    ({ plan }: PlanningShown) => {
      begunHere.set(null);
      sessionStorage.removeItem(goalKey);
      setGoal('');
      if (plan !== null && isAwaited.current) navigate(`/plans/${plan}`);
    },
    [navigate],
  );
  const close = () => {
    if (!going) begunHere.set(null);
    onClose?.();
  };
  const going = isGoing(runId, planning);
  const same = usePlannings().find((one) => one.run_id !== runId && one.goal === goal.trim());
  // Another window was quicker with the same goal: what it plans is what was wanted here.
  const { error, clear } = start;
  const quicker = error?.code === 'conflict' ? same?.run_id : undefined;
  useEffect(() => {
    if (quicker === undefined) return;
    clear();
    isAwaited.current = true;
    begunHere.set(quicker);
  }, [quicker, clear]);
  return (
    <form className="panel stack" onSubmit={(event) => void submit(event)} aria-label="New plan">
      <AreaField
        ref={field}
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
      {error === null ? null : <ErrorNote error={error} />}
      <div className="row">
        <Button submit look="primary" busy={start.busy} disabled={goal.trim() === '' || going || same !== undefined}>
          Plan it
        </Button>
        {onClose === null ? null : <Button onClick={close}>Close</Button>}
      </div>
      {same !== undefined ? (
        <p className="muted" role="status">
          This goal is being planned already: the plan comes into the list below.
        </p>
      ) : null}
      {runId === null ? null : <Planning key={runId} data={planning} onPlan={onPlan} />}
    </form>
  );
}
