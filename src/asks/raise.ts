import type { Ask, Question } from '../schema/ask.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { Asks as AskRows, NewAsk } from '../store/asks.ts';
import type { Audit } from '../store/audit.ts';
import type { EventRef } from '../store/events.ts';
import type { Record } from '../store/feed.ts';
import { newId } from '../text/ids.ts';

/** A question that is to be asked. Its arguments are masked. */
export type RaiseInput = Pick<
  NewAsk,
  'task_id' | 'call_id' | 'tools' | 'tool' | 'args' | 'summary' | 'preview' | 'cwd' | 'policy' | 'call_hash' | 'binding'
> & {
  readonly kind: Ask['kind'];
  /** Of an ask of this kind, masked. */
  readonly question?: Question | null;
  readonly ref: EventRef & { readonly run_id: string; readonly mission_id: string };
  readonly evaluation: Evaluation;
};

export type RaiseDeps = {
  readonly rows: AskRows;
  readonly audit: Audit;
  readonly now: () => number;
  /** Operator's ceiling in milliseconds; null = `never` (03 §4). */
  readonly ceilingMs: () => number | null;
  readonly tenant: string;
};

const maxSummary = 120;

/**
 * Inserts the ask, its event and its audit row in the caller's transaction. Nobody may wait on it before that has
 * been committed.
 */
export function raiseAsk(deps: RaiseDeps, record: Record, input: RaiseInput): string {
  const { rows, audit } = deps;
  const at = deps.now();
  const id = newId('ask', at);
  const { evaluation } = input;
  const expires_at = deadline(evaluation.timeout_s, at, deps.ceilingMs());
  const summary = cutSummary(input.summary);
  const repeat =
    input.kind === 'permission' ? rows.askedBefore(input.ref.run_id, input.call_hash, input.call_id) + 1 : 1;
  rows.insert({
    id,
    tenant_id: deps.tenant,
    kind: input.kind,
    run_id: input.ref.run_id,
    session_id: input.ref.session_id,
    mission_id: input.ref.mission_id,
    chain_id: input.ref.chain_id,
    task_id: input.task_id,
    call_id: input.call_id,
    tools: input.tools,
    tool: input.tool,
    args: input.args,
    summary,
    preview: repeat === 1 ? input.preview : { ...input.preview, repeat },
    question: input.question ?? null,
    cwd: input.cwd,
    record: evaluation,
    policy: input.policy,
    call_hash: input.call_hash,
    binding: input.binding,
    preimage: input.preview.preimage ?? null,
    timeout_s: evaluation.timeout_s,
    on_timeout: evaluation.timeout_s === -1 ? null : evaluation.on_timeout,
    expires_at,
    created_at: at,
  });
  audit.append(
    {
      type: 'ask',
      tenant_id: deps.tenant,
      run_id: input.ref.run_id,
      session_id: input.ref.session_id,
      body: {
        ask_id: id,
        kind: input.kind,
        tools: input.tools,
        tool: input.tool,
        call_hash: input.call_hash,
        binding: input.binding,
      },
    },
    at,
  );
  record(input.ref, {
    kind: 'ask',
    ask_id: id,
    ask_kind: input.kind,
    call_id: input.call_id,
    tools: input.tools,
    tool: input.tool,
    args: input.args,
    summary,
    ...(input.preview.diff === undefined ? {} : { diff: input.preview.diff }),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  });
  return id;
}

/** 03 §4: a rule's own time is not shortened by the ceiling; -1 has none; 0 takes the ceiling. */
function deadline(timeoutS: number, at: number, ceilingMs: number | null): number | null {
  if (timeoutS === -1) return null;
  if (timeoutS > 0) return at + timeoutS * 1000;
  return ceilingMs === null ? null : at + ceilingMs;
}

/** One line of 1 to 120 characters; faces escape what is hostile in it. */
function cutSummary(text: string): string {
  const line = text.toWellFormed().split('\n', 1)[0] ?? '';
  const points = [...(line === '' ? text.trim() || '(empty)' : line)];
  return points.length > maxSummary ? `${points.slice(0, maxSummary - 1).join('')}…` : points.join('');
}
