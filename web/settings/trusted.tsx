import { client } from '../data/client.ts';
import { useAction, useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Instructions } from '../parts/instructions.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from './time.tsx';

/** Files that may say what runs do, and whether they are still what was trusted. */
export function Trusted() {
  const data = useData('trust', () => client.pageTrust({}), { topics: ['documents'] });
  const revoke = useAction(async (id: string) => {
    await client.deleteTrust({ id });
    data.reload();
    return true;
  });
  return (
    <div className="stack">
      <Instructions />
      {revoke.error === null ? null : <ErrorNote error={revoke.error} />}
      <Loaded data={data}>
        {(items) =>
          items.length === 0 ? (
            <Empty>No file of a project is trusted: its chains, policies and instructions are not used.</Empty>
          ) : (
            <Table
              caption="Trusted files"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'File',
                  cell: ({ path, kind }) => (
                    <>
                      <span className="tag">{kind}</span>{' '}
                      <span className="mono wrap">
                        <Safe text={path} />
                      </span>
                    </>
                  ),
                },
                {
                  label: 'SHA-256',
                  words: true,
                  cell: ({ sha256 }) => <span className="mono">{sha256.slice(0, 12)}</span>,
                },
                {
                  label: 'Now',
                  cell: ({ current }) => (
                    <span className={`tag ${current ? 'good' : 'warn'}`}>
                      {current ? 'the same' : 'another content'}
                    </span>
                  ),
                },
                { label: 'By', words: true, cell: ({ by }) => <span className="small">{by}</span> },
                { label: 'At', cell: ({ trusted_at }) => <Time at={trusted_at} /> },
                {
                  label: 'Change',
                  unseen: true,
                  right: true,
                  cell: ({ id, path }) => (
                    <Button size="small" busy={revoke.busy} onClick={() => void revoke.run(id)}>
                      Revoke<span className="sr"> {path}</span>
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </div>
  );
}
