import type { Ask, Preview } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import type { Steps } from './ask.ts';
import { bindingOf, textSha256 } from './binding.ts';
import { waitForAsk } from './budget.ts';
import { withChange } from './changed.ts';
import { createEntries, type LedgerDeps } from './entries.ts';
import { findTool } from './find.ts';
import { foresee } from './foresee.ts';
import type { Ledger } from './ledger.ts';
import { preimageOf, toolPreview } from './preimage.ts';
import { deniedByPolicy } from './refusals.ts';
import { errorText } from './result.ts';
import type { GateCall, Judged, RequestedCall } from './stages.ts';
import { underLease } from './under-lease.ts';

const unknownText = errorText(
  'outcome_unknown',
  'This call had started when the process ended, and whether it took effect is not known. Look before you repeat it.',
);

const madeOnce = errorText(
  'outcome_unknown',
  'This call had started when the process ended. It was not run again, because its file is not what it was before: the call may have changed it. Read it before you repeat the call.',
);

/** What would be written is there already. */
const changesNothing = ({ found }: GateCall, { prepared }: Judged): boolean =>
  prepared.leaves === undefined && (found.tool.unfit?.(prepared.facts) ?? null) === null;

/** Longest beginning of the arguments that stands for a summary where none was made. */
const maxSummary = 120;

/** What a tool says of itself in a line is gone with its call: a command line, a path, an address, or all that was given. */
function summaryOf(args: unknown): string {
  const { command, path, url } = Object(args) as Readonly<Record<string, unknown>>;
  const said = [command, path, url].find((text) => typeof text === 'string' && text !== '');
  return typeof said === 'string' ? said : JSON.stringify(args).slice(0, maxSummary);
}

/** A verdict was given, but another program or place now stands where the call leads. */
type Changed = { readonly kind: 'changed'; readonly ask: string; readonly judged: Judged };

/**
 * Calls that were found started and not ended (03 §11.5). None is executed again unless a person says so: he may let it
 * run again, take it as done with a result in his own words, or leave it, and the model is told that nobody knows.
 */
export function createUnknown(
  deps: LedgerDeps,
  ledger: Ledger,
  { look, judge, start }: Pick<Steps, 'look' | 'judge' | 'start'>,
) {
  const { ended } = createEntries(deps);

  /**
   * Asked from what is on record: the call itself may no longer be possible, just because it did run.
   * @param changed what would run by now, after a verdict on something else
   */
  const raise = (
    { run, request }: RequestedCall,
    known: KnownCall,
    changed: Changed | null,
    fileNow: Preview['file_now'] | null,
  ): string => {
    run.ahead.flush();
    const { tools, tool, args } = known;
    const before = known.ask_id === null ? null : deps.asks.show(known.ask_id);
    const record = changed === null ? known.record : deps.maskKnown(changed.judged.evaluation);
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
        summary: before?.summary ?? summaryOf(args),
        preview: {
          ...(places === undefined ? {} : { places }),
          ...(programs === undefined ? {} : { programs }),
          ...(before?.preview.by_model === undefined ? {} : { by_model: before.preview.by_model }),
          ...(before?.preview.paths === undefined ? {} : { paths: before.preview.paths }),
          ...(before?.preview.preimage === undefined ? {} : { preimage: before.preview.preimage }),
          ...(fileNow === null || fileNow === undefined ? {} : { file_now: fileNow }),
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
  const end = (
    call: RequestedCall,
    known: KnownCall,
    ask: Ask,
    state: 'done' | 'unknown',
    told: string,
  ): ToolOutcome => {
    const { run } = call;
    const content = withChange(call, told);
    const ok = state === 'done';
    const error = ok ? null : 'outcome_unknown';
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
      ended(record, call, { tools: known.tools, tool: known.tool }, { content, error });
    });
    return { kind: 'result', ok, content, ...(error === null ? {} : { error }) };
  };

  /** Whether the file of an approved change is the one that it was made for; null where nobody can tell. */
  const fileOf = async (unfound: RequestedCall, known: KnownCall): Promise<Preview['file_now'] | null> => {
    const before = known.ask_id === null ? undefined : deps.asks.show(known.ask_id).preview.preimage;
    const found = findTool(unfound.run, unfound.request);
    if (before === undefined || found.kind === 'refused') return null;
    const call = { ...unfound, found };
    const judged = await look(call);
    if ('kind' in judged) return null;
    if (preimageOf(await toolPreview(call, judged)) !== before.sha256) return 'another';
    // What comes behind it was asked about on top of it; let run again, it leaves just that.
    foresee(call.run, judged);
    return 'as_before';
  };

  const endedOnce = (call: RequestedCall, known: KnownCall, ask: Ask): ToolOutcome => {
    const what = `${known.tools}.${known.tool} ${ask.summary}`;
    const message = `${what} was not run again: the file is not what it was before the call.`;
    const notice = { kind: 'notice', level: 'warn', code: 'changed_since_approval', message } as const;
    deps.feed.commit('normal', (record) => record(call.run.ref, notice));
    return end(call, known, ask, 'unknown', madeOnce);
  };

  /** Runs it once more, if it is still the call that the verdict was given to (03 §3.1). */
  const runAgain = async (unfound: RequestedCall, known: KnownCall, ask: Ask): Promise<ToolOutcome | Changed> => {
    const found = findTool(unfound.run, unfound.request);
    if (found.kind === 'refused') return ledger.refuse(unfound, found);
    const call = { ...unfound, found };
    for (;;) {
      const judged = await judge(call);
      if ('kind' in judged) return judged;
      const { evaluation, hash, places, programs } = judged;
      if (evaluation.action === 'deny') return ledger.deny(call, judged, deniedByPolicy(evaluation));
      const { preview } = ask;
      const same =
        hash === ask.call_hash && (preview.places ?? places) === places && (preview.programs ?? programs) === programs;
      if (!same && evaluation.action !== 'allow') return { kind: 'changed', ask: ask.id, judged };
      // To change what was changed already is not what was approved.
      const isOther = ask.preimage !== null && preimageOf(await toolPreview(call, judged)) !== ask.preimage.sha256;
      if (isOther && !changesNothing(call, judged)) return endedOnce(unfound, known, ask);
      const outcome = await start(call, judged);
      if (outcome !== 'extended') return outcome;
    }
  };

  return {
    /** Asks what is to become of the call, and does that. */
    async settle(call: RequestedCall, known: KnownCall): Promise<ToolOutcome> {
      const open = known.ask_id === null ? null : deps.asks.show(known.ask_id);
      const fileNow = await fileOf(call, known);
      let askId = open?.kind === 'unknown_outcome' ? open.id : raise(call, known, null, fileNow);
      for (;;) {
        const ask = await waitForAsk(deps.asks, call.run, askId);
        if (ask === null) return { kind: 'suspended' };
        if (call.run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        if (ask.state === 'answered') return end(call, known, ask, 'done', ask.verdict?.text ?? '');
        if (ask.state !== 'approved') return end(call, known, ask, 'unknown', unknownText);
        const again = await runAgain({ ...call, planned: { seq: known.seq, ask_id: askId } }, known, ask);
        if (again.kind !== 'changed') return again;
        askId = raise(call, known, again, ask.preview.file_now ?? null);
      }
    },
  };
}
