import type { Asks } from '../asks/asks.ts';
import type { Preview } from '../schema/ask.ts';
import type { Evaluation, OnExhausted } from '../schema/policy.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { Audit } from '../store/audit.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import type { ToolResult } from '../tools/tool.ts';
import { textSha256 } from './binding.ts';
import { type Exhausted, exhaustedText } from './bounds.ts';
import type { Found, Judged, Refused } from './find.ts';
import { errorText, type Rendered } from './result.ts';
import type { GateRun } from './run.ts';

export type LedgerDeps = {
  readonly feed: Feed;
  readonly audit: Audit;
  readonly calls: Calls;
  readonly runs: Runs;
  readonly asks: Asks;
  readonly now: () => number;
  /** Start time of a process as the system tells it; null when it is gone. */
  readonly pidStart: (pid: number) => string | null;
  /** Masks known secrets in whatever is stored or shown (11 §5.3). */
  readonly mask: <T>(value: T) => T;
};

/** A call that waits for a verdict. */
export type Planned = { readonly seq: number; readonly ask_id: string };
export type Started = { readonly seq: number; readonly at: number };

/** What the gate writes down, each act one transaction of row, audit and event (11 §2.8). */
export function createLedger(deps: LedgerDeps) {
  const { feed, audit, calls, runs, now } = deps;

  const pending = (
    record: Record,
    run: GateRun,
    request: CallRequest,
    names: { tools: string; tool: string },
    args: unknown,
  ): void =>
    record(run.ref, {
      kind: 'tool_call_pending',
      call_id: request.call_id,
      ...names,
      args,
      batch_index: request.batch_index,
      batch_size: request.batch_size,
    });

  const decision = (record: Record, run: GateRun, request: CallRequest, judged: Judged, args: unknown): void => {
    const { evaluation } = judged;
    const { tools, tool } = judged.prepared.call;
    const { action, reason, detail, matched_rule, policy } = evaluation;
    record(run.ref, {
      kind: 'policy_decision',
      call_id: request.call_id,
      tools,
      tool,
      action,
      rule: matched_rule,
      reason,
      ...(detail === null ? {} : { detail }),
      policy: { name: policy.name, sha256: policy.sha256 },
    });
    entry(run, 'decision', {
      call_id: request.call_id,
      tools,
      tool,
      args,
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
    run: GateRun,
    request: CallRequest,
    judged: Judged,
    args: unknown,
    state: 'planned' | 'started' | 'skipped',
  ): number =>
    calls.insert({
      run_id: run.ref.run_id,
      call_id: request.call_id,
      batch: request.batch_index,
      tools: judged.prepared.call.tools,
      tool: judged.prepared.call.tool,
      args,
      call_hash: judged.hash,
      record: judged.evaluation,
      state,
      at: now(),
    });

  const ended = (
    record: Record,
    run: GateRun,
    request: CallRequest,
    names: { tools: string; tool: string },
    content: string,
    error: string,
  ): void =>
    record(run.ref, {
      kind: 'tool_call',
      call_id: request.call_id,
      ...names,
      ok: false,
      error,
      result: content,
      result_bytes: Buffer.byteLength(content),
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

  return {
    /** A call that ended before it was judged. */
    refuse(
      run: GateRun,
      request: CallRequest,
      found: Found | null,
      refused: Refused,
      planned: Planned | null,
    ): ToolOutcome {
      const names = found === null ? splitName(request.name) : { tools: found.tools, tool: found.name };
      const content = deps.mask(errorText(refused.error, refused.message, refused.extra));
      feed.commit('normal', (record) => {
        const seq =
          planned?.seq ??
          calls.insert({
            run_id: run.ref.run_id,
            call_id: request.call_id,
            batch: request.batch_index,
            ...names,
            args: null,
            call_hash: '',
            record: null,
            state: 'skipped',
            at: now(),
          });
        close(run, seq, content);
        ended(record, run, request, names, content, refused.error);
      });
      return { kind: 'result', ok: false, content, error: refused.error };
    },

    /** A denial, with or without an ask before it. */
    skip(
      run: GateRun,
      request: CallRequest,
      judged: Judged,
      planned: Planned | null,
      error: string,
      content: string,
    ): ToolOutcome {
      const { tools, tool } = judged.prepared.call;
      const args = deps.mask(judged.prepared.call.args);
      feed.commit('full', (record) => {
        if (planned === null) {
          pending(record, run, request, { tools, tool }, args);
          decision(record, run, request, judged, args);
        } else {
          deps.asks.delivered(planned.ask_id);
        }
        close(run, planned?.seq ?? insert(run, request, judged, args, 'skipped'), content);
        ended(record, run, request, { tools, tool }, content, error);
      });
      return { kind: 'result', ok: false, content, error };
    },

    /** Plans the call and raises its ask; a changed call gets a new ask that replaces the one before. */
    ask(
      run: GateRun,
      request: CallRequest,
      judged: Judged,
      preview: Preview,
      binding: string,
      planned: Planned | null,
      replaced: string | null,
    ): Planned {
      const { tools, tool } = judged.prepared.call;
      const args = deps.mask(judged.prepared.call.args);
      return feed.commit('full', (record) => {
        if (planned === null) pending(record, run, request, { tools, tool }, args);
        decision(record, run, request, judged, args);
        const seq = planned?.seq ?? insert(run, request, judged, args, 'planned');
        const ask_id = deps.asks.raise(record, {
          ref: run.ref,
          task_id: request.task_id,
          call_id: request.call_id,
          tools,
          tool,
          args,
          summary: deps.mask(judged.prepared.summary),
          preview: deps.mask(preview),
          cwd: judged.prepared.cwd,
          evaluation: judged.evaluation,
          policy: judged.evaluation.policy,
          call_hash: judged.hash,
          binding,
        });
        calls.setAsk(run.ref.run_id, seq, ask_id);
        if (replaced !== null) deps.asks.supersede(replaced, ask_id);
        return { seq, ask_id };
      });
    },

    /** Reserves the call and makes it `started`. @returns null when the lease is another's: nothing may start. */
    start(run: GateRun, request: CallRequest, judged: Judged, planned: Planned | null): Started | null {
      const { tools, tool } = judged.prepared.call;
      const args = deps.mask(judged.prepared.call.args);
      const at = now();
      return feed.commit('full', (record) => {
        if (!runs.holdsLease(run.ref.run_id, run.owner)) return null;
        if (planned === null) {
          pending(record, run, request, { tools, tool }, args);
          decision(record, run, request, judged, args);
        } else {
          if (!calls.start(run.ref.run_id, planned.seq, run.owner, judged.evaluation, at)) return null;
          deps.asks.delivered(planned.ask_id);
        }
        const seq = planned?.seq ?? insert(run, request, judged, args, 'started');
        run.counters = { ...run.counters, tool_calls: run.counters.tool_calls + 1 };
        runs.setCounters(run.ref.run_id, run.counters);
        entry(run, 'effect', { call_id: request.call_id, tools, tool, call_hash: judged.hash, state: 'started' });
        record(run.ref, { kind: 'tool_call_started', call_id: request.call_id, tools, tool });
        return { seq, at };
      });
    },

    setPid(run: GateRun, started: Started, pid: number): void {
      const start = deps.pidStart(pid);
      feed.commit('normal', () => calls.setPid(run.ref.run_id, started.seq, pid, start));
    },

    /**
     * Records the outcome. It is on the disk before anybody is told of it: the next durable write (the checkpoint ahead of
     * the model, the start of a call, an ask) comes first and the log keeps the order. @returns false when the lease is
     * another's.
     */
    end(
      run: GateRun,
      request: CallRequest,
      judged: Judged,
      started: Started,
      result: ToolResult,
      rendered: Rendered,
      outputRef: string | null,
    ): boolean {
      const { tools, tool } = judged.prepared.call;
      const at = now();
      return feed.commit('normal', (record) => {
        const state = result.ok ? 'done' : result.error === 'outcome_unknown' ? 'unknown' : 'failed';
        const stored = calls.end(run.ref.run_id, started.seq, run.owner, {
          state,
          result: parsed(rendered.content),
          result_bytes: rendered.bytes,
          result_sha256: rendered.sha256,
          output_ref: outputRef,
          at,
        });
        if (!stored) return false;
        entry(run, 'effect', {
          call_id: request.call_id,
          tools,
          tool,
          call_hash: judged.hash,
          state,
          result_sha256: rendered.sha256,
          result_bytes: rendered.bytes,
        });
        record(run.ref, {
          kind: 'tool_call',
          call_id: request.call_id,
          tools,
          tool,
          ok: result.ok,
          ...(result.ok ? {} : { error: result.error }),
          result: rendered.content,
          result_bytes: rendered.bytes,
          truncated_result: rendered.truncated,
          ...(outputRef === null ? {} : { output_ref: outputRef }),
          duration_ms: at - started.at,
        });
        return true;
      });
    },

    /** A call that a bound stops (02 §11): always an event and an audit row. */
    exhaust(
      run: GateRun,
      request: CallRequest,
      judged: Judged,
      planned: Planned | null,
      exhausted: Exhausted,
      onExhausted: OnExhausted,
    ): ToolOutcome {
      const message = exhaustedText(exhausted, onExhausted);
      const content = errorText('compute_exhausted', message, { bound: exhausted.bound });
      const { tools, tool } = judged.prepared.call;
      const args = deps.mask(judged.prepared.call.args);
      feed.commit('full', (record) => {
        if (planned === null) {
          pending(record, run, request, { tools, tool }, args);
          decision(record, run, request, judged, args);
        }
        close(run, planned?.seq ?? insert(run, request, judged, args, 'skipped'), content);
        record(run.ref, {
          kind: 'compute_exhausted',
          bound: exhausted.bound,
          limit: exhausted.limit,
          used: exhausted.used,
          action: exhausted.action,
        });
        entry(run, 'compute', { ...exhausted });
      });
      if (exhausted.action === 'finish') {
        run.finishing = true;
        return { kind: 'finish', bound: exhausted.bound, used: exhausted.used, limit: exhausted.limit };
      }
      return { kind: 'fatal', error: { code: 'compute_exhausted', message } };
    },

    deniedBefore: (run: GateRun, hash: string): boolean => calls.deniedBefore(run.ref.run_id, hash),
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/** Error results are stored as the objects they are, so that they can be searched. */
function parsed(content: string): unknown {
  if (!content.startsWith('{"ok":')) return content;
  try {
    return JSON.parse(content);
  } catch {
    // A cut text may begin like one.
    return content;
  }
}

function splitName(name: string): { tools: string; tool: string } {
  const dot = name.indexOf('.');
  const cut = name.slice(0, 256);
  return dot < 0 ? { tools: '', tool: cut } : { tools: cut.slice(0, dot), tool: cut.slice(dot + 1) };
}

const withoutTrace = ({ trace: _trace, analysis: _analysis, ...record }: Evaluation): unknown => record;
