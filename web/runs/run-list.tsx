import { Link } from 'wouter';
import type { RunSummary } from '../../src/schema/run-record.ts';
import { runStatuses } from '../../src/schema/run.ts';
import { escapeText } from '../../src/view/escape.ts';
import { formatAge, formatCount } from '../../src/view/format.ts';
import { runTitle } from '../../src/view/run-title.ts';
import { client } from '../data/client.ts';
import { usePages } from '../data/use-pages.ts';
import { useChoice } from '../data/use-query.ts';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { RunSpan } from './run-span.tsx';

const looks: Readonly<Record<RunSummary['status'], string>> = {
  queued: '',
  running: 'accent',
  waiting: 'warn',
  suspended: 'warn',
  interrupted: 'warn',
  completed: 'good',
  exhausted: 'warn',
  failed: 'danger',
  cancelled: '',
};

export const StatusTag = ({ status }: { readonly status: RunSummary['status'] }) => (
  <span className={`tag ${looks[status]}`}>{status}</span>
);

/** Where a run came from, in words. */
const originOf = (run: RunSummary): string =>
  run.session !== null
    ? // A name that was given says it already.
      run.session.startsWith('session-')
      ? run.session
      : `session ${run.session}`
    : run.plan !== null
      ? `plan ${run.plan}`
      : run.kind.replaceAll('_', ' ');

/** One line of its row, however long it is; the page of the run says all of it. */
const Short = ({ text }: { readonly text: string }) => (
  <span className="short" title={escapeText(text, { mode: 'line' })}>
    <Safe text={text} />
  </span>
);

const columns: readonly Column<RunSummary>[] = [
  { label: 'Status', cell: (run) => <StatusTag status={run.status} /> },
  {
    label: 'Run',
    cell: (run) => (
      <Link href={`/runs/${run.id}`} className="run-link">
        <Safe text={runTitle(run).slice(0, 120) || `${run.kind.replaceAll('_', ' ')} ${run.id.slice(-8)}`} />
      </Link>
    ),
  },
  { label: 'From', spare: true, cell: (run) => <Short text={originOf(run)} /> },
  { label: 'Chain', spare: true, cell: (run) => <Short text={run.chain.id} /> },
  {
    label: 'Started',
    brief: true,
    cell: (run) => (
      <time dateTime={run.created_at} title={run.created_at}>
        {formatAge(Date.now() - Date.parse(run.created_at))}
      </time>
    ),
  },
  { label: 'Took', right: true, cell: (run) => <RunSpan run={run} /> },
  { label: 'Tokens', right: true, cell: (run) => formatCount(run.usage.input_tokens + run.usage.output_tokens) },
  { label: 'Calls', right: true, cell: (run) => run.num_tool_calls },
  { label: 'Denied', right: true, cell: (run) => run.num_denials },
  { label: 'Asks', right: true, cell: (run) => run.asks.length },
];

/** Every run, newest first, live (09 §8.9). */
export function RunList() {
  const [status, setStatus] = useChoice('status', ['', ...runStatuses], '');
  const wanted = status === '' ? undefined : status;
  const runs = usePages(`runs ${wanted}`, 100, (page) => client.pageRuns({ status: wanted, ...page }), {
    topics: ['runs', 'approvals'],
  });
  return (
    <Page
      title="Runs"
      actions={
        <select
          className="input"
          aria-label="Status"
          data-filter
          value={status}
          onChange={(event) => setStatus(event.target.value)}
        >
          <option value="">every status</option>
          {runStatuses.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      }
    >
      <Loaded data={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty action={<Link href="/chat">Start a chat</Link>}>
              A run is one piece of work of a model: what it said, which tools it called, and what was decided of each.
            </Empty>
          ) : (
            <>
              <Table caption="Runs" dense columns={columns} rows={items} keyOf={({ id }) => id} />
              <More list={runs} word="Older ones" />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
