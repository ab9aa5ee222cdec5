import type { RunCall } from '../../src/schema/run-record.ts';
import { callSummary } from '../../src/view/call-summary.ts';
import { formatSpan } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { usePages } from '../data/use-pages.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock, JsonBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { More } from '../parts/more.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';

const looks: Readonly<Record<RunCall['state'], string>> = {
  planned: '',
  started: 'accent',
  done: 'good',
  failed: 'danger',
  unknown: 'warn',
  skipped: 'danger',
};

const took = ({ started_at, ended_at }: RunCall): string =>
  started_at === null || ended_at === null ? '' : formatSpan(Date.parse(ended_at) - Date.parse(started_at));

/** Tool calls with their decisions; one opens with everything that is known of it. */
export function CallsTab({ runId }: { readonly runId: string }) {
  const [open, setOpen] = useQuery('call');
  const calls = usePages(`calls ${runId}`, 500, (page) => client.pageCalls({ id: runId, ...page }), {
    topics: ['runs'],
    when: (entry) => entry.run_id === runId,
  });
  const columns: readonly Column<RunCall>[] = [
    {
      label: 'Call',
      cell: (call) => (
        <Button size="small" look="quiet" onClick={() => setOpen(call.call_id)}>
          <span className="mono">
            <Safe text={`${call.tools}.${call.tool}`} />
          </span>
        </Button>
      ),
    },
    { label: 'About', cell: (call) => <Safe text={callSummary(call.args)} /> },
    {
      label: 'Decision',
      cell: (call) =>
        call.decision === null
          ? 'refused'
          : `${call.decision.action}${call.decision.matched_rule === null ? '' : `, rule ${call.decision.matched_rule + 1}`}`,
    },
    { label: 'State', cell: (call) => <span className={`tag ${looks[call.state]}`}>{call.error ?? call.state}</span> },
    { label: 'Took', right: true, cell: took },
  ];
  return (
    <Loaded data={calls}>
      {({ items }) => {
        const call = items.find(({ call_id }) => call_id === open);
        return items.length === 0 ? (
          <Empty>No tool was called.</Empty>
        ) : (
          <>
            <Table caption="Calls" columns={columns} rows={items} keyOf={({ call_id }) => call_id} />
            <More list={calls} word="More calls" />
            {call === undefined ? null : <Call runId={runId} call={call} onClose={() => setOpen('')} />}
          </>
        );
      }}
    </Loaded>
  );
}

function Call({
  runId,
  call,
  onClose,
}: {
  readonly runId: string;
  readonly call: RunCall;
  readonly onClose: () => void;
}) {
  const whole = useData(`call ${runId} ${call.seq}`, () => client.getCall({ id: runId, seq: call.seq, full: true }));
  const { decision } = call;
  return (
    <Dialog
      title={
        <span className="mono">
          <Safe text={`${call.tools}.${call.tool}`} />
        </span>
      }
      onClose={onClose}
    >
      {decision === null ? null : (
        <p className="note">
          <b>{decision.action}</b>{' '}
          {decision.matched_rule === null ? decision.reason.replaceAll('_', ' ') : `rule ${decision.matched_rule + 1}`}{' '}
          of <Safe text={decision.policy.name} />
          {decision.detail === null ? null : (
            <>
              {': '}
              <Safe text={decision.detail} />
            </>
          )}
          {call.verdict === null ? null : ` · ${call.verdict.outcome} by ${call.verdict.by}`}
        </p>
      )}
      <Loaded data={whole}>
        {(full) => (
          <>
            <h3>Arguments</h3>
            <JsonBlock value={full.args} label="Arguments" />
            <h3>Result</h3>
            {full.result === undefined && full.result_preview === null ? (
              <p className="muted">None.</p>
            ) : full.result === undefined ? (
              <CodeBlock text={full.result_preview ?? ''} label="Result" />
            ) : (
              <JsonBlock value={full.result} label="Result" />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
