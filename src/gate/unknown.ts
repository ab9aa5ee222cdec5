import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import type { JudgeAgain, StartCall } from './ask.ts';
import { bindingOf, textSha256 } from './binding.ts';
import { waitForAsk } from './budget.ts';
import { withChange } from './changed.ts';
import { createEntries, type LedgerDeps, type Planned } from './entries.ts';
import type { Found, Judged } from './find.ts';
import type { Ledger } from './ledger.ts';
import { deniedByPolicy } from './refusals.ts';
import { errorText } from './result.ts';
import type { GateRun } from './run.ts';
import { underLease } from './under-lease.ts';

const unknownText = errorText(
  'outcome_unknown',
  'This call had started when the process ended, and whether it took effect is not known. Look before you repeat it.',
);

/** Longest beginning of the arguments that stands for a summary where none was made. */
const maxSummary = 120;

/** A verdict was given, and by now another program or place stands where the call leads. */
type Changed = { readonly kind: 'changed'; readonly ask: string; readonly judged: Judged };

/**
 * Calls that were found started and not ended (03 §11.5). None is executed again unless a person says so: he may let it
 * run again, take it as done with a result in his own words, or leave it, and the model is told that nobody knows.
 */
export function createUnknown(deps: LedgerDeps, ledger: Ledger, judge: JudgeAgain, start: StartCall) {
  const { ended } = createEntries(deps);

  /**
   * Asked from what is on record: the call itself may no longer be possible, just because it did run.
   * @param changed what would run by now, after a verdict on something else
   */
  const raise = (run: GateRun, request: CallRequest, known: KnownCall, changed: Changed | null = null): string => {
    run.ahead.flush();
    const { tools, tool, args } = known;
    const before = known.ask_id === null ? null : deps.asks.show(known.ask_id);
    const record = changed === null ? known.record : deps.mask(changed.judged.evaluation);
    const evaluation: Evaluation = { ...record, timeout_s: 0, on_timeout: null };
    const call_hash = changed?.judged.hash ?? known.call_hash;
    const places = changed?.judged.places ?? before?.preview.places;
    const programs = changed?.judged.programs ?? before?.preview.programs;
    return underLease(deps, run, 'full', (record) => {
      const askId = deps.asks.raise(record, {
        kind: 'unknown_outcome',
        ref: run.ref,
        task_id: request.task_id,
        call_id: request.call_id,
        tools,
        tool,
        args,
        summary: before?.summary ?? JSON.stringify(args).slice(0, maxSummary),
        preview: {
          ...(places === undefined ? {} : { places }),
          ...(programs === undefined ? {} : { programs }),
          ...(before?.preview.paths === undefined ? {} : { paths: before.preview.paths }),
          ...(known.started_at === null ? {} : { started_at: new Date(known.started_at).toISOString() }),
        },
        cwd: before?.cwd ?? run.root,
        evaluation,
        policy: evaluation.policy,
        call_hash,
        binding: bindingOf(call_hash, evaluation.policy.sha256, null),
      });
      deps.calls.setAsk(run.ref.run_id, known.seq, askId);
      if (changed !== null) deps.asks.supersede(changed.ask, askId);
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
    const { state } = end;
    const content = withChange(run, request, end.content);
    const ok = state === 'done';
    underLease(deps, run, 'full', (record) => {
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

  /** Runs it once more, if it is still the call that the verdict was given to (03 §3.1). */
  const runAgain = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    { ask, planned }: { readonly ask: Ask; readonly planned: Planned },
  ): Promise<ToolOutcome | Changed> => {
    for (;;) {
      const judged = await judge(run, request, found, planned);
      if ('kind' in judged) return judged;
      const { evaluation, hash, places, programs } = judged;
      if (evaluation.action === 'deny') {
        return ledger.skip(run, request, judged, planned, 'denied', deniedByPolicy(evaluation));
      }
      const { preview } = ask;
      const same =
        hash === ask.call_hash && (preview.places ?? places) === places && (preview.programs ?? programs) === programs;
      if (!same && evaluation.action !== 'allow') return { kind: 'changed', ask: ask.id, judged };
      const outcome = await start(run, request, judged, planned);
      if (outcome !== 'extended') return outcome;
    }
  };

  return {
    async settle(run: GateRun, request: CallRequest, found: Found, known: KnownCall): Promise<ToolOutcome> {
      const open = known.ask_id === null ? null : deps.asks.show(known.ask_id);
      let askId = open?.kind === 'unknown_outcome' ? open.id : raise(run, request, known);
      for (;;) {
        const ask = await waitForAsk(deps.asks, run, askId);
        if (ask === null) return { kind: 'suspended' };
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        if (ask.state === 'answered') {
          return settle(run, request, known, ask, { state: 'done', content: ask.verdict?.text ?? '' });
        }
        if (ask.state !== 'approved') {
          return settle(run, request, known, ask, { state: 'unknown', content: unknownText });
        }
        const again = await runAgain(run, request, found, { ask, planned: { seq: known.seq, ask_id: askId } });
        if (again.kind !== 'changed') return again;
        askId = raise(run, request, known, again);
      }
    },
  };
}
