import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { useQuery } from '../data/use-query.ts';
import { JsonBlock } from '../parts/code-block.tsx';
import { TextField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';

const decisions = { allow: 'good', approve: 'warn', deny: 'danger' } as const;
const sources = { builtin: 'built in', hook: 'hook', mcp: 'MCP server' } as const;
export const stateWords = {
  ready: 'ready',
  quarantined: 'quarantined: its definition changed and waits to be accepted',
  unavailable: 'unavailable: it cannot be offered as it is',
  needs_auth: 'needs a sign-in: reins mcp auth',
} as const;

/** Every tool with what the policy in effect says of a call of it. */
export function ToolList() {
  const [filter, setFilter] = useQuery('filter');
  const data = useData('tools', () => client.pageTools({}), { topics: ['setup', 'documents'] });
  return (
    <div className="stack">
      <TextField label="Filter" data-filter="" value={filter} onChange={(event) => setFilter(event.target.value)} />
      <Loaded data={data}>
        {(rows) => {
          const shown = rows.filter(({ tools, tool, description }) =>
            `${tools}.${tool} ${description}`.toLowerCase().includes(filter.toLowerCase()),
          );
          return shown.length === 0 ? (
            <Empty>No tool fits.</Empty>
          ) : (
            <Table
              caption="Tools"
              rows={shown}
              keyOf={({ tools, tool }) => `${tools}.${tool}`}
              columns={[
                {
                  label: 'Tool',
                  cell: ({ tools, tool }) => (
                    <span className="mono tool-name">
                      <Safe text={`${tools}.${tool}`} />
                    </span>
                  ),
                },
                {
                  label: 'What it says of itself',
                  cell: ({ description, schema, tools, tool }) => (
                    <details>
                      <summary className="small wrap">
                        <Safe text={(description.split('\n', 1)[0] ?? '').slice(0, 160)} />
                      </summary>
                      <p className="wrap small">
                        <Safe text={description} mode="prose" />
                      </p>
                      <JsonBlock value={schema} label={`Arguments of ${tools}.${tool}`} />
                    </details>
                  ),
                },
                { label: 'From', brief: true, cell: ({ source }) => <span className="small">{sources[source]}</span> },
                {
                  label: 'State',
                  cell: ({ state }) => (
                    <span className={state === 'ready' ? 'tag good' : 'small'}>{stateWords[state]}</span>
                  ),
                },
                {
                  label: 'Policy',
                  cell: ({ default_decision }) => (
                    <span className={`tag ${decisions[default_decision]}`}>{default_decision}</span>
                  ),
                },
              ]}
            />
          );
        }}
      </Loaded>
    </div>
  );
}
