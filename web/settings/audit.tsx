import { useState } from 'react';
import type { AuditRow } from '../../src/schema/audit.ts';
import { auditHints } from '../../src/view/audit-check.ts';
import { auditLine, lossText } from '../../src/view/audit-line.ts';
import { client } from '../data/client.ts';
import { saveFile } from '../data/save-file.ts';
import { useAction } from '../data/use-data.ts';
import { usePages } from '../data/use-pages.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../parts/button.tsx';
import { JsonBlock } from '../parts/code-block.tsx';
import { TextField } from '../parts/field.tsx';
import { More } from '../parts/more.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from './time.tsx';

type Checked = Awaited<ReturnType<typeof client.checkAudit>>;

/** What was decided and by whom, newest first; the chain of hashes can be checked and the whole taken along. */
export function Audit() {
  const [type, setType] = useQuery('type');
  const [run, setRun] = useQuery('run');
  const data = usePages(`audit ${type} ${run}`, 50, (page) =>
    client.pageAudit({ ...page, ...(type === '' ? {} : { type }), ...(run === '' ? {} : { run }) }),
  );
  const [checked, setChecked] = useState<Checked | null>(null);
  const check = useAction(() => client.checkAudit({}));
  const take = useAction(async () => saveFile(await client.downloadAudit({})));
  return (
    <div className="stack">
      <div className="row">
        <Button busy={check.busy} onClick={() => void check.run().then(setChecked)}>
          Verify
        </Button>
        <Button busy={take.busy} onClick={() => void take.run()}>
          Export
        </Button>
      </div>
      {(check.error ?? take.error) === null ? null : <AuditFault error={check.error ?? take.error} />}
      {checked === null ? null : (
        <p className={`note ${checked.ok ? 'good' : 'danger'}`} role="status">
          {checked.ok
            ? [
                `${checked.entries} entries, each of which fits the one before. Head ${checked.head.slice(0, 12)}.`,
                ...checked.restored.map((entry) => `At entry ${entry.seq} a backup was put back: ${lossText(entry)}.`),
              ].join(' ')
            : `The chain breaks at entry ${checked.break?.seq ?? '?'}: ${checked.break?.reason ?? ''}.`}
        </p>
      )}
      {checked === null
        ? null
        : auditHints(checked).map((hint) => (
            <p key={hint} className="note warn wrap">
              <Safe text={hint} />
            </p>
          ))}
      <div className="two">
        <TextField label="Type" data-filter="" value={type} onChange={(event) => setType(event.target.value)} />
        <TextField label="Run" value={run} onChange={(event) => setRun(event.target.value)} />
      </div>
      <Loaded data={data}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No entry fits.</Empty>
          ) : (
            <>
              <Table
                caption="Audit entries"
                rows={items}
                keyOf={({ seq }) => String(seq)}
                columns={[
                  { label: 'No.', right: true, cell: ({ seq }) => seq },
                  { label: 'At', cell: ({ at }) => <Time at={new Date(at).toISOString()} /> },
                  { label: 'Type', words: true, cell: (row) => <span className="mono">{row.type}</span> },
                  { label: 'Entry', cell: (row) => <Entry row={row} /> },
                  {
                    label: 'By',
                    words: true,
                    cell: (row) => <Words text={lineOf(row).actor} />,
                  },
                  {
                    label: 'Rule',
                    words: true,
                    cell: (row) => <Words text={lineOf(row).rule} />,
                  },
                ]}
              />
              <More list={data} word="Older ones" />
            </>
          )
        }
      </Loaded>
    </div>
  );
}

const AuditFault = ({ error }: { readonly error: Parameters<typeof ErrorNote>[0]['error'] | null }) =>
  error === null ? null : <ErrorNote error={error} />;

const lineOf = (row: AuditRow) => auditLine(row, (id) => id);

/** Nothing at all where there are none, so that a card leaves them out. */
const Words = ({ text }: { readonly text: string }) =>
  text === '' ? null : (
    <span className="small">
      <Safe text={text} />
    </span>
  );

/** What an entry says; all of it behind that. */
function Entry({ row }: { readonly row: AuditRow }) {
  const { tool, summary } = lineOf(row);
  return (
    <details>
      <summary className="small wrap">
        {tool === '' ? null : (
          <>
            <span className="mono">
              <Safe text={tool} />
            </span>{' '}
          </>
        )}
        <Safe text={summary === '' && tool === '' ? row.type : summary} />
      </summary>
      <JsonBlock value={row} label={`Entry ${row.seq}`} />
    </details>
  );
}
