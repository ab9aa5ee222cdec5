import { type FormEvent, useState } from 'react';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/field.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';

const example = JSON.stringify(
  [
    {
      name: 'reading is allowed',
      call: { tools: 'local_fs', tool: 'read_file', args: { path: 'README.md' } },
      expect: { action: 'allow' },
    },
  ],
  null,
  2,
);

/** Cases with what they expect, kept in this tab: pass or fail under the text as it stands here. */
export function CasesPanel({ name, text }: { readonly name: string; readonly text: string }) {
  const key = `cases:${name}`;
  const [cases, setCases] = useState(() => sessionStorage.getItem(key) ?? example);
  const [report, setReport] = useState<Awaited<ReturnType<typeof client.testPolicy>> | null>(null);
  const parsed = readCases(cases);
  const test = useAction(() => client.testPolicy({ text, cases: parsed ?? [] }));
  const [of, setOf] = useState({ text, cases });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setReport(await test.run());
    setOf({ text, cases });
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <AreaField
        label="Cases (a JSON list)"
        className="mono"
        rows={10}
        value={cases}
        onChange={(event) => {
          setCases(event.target.value);
          sessionStorage.setItem(key, event.target.value);
        }}
        fault={parsed === null ? 'That is not a JSON list.' : null}
      />
      <div>
        <Button submit busy={test.busy} disabled={parsed === null}>
          Run the cases
        </Button>
      </div>
      {test.error === null ? null : <ErrorNote error={test.error} />}
      {report === null ? null : (
        <div className="stack tight" aria-live="polite">
          {of.text === text && of.cases === cases ? null : (
            <p className="tag warn">The text or the cases have changed since.</p>
          )}
          <p>
            {report.passed} passed, {report.failed} failed.
          </p>
          <ul className="stack tight" aria-label="Cases">
            {numbered(report.results).map(({ key: at, part }) => (
              <li key={at} className="row">
                <span className={`tag ${part.ok ? 'good' : 'danger'}`}>{part.ok ? 'pass' : 'fail'}</span>
                <Safe text={part.name} />
                {part.ok ? null : (
                  <span className="muted small">
                    expected {part.expected.action}, got {part.got.action}
                    {part.got.rule === null
                      ? ''
                      : part.got.rule === 'default'
                        ? ' by default'
                        : ` by rule ${part.got.rule + 1}`}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </form>
  );
}

function readCases(text: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
