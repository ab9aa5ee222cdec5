import type { Asks } from '../asks/asks.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { Audit } from '../store/audit.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import { isDeeperThan, mostLevels } from '../text/json-depth.ts';
import { withoutNamedSecrets } from '../text/named-secrets.ts';
import { textSha256 } from './binding.ts';
import type { InstructionsWatch } from './instructions-watch.ts';
import type { GateRun } from './run.ts';
import type { Found, GateCall, Judged, RequestedCall } from './stages.ts';

export type LedgerDeps = {
  readonly feed: Feed;
  readonly audit: Audit;
  readonly calls: Calls;
  readonly runs: Runs;
  readonly asks: Asks;
  readonly instructions: InstructionsWatch;
  readonly now: () => number;
  /** Start time of a process as the system tells it; null when it is gone. */
  readonly pidStart: (pid: number) => string | null;
  /** Masks known secrets in whatever is stored or shown (11 §5.3). */
  readonly mask: <T>(value: T) => T;
  /** Masks known secrets only: for what a person decides on, which is otherwise exact (11 §5.3.3). */
  readonly maskKnown: <T>(value: T) => T;
};

/** A tool by its two names, as rows and events have them. */
export type ToolNames = { readonly tools: string; readonly tool: string };

export const namesOf = ({ tools, name }: Found): ToolNames => ({ tools, tool: name });

/** The single entries of which every act of the ledger is made: events, audit rows, call rows, all masked. */
export function createEntries(deps: LedgerDeps) {
  const { audit, calls, now } = deps;

  const pending = (record: Record, { run, request }: RequestedCall, names: ToolNames, args: unknown): void =>
    record(run.ref, {
      kind: 'tool_call_pending',
      call_id: request.call_id,
      ...names,
      args,
      batch_index: request.batch_index,
      batch_size: request.batch_size,
    });

  const decision = (record: Record, { run, request, found }: GateCall, judged: Judged, args: unknown): void => {
    const evaluation = deps.mask(judged.evaluation);
    const names = namesOf(found);
    const { action, reason, detail, matched_rule, policy } = evaluation;
    record(run.ref, {
      kind: 'policy_decision',
      call_id: request.call_id,
      ...names,
      action,
      rule: matched_rule,
      reason,
      ...(detail === null ? {} : { detail }),
      policy: { name: policy.name, sha256: policy.sha256 },
    });
    entry(run, 'decision', {
      call_id: request.call_id,
      ...names,
      // The log is kept for ever, and nothing is taken out of it (03 §14).
      args: withoutNamedSecrets(args),
      call_hash: judged.hash,
      record: withoutTrace(evaluation),
    });
  };

  const entry = (run: GateRun, type: 'decision' | 'effect' | 'compute', body: unknown): void =>
    audit.append(
      { type, tenant_id: run.ref.tenant_id, run_id: run.ref.run_id, session_id: run.ref.session_id, body },
      now(),
    );

  const insert = (
    { run, request, found }: GateCall,
    judged: Judged,
    state: 'planned' | 'started' | 'skipped',
  ): number =>
    calls.insert({
      run_id: run.ref.run_id,
      call_id: request.call_id,
      batch: request.batch_index,
      ...namesOf(found),
      args: deps.maskKnown(judged.prepared.shown),
      call_hash: judged.hash,
      record: deps.maskKnown(judged.evaluation),
      state,
      at: now(),
    });

  /** @param end what the model is told, and its class when that is an error */
  const ended = (
    record: Record,
    { run, request }: RequestedCall,
    names: ToolNames,
    end: { readonly content: string; readonly error: string | null },
  ): void =>
    record(run.ref, {
      kind: 'tool_call',
      call_id: request.call_id,
      ...names,
      ok: end.error === null,
      ...(end.error === null ? {} : { error: end.error }),
      result: end.content,
      result_bytes: Buffer.byteLength(end.content),
      truncated_result: false,
      duration_ms: 0,
    });

  const close = (run: GateRun, seq: number, content: string): void => {
    calls.end(run.ref.run_id, seq, run.owner, {
      state: 'skipped',
      result: parsed(content),
      result_bytes: Buffer.byteLength(content),
      result_sha256: textSha256(content),
      output_ref: null,
      at: now(),
    });
  };

  return { pending, decision, entry, insert, ended, close };
}

export type Entries = ReturnType<typeof createEntries>;

/** Error results are stored as the objects they are, so that they can be searched. What only looks like one stays text. */
export function parsed(content: string): unknown {
  if (!content.startsWith('{"ok":') || isDeeperThan(content, mostLevels)) return content;
  try {
    return JSON.parse(content);
  } catch {
    // A cut text may begin like one.
    return content;
  }
}

const withoutTrace = ({ trace: _trace, analysis: _analysis, ...record }: Evaluation): unknown => record;
