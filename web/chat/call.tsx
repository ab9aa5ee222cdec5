import { useEffect, useState } from 'react';
import { callName, callSummary } from '../../src/view/call-summary.ts';
import { decidedBy } from '../../src/view/decided-by.ts';
import { formatBytes, formatSpan } from '../../src/view/format.ts';
import type { CallItem, Decision } from '../../src/view/items.ts';
import { AskCard } from '../approvals/ask-card.tsx';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { CodeBlock, DiffBlock, JsonBlock } from '../parts/code-block.tsx';
import { Safe } from '../parts/safe.tsx';
import { readableResult } from './call-result.ts';

const stateWords: Readonly<Record<CallItem['state'], readonly [look: string, words: string]>> = {
  pending: ['', 'waits'],
  running: ['accent', 'running'],
  ok: ['good', 'ok'],
  failed: ['danger', 'failed'],
  denied: ['danger', 'denied'],
};

const decisionWords = (decision: Decision): string => {
  const { action } = decision;
  const by = decidedBy(decision);
  if (by === 'remembered') return by;
  return action === 'allow' ? `allowed, ${by}` : action === 'deny' ? `denied, ${by}` : `asked, ${by}`;
};

/** Whether its ask still waits for somebody. */
export const waits = (item: CallItem): item is CallItem & { readonly ask_id: string } =>
  item.ask_id !== null && item.verdict === null && item.state === 'pending';

/** Whether it is the call that was meant shows in its arguments: so many characters keep their place, the rest goes below. */
const mostKept = 16;

/** A tool call: one line that opens; while it is asked about, the card stands in its place (09 §8.5). */
export function CallLine({
  item,
  find = null,
}: {
  readonly item: CallItem;
  /** What is looked for was found in it, and is to be seen. */
  readonly find?: RegExp | null;
}) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (find !== null) setOpen(true);
  }, [find]);
  const [look, words] = stateWords[item.state];
  const summary = callSummary(item.args);
  return (
    <div className="call">
      <button type="button" className="call-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        <span className="mono call-name">
          <Safe text={callName(item)} />
        </span>
        <span className="grow cut muted mono" style={{ flexBasis: `${Math.min(summary.length, mostKept)}ch` }}>
          <Safe text={summary} />
        </span>
        <span className="small muted call-more">
          {item.verdict === null
            ? item.decision === null
              ? ''
              : decisionWords(item.decision)
            : `${item.verdict.verdict} by ${item.verdict.by}`}
        </span>
        <span className="small muted call-more">{item.ms === null ? '' : formatSpan(item.ms)}</span>
        <span className={`tag ${look}`}>{item.error === null || item.state === 'denied' ? words : item.error}</span>
      </button>
      {open ? <CallDetails item={item} find={find} /> : null}
      {!open && item.state === 'running' && item.output !== '' ? (
        <div className="call-body">
          <CodeBlock text={item.output.split('\n').slice(-8).join('\n')} label="Newest output" />
        </div>
      ) : null}
      {waits(item) ? <AskCard id={item.ask_id} /> : null}
    </div>
  );
}

function CallDetails({ item, find }: { readonly item: CallItem; readonly find: RegExp | null }) {
  // What is stored of a message does not say what was decided.
  const wanted = item.decision === null && item.run_id !== null ? item.run_id : null;
  const recorded = useData(wanted === null ? null : `calls ${wanted}`, () =>
    client.pageCalls({ id: wanted ?? '', limit: 1000 }),
  );
  const row = recorded.value?.items.find(({ call_id }) => call_id === item.id);
  const decision: Decision | null =
    item.decision ??
    (row?.decision == null
      ? null
      : {
          action: row.decision.action,
          rule: row.decision.matched_rule,
          reason: row.decision.reason,
          detail: row.decision.detail,
          policy: row.decision.policy.name,
        });
  return (
    <div className="call-body stack tight">
      {decision === null ? null : (
        <p className="small">
          <b>{decisionWords(decision)}</b> of policy <Safe text={decision.policy} />
          {decision.detail === null ? null : (
            <>
              {': '}
              <Safe text={decision.detail} />
            </>
          )}
        </p>
      )}
      {item.diff === null ? (
        <JsonBlock value={item.args} label="Arguments" find={find} />
      ) : (
        <DiffBlock text={item.diff} label="Change" />
      )}
      {item.result === null ? (
        item.output === '' ? null : (
          <CodeBlock text={item.output} label="Output" find={find} />
        )
      ) : (
        <>
          <p className="small muted">Result{item.bytes === null ? '' : `, ${formatBytes(item.bytes)}`}</p>
          <CodeBlock text={readableResult(item.result)} label="Result" find={find} />
        </>
      )}
    </div>
  );
}
