import { Link, useLocation } from 'wouter';
import type { SetupStatus } from '../../src/schema/registry.ts';
import type { Known } from '../../src/schema/shape.ts';
import { plural, tellTimes } from '../../src/view/format.ts';
import { gravestFirst } from '../../src/view/issue-order.ts';
import { knowsModels, modelsNotAsked } from '../../src/view/known-models.ts';
import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction, useData } from '../data/use-data.ts';
import { changesSetup } from '../frame/everywhere.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Fact } from '../parts/fact.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';
import '../styles/setup.css';

type Status = Known<typeof SetupStatus>;
const looks = { error: 'danger', warning: 'warn', info: '' } as const;

/** What is ready and what is not, and the four steps to a first answer (09 §8.15). */
export function SetupPage() {
  const data = useData('setup', () => client.getSetupStatus({}), {
    topics: ['setup', 'documents', 'approvals', 'runs'],
    when: changesSetup,
  });
  const refresh = useAction(() => client.refreshSetupStatus({}));
  return (
    <Page
      title="Set-up"
      actions={
        <Button busy={refresh.busy} onClick={() => void refresh.run().then(data.reload)}>
          Check again
        </Button>
      }
    >
      {refresh.error === null ? null : <ErrorNote error={refresh.error} />}
      <Loaded data={data}>
        {(status) => (
          <>
            <FirstSteps status={status} />
            <Issues status={status} />
            <Backends status={status} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Model, tools, model, until it answers: a workspace may have no chain of its own yet. */
const demoChain = JSON.stringify({
  id: 'demo',
  tasks: [
    {
      id: 'work',
      handler: 'chat_completion',
      execute_config: { model: '{{var:model}}', tools: ['*'] },
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'run_tools' },
        ],
      },
    },
    {
      id: 'run_tools',
      handler: 'execute_tool_calls',
      input_var: 'work',
      transition: { branches: [{ operator: 'default', goto: 'work' }] },
    },
  ],
});

/** `at`: the page on which it is done; absent where it is done in the terminal. */
type Step = { readonly words: string; readonly done: boolean; readonly at?: string };

function FirstSteps({ status }: { readonly status: Status }) {
  const [, navigate] = useLocation();
  const demo = useAction(() =>
    client.postRun({
      ...{ input: 'Write a note.', input_type: 'string', provider: 'scripted', model: 'demo' },
      chain_document: demoChain,
    }),
  );
  const own = status.backendChecks.filter(({ type }) => type !== 'scripted');
  // Those that a message goes to, where that is known.
  const ofDefault = own.filter(({ defaultProvider }) => defaultProvider);
  const asked = ofDefault.length > 0 ? ofDefault : own;
  const chats = useData('first message', () => client.pageSessions({ limit: 50 }), { topics: ['runs'] });
  const hasSpoken = chats.value?.items.some(({ message_count: count }) => count > 0) ?? false;
  // Its chains, and so its chats, are those of the directory that the server found when it began.
  const homeless = status.issues.some(({ code, severity }) => code === 'no_project' && severity === 'error');
  const steps: readonly Step[] = [
    ...(homeless ? [{ words: 'Run “reins init” in this directory, and start the server again', done: false }] : []),
    { words: 'Choose a provider and register it', done: own.length > 0, at: '/backends?add=1' },
    {
      words: 'Check that it answers',
      done: asked.length > 0 && asked.every(({ reachable }) => reachable),
      at: '/backends',
    },
    {
      words: 'Choose the default model',
      done: status.defaultModelSource !== 'builtin' && status.defaultModel !== '',
      at: '/models',
    },
    { words: 'Send a first message', done: hasSpoken, at: '/chat' },
  ];
  const next = steps.findIndex(({ done }) => !done);
  if (status.ready && !homeless) {
    return (
      <p className="note good row">
        Everything is ready. <Link href="/chat">Go to the chat</Link>
      </p>
    );
  }
  return (
    <section className="panel stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol className="first-steps">
        {steps.map(({ words, done, at }, index) => (
          <li key={words} aria-current={index === next ? 'step' : undefined}>
            <span className={`tag ${done ? 'good' : index === next ? 'accent' : ''}`}>
              {done ? 'done' : `step ${index + 1}`}
            </span>
            {index === next && at !== undefined ? (
              <Link href={at}>{words}</Link>
            ) : (
              <span className={done ? 'muted' : ''}>{words}</span>
            )}
          </li>
        ))}
      </ol>
      <div className="row">
        <Button
          busy={demo.busy}
          onClick={() => {
            const lead = leadOn();
            void demo.run().then((begun) => begun !== null && lead(() => navigate(`/runs/${begun.run_id}`)));
          }}
        >
          Try without a model
        </Button>
        <span className="muted small">A demonstration from a script; nothing of it is made by a model.</span>
      </div>
      {demo.error === null ? null : <ErrorNote error={demo.error} />}
    </section>
  );
}

function Issues({ status: { issues } }: { readonly status: Status }) {
  if (issues.length === 0) return <p className="muted">No check found a fault.</p>;
  return (
    <ul className="cards" aria-label="Issues">
      {gravestFirst(issues).map(({ code, severity, message, cliCommand, fixPath, subject }) => (
        <li key={`${code} ${subject ?? ''}`} className="panel stack tight">
          <div className="row">
            <span className={`tag ${looks[severity]}`}>{severity}</span>
            <span className="wrap grow readable">
              <Safe text={tellTimes(message, Date.now())} />
            </span>
            {fixPath === null ? null : <Link href={fixPath}>Fix it here</Link>}
          </div>
          {cliCommand === null ? null : (
            <div className="row">
              <code className="wrap grow">
                <Safe text={cliCommand} />
              </code>
              <CopyButton text={cliCommand} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

function Backends({ status }: { readonly status: Status }) {
  return (
    <section className="panel stack tight" aria-label="Checks">
      <h2>Checks</h2>
      <dl className="facts">
        <Fact label="Default model">
          <Safe text={`${status.defaultModel || 'none'} (${status.defaultModelSource})`} />
        </Fact>
        <Fact label="Policy">{status.hitlPolicyName || 'none named'}</Fact>
        {status.backendChecks.map(({ id, name, status: state, latencyMs, modelCount, error }) => (
          <div className="facts-row" key={id}>
            <dt>
              <Safe text={name} />
            </dt>
            <dd>
              <span className={`tag ${state === 'ready' ? 'good' : state === 'error' ? 'danger' : ''}`}>{state}</span>{' '}
              {error === null ? (
                state === 'pending' ? (
                  'not asked yet'
                ) : knowsModels(modelCount, latencyMs) ? (
                  `${plural(modelCount, 'model')}${latencyMs === null ? '' : `, ${latencyMs} ms`}`
                ) : (
                  modelsNotAsked
                )
              ) : (
                <Safe text={error} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p className="small muted">
        checked at <time dateTime={status.checkedAt}>{new Date(status.checkedAt).toLocaleString()}</time>
      </p>
    </section>
  );
}
