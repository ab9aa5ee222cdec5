import { useState } from 'react';
import type { PolicyExplanation } from '../../src/schema/policy-views.ts';
import { readObject } from '../../src/text/json-object.ts';
import { isTelling, questionText } from '../../src/view/explanation.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { useVetted } from '../editor/use-vetted.ts';
import { AreaField, SelectField, TextField } from '../parts/field.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';

type Call = { readonly tools: string; readonly tool: string; readonly args: unknown; readonly words: string };
const first = { tools: 'local_fs', tool: 'write_file', args: '{\n  "path": "notes.txt",\n  "content": "a note"\n}' };
export const decisionClass = { allow: 'good', approve: 'warn', deny: 'danger' } as const;

/** Calls of the newest runs, to be tried again: what was asked about and denied as well as what was done, each once. */
async function pastCalls(): Promise<readonly Call[]> {
  const { items } = await client.pageRuns({ limit: 50 });
  const busy = items.filter((run) => run.num_tool_calls + run.num_denials + run.asks.length > 0).slice(0, 6);
  const pages = await Promise.all(busy.map(({ id }) => client.pageCalls({ id, limit: 20 })));
  const calls = pages
    .flatMap((page) => page.items)
    // What the program does for itself no policy decides.
    .filter(({ decision }) => decision !== null && decision.reason !== 'internal')
    .map(({ tools, tool, args }) => ({ tools, tool, args, words: `${tools}.${tool} ${JSON.stringify(args)}` }));
  const once = new Map(calls.map((call) => [call.words, call]));
  return [...once.values()].map((call) => ({ ...call, words: call.words.slice(0, 90) }));
}

/** What the text would decide about one call, rule by rule, as it is typed. */
export function ExplainPanel({ text, onRule }: { readonly text: string; readonly onRule: (path: string) => void }) {
  const [tools, setTools] = useState(first.tools);
  const [tool, setTool] = useState(first.tool);
  const [args, setArgs] = useState(first.args);
  const past = useData('past calls', pastCalls);
  const parsed = readObject(args);
  const asked = useVetted(JSON.stringify([text, tools, tool, args]), async () =>
    parsed === null ? null : client.explainPolicy({ text, tools, tool, args: parsed }),
  );
  return (
    <div className="stack">
      <SelectField
        label="A call of the past"
        options={[
          ['', 'type one below'],
          ...(past.value ?? []).map(({ words }, place) => [String(place), words] as const),
        ]}
        value=""
        onChange={(event) => {
          const chosen = past.value?.[Number(event.target.value)];
          if (event.target.value === '' || chosen === undefined) return;
          setTools(chosen.tools);
          setTool(chosen.tool);
          setArgs(JSON.stringify(chosen.args, null, 2));
        }}
      />
      <div className="two">
        <TextField label="Provider" value={tools} onChange={(event) => setTools(event.target.value)} />
        <TextField label="Tool" value={tool} onChange={(event) => setTool(event.target.value)} />
      </div>
      <AreaField
        label="Arguments (JSON)"
        className="mono"
        rows={4}
        value={args}
        onChange={(event) => setArgs(event.target.value)}
        fault={parsed === null ? 'That is not a JSON object.' : null}
      />
      {asked.fault === null ? null : <p className="fault">{asked.fault}</p>}
      {asked.value === null ? null : <Explanation found={asked.value} onRule={onRule} />}
    </div>
  );
}

function Explanation({
  found,
  onRule,
}: {
  readonly found: PolicyExplanation;
  readonly onRule: (path: string) => void;
}) {
  const { record, tried, notes, would_change_with, refused } = found;
  const question = questionText(found);
  const spoke = tried.filter(isTelling);
  const passed = tried.filter((each) => !isTelling(each));
  return (
    <section aria-label="Decision" aria-live="polite" className="stack tight">
      <p className="row">
        <span className={`tag ${decisionClass[record.action]}`}>{record.action}</span>
        <span>{record.matched_rule === null ? record.reason : `by rule ${record.matched_rule + 1}`}</span>
      </p>
      {record.policy.state === 'invalid' ? (
        <p className="note danger">The text is no valid policy: everything asks.</p>
      ) : null}
      {record.detail === null ? null : (
        <p className="wrap">
          <Safe text={record.detail} />
        </p>
      )}
      {question === null ? null : <p>{question}</p>}
      {refused === null ? null : (
        <p className="note danger">
          Refused before any rule: <Safe text={refused} />
        </p>
      )}
      <TriedRules label="What decided" tried={spoke} onRule={onRule} />
      {would_change_with === null ? null : (
        <p className="note">
          Would change with: <Safe text={would_change_with} />
        </p>
      )}
      {numbered(notes).map(({ key, part }) => (
        <p key={key} className="small muted">
          <Safe text={part} />
        </p>
      ))}
      {passed.length === 0 ? null : (
        <details>
          <summary className="small">
            {passed.length} {passed.length === 1 ? 'rule that does' : 'rules that do'} not fit
          </summary>
          <TriedRules label="Rules that do not fit" tried={passed} onRule={onRule} />
        </details>
      )}
    </section>
  );
}

function TriedRules({
  label,
  tried,
  onRule,
}: Pick<PolicyExplanation, 'tried'> & { readonly label: string; readonly onRule: (path: string) => void }) {
  if (tried.length === 0) return null;
  return (
    <ol className="rules" aria-label={label}>
      {tried.map(({ rule, outcome, note, conditions }) => (
        <li key={rule} className="stack tight rule-tried">
          <button type="button" className="finding" onClick={() => onRule(`rules[${rule}]`)}>
            <strong>Rule {rule + 1}</strong>
            <span className="muted">{outcome}</span>
            {note === null ? null : <Safe text={note} />}
          </button>
          {conditions.length === 0 ? null : (
            <ul className="small conditions">
              {numbered(conditions).map(({ key, part }) => (
                <li key={key}>
                  <span aria-hidden="true">{part.result === 'true' ? '✓' : part.result === 'false' ? '✗' : '?'}</span>{' '}
                  <span className="mono wrap">
                    <Safe text={`${part.key} ${part.op} ${part.value}`} />
                  </span>{' '}
                  is {part.result}
                  {part.seen === null ? null : (
                    <span className="muted">
                      {' '}
                      (seen: <Safe text={part.seen} />)
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}
