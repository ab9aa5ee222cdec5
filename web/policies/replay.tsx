import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote } from '../parts/states.tsx';
import { decisionClass } from './explain.tsx';

const dayMs = 86_400_000;
const mostShown = 100;

/** What the text would have decided otherwise about the calls of the last days; what it lets through first. */
export function ReplayPanel({ text }: { readonly text: string }) {
  const [days, setDays] = useState('7');
  const [report, setReport] = useState<Awaited<ReturnType<typeof client.replayPolicy>> | null>(null);
  const [of, setOf] = useState('');
  const replay = useAction(() => client.replayPolicy({ text, since: Date.now() - Number(days) * dayMs }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = await replay.run();
    if (found === null) return;
    setReport(found);
    setOf(text);
  };
  const changed = [...(report?.changed ?? [])].sort((a, b) =>
    a.call.change === b.call.change ? 0 : a.call.change === 'widened' ? -1 : 1,
  );
  return (
    <div className="stack">
      <form className="row" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Days"
          type="number"
          min={1}
          max={365}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
        <Button submit busy={replay.busy}>
          Replay
        </Button>
      </form>
      {replay.error === null ? null : <ErrorNote error={replay.error} />}
      {report === null ? (
        <Empty>Recorded calls are decided again by the text as it stands here.</Empty>
      ) : (
        <div className="stack tight" aria-live="polite">
          {of === text ? null : <p className="tag warn">The text has changed since.</p>}
          <p>
            {report.evaluated} calls: <strong>{report.widened} let through that were not</strong>, {report.narrowed}{' '}
            held back that were not
            {report.not_comparable === 0 ? '' : `, ${report.not_comparable} that cannot be compared`}.
          </p>
          <ul className="stack tight" aria-label="Calls that are decided otherwise">
            {changed.slice(0, mostShown).map(({ call_id, run_id, before, after, rule, call }) => (
              <li key={`${run_id} ${call_id}`} className="panel row">
                <span className={`tag ${decisionClass[before]}`}>{before}</span>
                <span aria-hidden="true">→</span>
                <span className="sr">becomes</span>
                <span className={`tag ${decisionClass[after]}`}>{after}</span>
                <span className="mono wrap">
                  <Safe text={`${call.tools}.${call.tool} ${JSON.stringify(call.args)}`.slice(0, 200)} />
                </span>
                <span className="muted small">{rule === null ? '' : `rule ${rule + 1}`}</span>
                <Link href={`/runs/${run_id}`}>run</Link>
              </li>
            ))}
          </ul>
          {changed.length > mostShown ? (
            <p className="muted">{changed.length - mostShown} more are not shown.</p>
          ) : null}
        </div>
      )}
    </div>
  );
}
