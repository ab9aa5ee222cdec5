import { useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { PlanShown } from '../../src/client/routes/plans.ts';
import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction, useData } from '../data/use-data.ts';
import { Button, CopyButton, SureButton } from '../parts/button.tsx';
import { Page, Waiting } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';
import { Progress } from './list.tsx';
import { Planning } from './planning.tsx';
import { ReplanDialog, ReplanResult } from './replan.tsx';
import { Steps } from './steps.tsx';
import { isGoing, usePlanning, usePlannings } from './use-planning.ts';
import '../styles/plans.css';

/** One plan: its goal, its steps, and what can be done with it (09 §8.8). */
export function PlanPage({ name }: { readonly name: string }) {
  const data = useData(`plan ${name}`, () => client.getPlan({ name }), { topics: ['plans', 'approvals'] });
  // Deleted elsewhere while it is shown, too: nothing of what could be done with it is left.
  if (data.error?.code === 'not_found') {
    return (
      <Page title={name} actions={<Link href="/plans">All plans</Link>}>
        <ErrorNote error={data.error} />
      </Page>
    );
  }
  if (data.value === null) return <Waiting title={name} data={data} />;
  return <Loaded data={data}>{(plan) => <Plan plan={plan as PlanShown} reload={data.reload} />}</Loaded>;
}

type Step = PlanShown['steps'][number];

function Plan({ plan, reload }: { readonly plan: PlanShown; readonly reload: () => void }) {
  const { name } = plan;
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState(false);
  const [begun, setBegun] = useState<string | null>(null);
  // Begun before the page was loaded, or in another one. It stays when it is over, to say what has become of it.
  const found = usePlannings().find((one) => one.plan === name)?.run_id;
  const [over, setOver] = useState<string | null>(null);
  if (found !== undefined && found !== begun && found !== over) setBegun(found);
  const planning = usePlanning(begun);
  const [before, setBefore] = useState<readonly Step[] | null>(null);
  const acted = useRef<readonly Step[]>(plan.steps);
  const act = useAction(async (what: () => Promise<unknown>) => {
    await what();
    reload();
    return true;
  });
  // It is not kept waiting by what it is to stop.
  const stop = useAction(async () => {
    await client.stopPlan({ name });
    reload();
  });
  // What was in the way is shown by the plan, and may be over: a step that runs elsewhere, or was skipped there.
  const wasInTheWay = useRef(false);
  wasInTheWay.current = act.error?.code === 'conflict';
  const { clear } = act;
  const { updated_at } = plan;
  useEffect(() => {
    void updated_at;
    if (wasInTheWay.current) clear();
  }, [updated_at, clear]);
  const doIt = (what: () => Promise<unknown>) => void act.run(what);
  const open = plan.steps.some(({ status }) => status === 'pending');
  const held = plan.steps.find(
    ({ status, interrupted }) => (status === 'running' && !interrupted) || status === 'waiting',
  );
  const failed = plan.steps.some(({ status }) => status === 'failed');
  const canRun = held === undefined && !failed && (open || plan.steps.some(({ interrupted }) => interrupted));
  const onPlanned = useCallback(() => {
    setOver(begun);
    setBegun(null);
    setBefore(acted.current);
    reload();
  }, [begun, reload]);
  return (
    <Page
      title={name}
      actions={
        <>
          <Button
            look="primary"
            disabled={!canRun}
            busy={act.busy}
            onClick={() => doIt(() => client.postNext({ name }))}
          >
            Run next
          </Button>
          <Button disabled={!canRun} busy={act.busy} onClick={() => doIt(() => client.postNext({ name, auto: true }))}>
            Run all
          </Button>
          <Button
            look="danger"
            disabled={held === undefined && !plan.auto}
            busy={stop.busy}
            onClick={() => void stop.run()}
          >
            Stop
          </Button>
          <Button disabled={held !== undefined || isGoing(begun, planning)} onClick={() => setAsking(true)}>
            Replan…
          </Button>
        </>
      }
    >
      <div className="panel stack tight">
        <p className="wrap">
          <Safe text={plan.goal} mode="prose" />
        </p>
        <div className="row spread">
          <Progress done={plan.done} total={plan.total} />
          <span className="row">
            {plan.auto ? <span className="tag good">the steps follow one another</span> : null}
            {plan.active ? (
              <span className="tag accent">active plan</span>
            ) : (
              <Button size="small" busy={act.busy} onClick={() => doIt(() => client.activatePlan({ name }))}>
                Make it the active plan
              </Button>
            )}
            <CopyButton text={plan.markdown} label="Copy as Markdown" />
            <SureButton
              size="small"
              word="Delete"
              sureWord="Really delete it?"
              disabled={held !== undefined}
              busy={act.busy}
              onSure={() => {
                const lead = leadOn();
                void act.run(() => client.removePlan({ name })).then((done) => done && lead(() => navigate('/plans')));
              }}
            />
          </span>
        </div>
      </div>
      {act.error === null ? null : <ErrorNote error={act.error} />}
      {stop.error === null ? null : <ErrorNote error={stop.error} />}
      {begun === null ? null : <Planning key={begun} data={planning} onPlan={onPlanned} />}
      {before === null ? null : <ReplanResult before={before} after={plan.steps} onClose={() => setBefore(null)} />}
      <Steps
        steps={plan.steps}
        busy={act.busy}
        onRetry={(ordinal) => doIt(() => client.postRetry({ name, ordinal }))}
        onSkip={(ordinal) => doIt(() => client.postSkip({ name, ordinal }))}
      />
      {asking ? (
        <ReplanDialog
          name={name}
          onClose={() => setAsking(false)}
          onBegun={(runId) => {
            acted.current = plan.steps;
            setBefore(null);
            setAsking(false);
            setBegun(runId);
          }}
        />
      ) : null}
    </Page>
  );
}
