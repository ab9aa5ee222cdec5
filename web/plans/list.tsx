import { useState } from 'react';
import { Link } from 'wouter';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { usePages } from '../data/use-pages.ts';
import { useChoice } from '../data/use-query.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { SelectField } from '../parts/field.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';
import { begunHere, NewPlan } from './new-plan.tsx';
import '../styles/plans.css';

/** How much of a plan is done, in words and as a bar. */
export const Progress = ({ done, total }: { readonly done: number; readonly total: number }) => (
  <span className="progress">
    <progress value={done} max={Math.max(1, total)} aria-label={`${done} of ${total} steps done`} />
    <span className="small muted">
      {done} of {total}
    </span>
  </span>
);

const choices = [
  ['', 'all'],
  ['active', 'not finished'],
  ['completed', 'completed'],
  ['archived', 'put aside'],
] as const;

/** Every plan with its progress, and the form for another (09 §8.8). */
export function PlanList() {
  const [status, setStatus] = useChoice(
    'status',
    choices.map(([value]) => value),
    '',
  );
  const [making, setMaking] = useState(() => begunHere.get() !== null);
  const [wanted, setWanted] = useState(0);
  const data = usePages(
    `plans ${status}`,
    100,
    (page) => client.pagePlans(status === '' ? page : { ...page, status }),
    { topics: ['plans'] },
  );
  const clean = useAction(() => client.removeDonePlans({}));
  const none = data.value?.items.length === 0 && status === '';
  // The form stays while the first plan comes into the list: it leads to its page.
  if (none && !making) setMaking(true);
  return (
    <Page
      title="Plans"
      actions={
        <>
          {data.value?.items.some((plan) => plan.status !== 'active') === true ? (
            <SureButton
              word="Remove finished"
              sureWord="Really remove them?"
              busy={clean.busy}
              onSure={() => void clean.run().then(data.reload)}
            />
          ) : null}
          <Button
            look="primary"
            onClick={() => {
              setMaking(true);
              setWanted(wanted + 1);
            }}
          >
            New plan
          </Button>
        </>
      }
    >
      {clean.error === null ? null : <ErrorNote error={clean.error} />}
      {making ? <NewPlan wanted={wanted} onClose={none ? null : () => setMaking(false)} /> : null}
      <div className="filter">
        <SelectField
          label="Show"
          data-filter=""
          value={status}
          onChange={(event) => setStatus(event.target.value)}
          options={choices}
        />
      </div>
      <Loaded data={data}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>A plan is a goal as a list of steps, each of which an agent carries out in a run of its own.</Empty>
          ) : (
            <>
              <ul className="cards" aria-label="Plans">
                {items.map((plan) => (
                  <li key={plan.id} className="panel stack tight">
                    <div className="row spread">
                      <Link href={`/plans/${plan.name}`} className="wrap">
                        {plan.name}
                      </Link>
                      <span className="row">
                        {plan.active ? <span className="tag accent">active</span> : null}
                        {plan.auto ? <span className="tag good">running all</span> : null}
                        <span className="tag">{plan.status === 'active' ? 'not finished' : plan.status}</span>
                      </span>
                    </div>
                    <p className="wrap">
                      <Safe text={plan.goal.split('\n', 1)[0] ?? ''} />
                    </p>
                    <Progress done={plan.done} total={plan.total} />
                  </li>
                ))}
              </ul>
              <More list={data} word="Older ones" />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
