import { useState } from 'react';
import { Link } from 'wouter';
import type { RunSummary } from '../../src/schema/run-record.ts';
import { formatSpan } from '../../src/view/format.ts';
import type { Span } from '../../src/view/timeline.ts';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { goesOn, TimelinePicture } from './run-picture.tsx';
import { useTimeline } from './use-timeline.ts';

const rowsAtOnce = 200;

/** The picture, and the same as a table for keyboards and screen readers. */
export function TimelineTab({ run }: { readonly run: Pick<RunSummary, 'id' | 'status'> }) {
  const runId = run.id;
  const timeline = useTimeline(runId);
  const [shown, setShown] = useState(rowsAtOnce);
  const { spans, from } = timeline;
  const columns: readonly Column<Span>[] = [
    { label: 'At', right: true, cell: (span) => formatSpan(span.from - (from ?? span.from)) },
    { label: 'Lane', cell: (span) => span.lane },
    {
      label: 'What',
      cell: (span) =>
        span.call_id === null ? (
          <Safe text={span.label} />
        ) : (
          <Link href={`/runs/${runId}?tab=calls&call=${span.call_id}`}>
            <Safe text={span.label} />
          </Link>
        ),
    },
    { label: 'More', cell: (span) => <Safe text={span.detail} /> },
    {
      label: 'Took',
      right: true,
      cell: (span) => (span.to === null ? 'goes on' : span.lane === 'policy' ? '' : formatSpan(span.to - span.from)),
    },
  ];
  return (
    <>
      <div className="panel">
        <TimelinePicture timeline={timeline} runId={runId} goesOn={goesOn(run)} />
      </div>
      {spans.length === 0 ? (
        <Empty>Nothing is recorded of this run yet, or its events were pruned.</Empty>
      ) : (
        <>
          <Table caption="The run as a table" columns={columns} rows={spans.slice(0, shown)} keyOf={({ id }) => id} />
          {spans.length > shown ? (
            <div>
              <Button onClick={() => setShown(shown + 1000)}>
                Show more ({spans.length - shown} of {spans.length} are not shown)
              </Button>
            </div>
          ) : null}
        </>
      )}
    </>
  );
}
