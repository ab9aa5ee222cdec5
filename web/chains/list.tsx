import { Link } from 'wouter';
import { client } from '../data/client.ts';
import { pathOfFile } from '../data/document-path.ts';
import { useData } from '../data/use-data.ts';
import { Page } from '../parts/page.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';

const places = { project: 'this project', user: 'yours', builtin: 'built in' } as const;

/** Every chain with whether it can be used (09 §8.11). */
export function ChainList() {
  const data = useData('chains', () => client.pageChains({}), { topics: ['documents'], files: true });
  return (
    <Page title="Chains">
      <p className="muted">A chain says what a run does: tasks, and where each leads.</p>
      <Loaded data={data}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>There is no chain.</Empty>
          ) : (
            <Table
              caption="Chains"
              rows={rows}
              keyOf={(row) => `${row.source} ${row.file}`}
              columns={[
                {
                  label: 'Chain',
                  cell: ({ file, id, source }) => (
                    <Link href={`/chains/${pathOfFile(file)}?source=${source}`}>{id ?? file}</Link>
                  ),
                },
                { label: 'From', cell: ({ source }) => places[source] },
                { label: 'Tasks', right: true, cell: ({ task_count }) => task_count },
                {
                  label: 'State',
                  cell: ({ valid, trusted, default_for }) => (
                    <span className="row">
                      <span className={`tag ${valid ? 'good' : 'danger'}`}>{valid ? 'valid' : 'invalid'}</span>
                      {trusted ? null : <span className="tag warn">not trusted</span>}
                      {default_for.map((use) => (
                        <span key={use} className="tag accent">
                          default of {use}
                        </span>
                      ))}
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
