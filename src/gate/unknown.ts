import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import type { JudgeAgain, StartCall } from './ask.ts';
import { bindingOf, textSha256 } from './binding.ts';
import { waitForAsk } from './budget.ts';
import { createEntries, type LedgerDeps } from './entries.ts';
import type { Found } from './find.ts';
import type { Ledger } from './ledger.ts';
import { deniedByPolicy } from './refusals.ts';
import { errorText } from './result.ts';
import type { GateRun } from './run.ts';

const unknownText = errorText(
  'outcome_unknown',
  'This call had started when the process ended, and whether it took effect is not known. Look before you repeat it.',
);

/** Longest beginning of the arguments that stands for a summary where none was made. */
const maxSummary = 120;

/**
 * Calls that were found started and not ended (03 §11.5). None is executed again unless a person says so: he may let it
 * run again, take it as done with a result in his own words, or leave it, and the model is told that nobody knows.
 */
export function createUnknown(deps: LedgerDeps, ledger: Ledger, judge: JudgeAgain, start: StartCall) {
  const { ended } = createEntries(deps);

  /** Asked from what is on record: the call itself may no longer be possible, just because it did run. */
  const raise = (run: GateRun, request: CallRequest, known: KnownCall): string => {
    run.ahead.flush();
    const { tools, tool, args } = known;
    const before = known.ask_id === null ? null : deps.asks.show(known.ask_id);
    const evaluation: Evaluation = { ...known.record, timeout_s: 0, on_timeout: null };
    return deps.feed.commit('full', (record) => {
      const askId = deps.asks.raise(record, {
        kind: 'unknown_outcome',
        ref: run.ref,
        task_id: request.task_id,
        call_id: request.call_id,
        tools,
        tool,
        args,
        summary: before?.summary ?? JSON.stringify(args).slice(0, maxSummary),
        preview: {},
        cwd: before?.cwd ?? run.root,
        evaluation,
        policy: evaluation.policy,
        call_hash: known.call_hash,
        binding: bindingOf(known.call_hash, evaluation.policy.sha256, null),
      });
      deps.calls.setAsk(run.ref.run_id, known.seq, askId);
      return askId;
    });
  };

  /** What a person, or the deadline, has made of it; nothing is executed. */
  const settle = (
    run: GateRun,
    request: CallRequest,
    known: KnownCall,
    ask: Ask,
    end: { readonly state: 'done' | 'unknown'; readonly content: string },
  ): ToolOutcome => {
    const { state, content } = end;
    const ok = state === 'done';
    deps.feed.commit('full', (record) => {
      deps.asks.delivered(ask.id);
      deps.calls.end(run.ref.run_id, known.seq, run.owner, {
        state,
        result: ok ? content : JSON.parse(content),
        result_bytes: Buffer.byteLength(content),
        result_sha256: textSha256(content),
        output_ref: null,
        at: deps.now(),
      });
      const names = { tools: known.tools, tool: known.tool };
      if (!ok) return ended(record, run, request, names, content, 'outcome_unknown');
      record(run.ref, {
        kind: 'tool_call',
        call_id: request.call_id,
        ...names,
        ok: true,
        result: content,
        result_bytes: Buffer.byteLength(content),
        truncated_result: false,
        duration_ms: 0,
      });
    });
    return { kind: 'result', ok, content, ...(ok ? {} : { error: 'outcome_unknown' }) };
  };

  return {
    async settle(run: GateRun, request: CallRequest, found: Found, known: KnownCall): Promise<ToolOutcome> {
      const open = known.ask_id === null ? null : deps.asks.show(known.ask_id);
      const askId = open?.kind === 'unknown_outcome' ? open.id : raise(run, request, known);
      const ask = await waitForAsk(deps.asks, run, askId);
      if (ask === null) return { kind: 'suspended' };
      if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
      if (ask.state === 'answered') {
        return settle(run, request, known, ask, { state: 'done', content: ask.verdict?.text ?? '' });
      }
      if (ask.state !== 'approved') {
        return settle(run, request, known, ask, { state: 'unknown', content: unknownText });
      }
      const planned = { seq: known.seq, ask_id: askId };
      for (;;) {
        const judged = await judge(run, request, found, planned);
        if ('kind' in judged) return judged;
        const { evaluation } = judged;
        if (evaluation.action === 'deny') {
          return ledger.skip(run, request, judged, planned, 'denied', deniedByPolicy(evaluation));
        }
        const outcome = await start(run, request, judged, planned);
        if (outcome !== 'extended') return outcome;
      }
    },
  };
}

export type Unknown = ReturnType<typeof createUnknown>;
