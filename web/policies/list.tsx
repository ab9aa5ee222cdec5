import { useState } from 'react';
import { Link } from 'wouter';
import type { PolicyListed } from '../../src/schema/document-views.ts';
import { client } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { useData } from '../data/use-data.ts';
import { useEverywhere } from '../frame/everywhere.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { NewPolicyDialog } from './new-dialog.tsx';

const places = { project: 'this project', user: 'yours', builtin: 'preset' } as const;

/** Every policy by where it comes from: which governs, and which is hidden by another (09 §8.10). */
export function PolicyList() {
  const data = useData('policies', () => client.pagePolicies({}), { topics: ['documents'], files: true });
  const { policy } = useEverywhere();
  const [open, setOpen] = useState<'import' | 'new' | null>(null);
  return (
    <Page
      title="Policies"
      actions={
        <>
          <Button onClick={() => setOpen('import')}>Import…</Button>
          <Button look="primary" onClick={() => setOpen('new')}>
            New policy…
          </Button>
        </>
      }
    >
      <p className="muted">A policy decides every tool call: allow it, ask you, or deny it.</p>
      {policy === null || policy.listed !== null ? null : (
        <p className="note">
          In effect is <Safe text={policy.name} />, a file that was named when the server was started. It is none of
          these.
        </p>
      )}
      <Loaded data={data}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>There is no policy.</Empty>
          ) : (
            <Table
              caption="Policies"
              rows={rows}
              keyOf={(row) => `${row.source} ${row.file}`}
              columns={[
                { label: 'Policy', cell: (row) => <Link href={linkOf(row)}>{row.name}</Link> },
                { label: 'From', cell: ({ source }) => places[source] },
                { label: 'State', cell: (row) => <State row={row} /> },
                {
                  label: 'SHA-256',
                  words: true,
                  cell: ({ sha256 }) => <span className="mono">{sha256?.slice(0, 12) ?? '—'}</span>,
                },
              ]}
            />
          )
        }
      </Loaded>
      {open === 'import' ? <ImportDialog onClose={() => setOpen(null)} /> : null}
      {open === 'new' ? <NewPolicyDialog from={null} onClose={() => setOpen(null)} /> : null}
    </Page>
  );
}

const linkOf = ({ file, source, shadowed_by }: PolicyListed): string =>
  `/policies/${pathOfFile(file)}${shadowed_by === null ? '' : `?source=${source}`}`;

function State({ row }: { readonly row: PolicyListed }) {
  return (
    <span className="row">
      {row.in_effect ? <span className="tag accent">in effect</span> : null}
      {row.valid ? null : <span className="tag danger">invalid</span>}
      {row.trusted ? null : <span className="tag warn">not trusted</span>}
      {row.shadowed_by === null ? null : <span className="tag">hidden by the one of {row.shadowed_by}</span>}
      {!row.in_effect && row.valid && row.trusted && row.shadowed_by === null ? (
        <span className="muted">not in effect</span>
      ) : null}
    </span>
  );
}
