import { Link } from 'wouter';
import { canGoOn } from '../../src/schema/run.ts';
import type { RunRecord } from '../../src/schema/run-record.ts';
import { instructionsLine } from '../../src/view/instructions-line.ts';
import { stuckText } from '../../src/view/stuck-text.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { useChoice } from '../data/use-query.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Page } from '../parts/page.tsx';
import { Fact } from '../parts/fact.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote, Loaded } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Bounds } from './bounds.tsx';
import { CallsTab } from './calls-tab.tsx';
import { EventsTab } from './events-tab.tsx';
import { FilesTab } from './files-tab.tsx';
import { Queued } from './queued.tsx';
import { StatusTag } from './run-list.tsx';
import { StepsTab } from './steps-tab.tsx';
import { TimelineTab } from './timeline-tab.tsx';
import { TranscriptTab } from './transcript-tab.tsx';
import { useRun } from './use-run.ts';
import { RunSpan } from './run-span.tsx';

const tabs = [
  { id: 'timeline', label: 'Timeline' },
  { id: 'transcript', label: 'Transcript' },
  { id: 'steps', label: 'Steps' },
  { id: 'calls', label: 'Calls' },
  { id: 'files', label: 'Files' },
  { id: 'io', label: 'Input and output' },
  { id: 'events', label: 'Raw events' },
] as const;

/** One run (09 §8.9). */
export function RunPage({ id }: { readonly id: string }) {
  const [tab, setTab] = useChoice(
    'tab',
    tabs.map(({ id }) => id),
    'timeline',
  );
  const run = useRun(id);
  return (
    <Page
      title="Run"
      actions={
        <>
          {run.value === null ? null : <RunActs run={run.value} reload={run.reload} />}
          <Link href="/runs">All runs</Link>
        </>
      }
    >
      <Loaded data={run}>
        {(shown) => (
          <>
            <Head run={shown} />
            <Tabs label="About the run" tabs={tabs} selected={tab} onSelect={setTab}>
              {tab === 'timeline' ? <TimelineTab run={shown} /> : null}
              {tab === 'transcript' ? <TranscriptTab runId={shown.id} /> : null}
              {tab === 'steps' ? <StepsTab runId={shown.id} /> : null}
              {tab === 'calls' ? <CallsTab runId={shown.id} /> : null}
              {tab === 'files' ? <FilesTab runId={shown.id} ended={shown.ended_at !== null} /> : null}
              {tab === 'io' ? <InputOutput run={shown} /> : null}
              {tab === 'events' ? <EventsTab runId={shown.id} /> : null}
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function RunActs({ run, reload }: { readonly run: RunRecord; readonly reload: () => void }) {
  const cancel = useAction(() => client.endRun({ id: run.id }));
  const resume = useAction(() => client.continueRun({ id: run.id }));
  const error = cancel.error ?? resume.error;
  if (run.ended_at !== null) return null;
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      {canGoOn(run) && run.waiting_on === null ? (
        <Button look="primary" busy={resume.busy} onClick={() => void resume.run().then(reload)}>
          Resume
        </Button>
      ) : null}
      <SureButton
        word="Cancel"
        sureWord="Really cancel it?"
        busy={cancel.busy}
        onSure={() => void cancel.run().then(reload)}
      />
    </>
  );
}

function Head({ run }: { readonly run: RunRecord }) {
  const stuck = stuckText(run);
  return (
    <div className="panel run-head">
      <div className="stack tight grow">
        <p className="row">
          <StatusTag status={run.status} />
          <span className="mono small wrap">{run.id}</span>
          <span className="muted small">
            <RunSpan run={run} />
          </span>
          {run.waiting_on === null ? null : <Link href={`/approvals/${run.waiting_on}`}>Answer what it waits for</Link>}
        </p>
        {run.status === 'queued' ? (
          <p className="small">
            <Queued run={run} />
          </p>
        ) : null}
        <p className="wrap">
          <Safe text={run.input} mode="prose" />
        </p>
        {run.error === null ? null : (
          <p className="note danger">
            <b>{run.error.class}</b>: <Safe text={run.error.message} mode="prose" />
          </p>
        )}
        {stuck === null ? null : (
          <p className="note danger">
            <Safe text={stuck} mode="prose" />
          </p>
        )}
      </div>
      <dl className="facts small">
        <Fact label="policy">
          <Safe text={run.policy.name} /> <span className="mono">{run.policy.sha256?.slice(0, 8)}</span>
        </Fact>
        <Fact label="model">
          <Safe text={`${run.model ?? '-'}${run.backend === null ? '' : ` of ${run.backend}`}`} />
        </Fact>
        <Fact label="chain">
          <Safe text={run.chain.id} />
        </Fact>
        {(run.instructions ?? []).map((file) => (
          <Fact key={file.source} label="agents">
            <Safe text={instructionsLine(file)} />
          </Fact>
        ))}
        {run.session === null ? null : (
          <Fact label="session">
            <Link href={`/chat/${encodeURIComponent(run.session)}`}>
              <Safe text={run.session} />
            </Link>
          </Fact>
        )}
      </dl>
      <Bounds run={run} />
    </div>
  );
}

const InputOutput = ({ run }: { readonly run: RunRecord }) => (
  <>
    <h2>Input</h2>
    <CodeBlock text={run.input} label="Input" />
    <h2>Output</h2>
    {run.result === '' ? <p className="muted">None.</p> : <CodeBlock text={run.result} label="Output" lines={400} />}
  </>
);
