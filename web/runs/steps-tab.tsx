import { useState } from 'react';
import type { StepRecord } from '../../src/schema/run-record.ts';
import { formatCount, formatSpan } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { usePages } from '../data/use-pages.ts';
import { Button } from '../parts/button.tsx';
import { JsonBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { More } from '../parts/more.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';

/** Attempts at tasks, as they were captured (04 §17). */
export function StepsTab({ runId }: { readonly runId: string }) {
  const [open, setOpen] = useState<number | null>(null);
  const steps = usePages(`steps ${runId}`, 500, (page) => client.pageSteps({ id: runId, ...page }), {
    topics: ['runs'],
    when: (entry) => entry.run_id === runId,
  });
  const columns: readonly Column<StepRecord>[] = [
    {
      label: 'Step',
      cell: (step) => (
        <Button size="small" look="quiet" onClick={() => setOpen(step.index)}>
          <span className="sr">Step </span>
          {step.index}
        </Button>
      ),
    },
    { label: 'Task', cell: (step) => <Safe text={step.task_id} /> },
    { label: 'Handler', cell: (step) => <Safe text={step.task_handler} /> },
    { label: 'Next', cell: (step) => <Safe text={step.error?.message ?? step.next ?? ''} /> },
    { label: 'Tokens', right: true, cell: (step) => (step.usage === null ? '' : formatCount(step.usage.total)) },
    { label: 'Took', right: true, cell: (step) => formatSpan(step.duration_ms) },
  ];
  return (
    <Loaded data={steps}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>No step is captured yet.</Empty>
        ) : (
          <>
            <Table caption="Steps" columns={columns} rows={items} keyOf={({ index }) => String(index)} />
            <More list={steps} word="More steps" />
            {open === null ? null : <Step runId={runId} index={open} onClose={() => setOpen(null)} />}
          </>
        )
      }
    </Loaded>
  );
}

function Step({
  runId,
  index,
  onClose,
}: {
  readonly runId: string;
  readonly index: number;
  readonly onClose: () => void;
}) {
  const step = useData(`step ${runId} ${index}`, () => client.getStep({ id: runId, index }));
  return (
    <Dialog title={`Step ${index}`} onClose={onClose}>
      <Loaded data={step}>{(whole) => <JsonBlock value={whole} label="The whole step" />}</Loaded>
    </Dialog>
  );
}
