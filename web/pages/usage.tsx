import { Link } from 'wouter';
import type { UsageRow } from '../../src/client/routes/usage.ts';
import { formatCount } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { useChoice } from '../data/use-query.ts';
import { SelectField } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { DayChart } from '../usage/chart.tsx';
import { byModel, daysOf, type Measure, measures } from '../usage/figures.ts';

const times = [
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['90', 'last 90 days'],
] as const;

/** Tokens, time and questions per day and per model. */
export function UsagePage() {
  const [days, setDays] = useChoice(
    'days',
    times.map(([value]) => value),
    '30',
  );
  const data = useData(
    `usage ${days}`,
    () => client.getUsage({ days: Number(days), offset_minutes: -new Date().getTimezoneOffset() }),
    { topics: ['runs'], when: ({ kind }) => kind === 'chain_completed' || kind === 'chain_failed' },
  );
  return (
    <Page title="Usage">
      <div className="filter">
        <SelectField label="Time" value={days} onChange={(event) => setDays(event.target.value)} options={times} />
      </div>
      <Loaded data={data}>
        {({ from, to, items }) =>
          items.length === 0 ? (
            <Empty action={<Link href="/chat">Go to the chat</Link>}>
              No run was made in this time. What runs use of tokens, time and your attention is shown here.
            </Empty>
          ) : (
            <>
              <div className="charts">
                {(Object.keys(measures) as Measure[]).map((measure) => (
                  <DayChart
                    key={measure}
                    measure={measure}
                    days={daysOf(from, to)}
                    rows={items as readonly UsageRow[]}
                  />
                ))}
              </div>
              <Totals rows={items as readonly UsageRow[]} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Totals({ rows }: { readonly rows: readonly UsageRow[] }) {
  return (
    <Table
      caption="Totals by model"
      rows={byModel(rows)}
      keyOf={({ model }) => model}
      columns={[
        { label: 'Model', cell: ({ model }) => <span className="mono">{model}</span> },
        { label: 'Runs', right: true, cell: ({ runs }) => formatCount(runs) },
        { label: 'Tokens in', right: true, cell: ({ input_tokens }) => formatCount(input_tokens) },
        { label: 'Tokens out', right: true, cell: ({ output_tokens }) => formatCount(output_tokens) },
        { label: 'Model time', right: true, cell: ({ model_ms }) => measures.time.format(model_ms) },
        { label: 'Asks', right: true, cell: ({ asks }) => formatCount(asks) },
        { label: 'Waited for you', right: true, cell: ({ waited_ms }) => measures.time.format(waited_ms) },
      ]}
    />
  );
}
