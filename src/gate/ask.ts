import type { Ask, Preview } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import { anewOf } from './anew.ts';
import { bindingOf } from './binding.ts';
import { waitForAsk } from './budget.ts';
import { changeCall } from './changed.ts';
import type { LedgerDeps, Planned } from './entries.ts';
import type { Found, Judged } from './find.ts';
import type { Ledger } from './ledger.ts';
import { type OfferDeps, offerToAgent } from './offer.ts';
import { previewOf } from './recall.ts';
import { deniedByAsk, deniedByPolicy, notAsked } from './refusals.ts';
import type { ChangedArguments, GateRun } from './run.ts';

export type AskerDeps = LedgerDeps & OfferDeps;

/** Judges the call with fresh facts; an outcome when it can no longer run at all. */
export type JudgeAgain = (
  run: GateRun,
  request: CallRequest,
  found: Found,
  planned: Planned | null,
) => Promise<Judged | ToolOutcome>;

/** Starts what was judged; `extended` when a spent bound was granted meanwhile. */
export type StartCall = (
  run: GateRun,
  request: CallRequest,
  judged: Judged,
  planned: Planned | null,
) => Promise<ToolOutcome | 'extended'>;

/** Runs what the policy allows without a question. */
export type RunAllowed = (
  run: GateRun,
  request: CallRequest,
  found: Found,
  judged: Judged,
  planned: Planned | null,
) => Promise<ToolOutcome>;

/** What a question is about: a verdict holds for this and nothing else (03 §3). */
type Asked = {
  readonly planned: Planned & { readonly ask_id: string };
  readonly hash: string;
  /** Where its paths led. */
  readonly places: string;
  /** What its commands would start. */
  readonly programs: string | null;
  readonly preimage: string | null;
};

const preimageOf = (preview: Preview): string | null => preview.preimage?.sha256 ?? null;

/** Questions about calls: asked, waited for, and held against what would run by then. */
export function createAsker(
  deps: AskerDeps,
  ledger: Ledger,
  steps: { readonly judge: JudgeAgain; readonly start: StartCall; readonly allowed: RunAllowed },
) {
  const { judge, start } = steps;

  const toolPreview = async (found: Found, { prepared }: Judged): Promise<Preview> =>
    (await found.tool.preview?.(prepared.args, prepared.facts, prepared.site)) ?? {};

  /** Writes the question down. An outcome when the call can never run, or the question cannot be written. */
  const raise = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    judged: Judged,
    planned: Planned | null,
    replaced: string | null,
  ): Promise<Asked | ToolOutcome> => {
    const unfit = found.tool.unfit?.(judged.prepared.facts) ?? null;
    if (unfit !== null) return ledger.refuse(run, request, found, { kind: 'refused', ...unfit }, planned);
    const preview = await toolPreview(found, judged);
    const preimage = preimageOf(preview);
    const policy = judged.evaluation.policy.sha256;
    const binding = bindingOf(judged.hash, policy, preimage);
    try {
      const asked = ledger.ask(
        run,
        request,
        judged,
        {
          ...previewOf(run, judged, preview),
          places: judged.places,
          ...(judged.programs === null ? {} : { programs: judged.programs }),
          ...(replaced === null ? {} : { anew: anewOf(deps.asks.show(replaced), judged, preview) }),
        },
        binding,
        planned,
        replaced,
      );
      const { hash, places, programs } = judged;
      return { planned: asked, hash, places, programs, preimage };
    } catch (error) {
      return unasked(run, request, found, planned, error);
    }
  };

  /** A question that cannot be written down denies the call; the second one in a run fails it (03 §2). */
  const unasked = (
    run: GateRun,
    request: CallRequest,
    found: Found,
    planned: Planned | null,
    error: unknown,
  ): ToolOutcome => {
    const unwritten = error instanceof RuntimeError && (error.code === 'storage' || error.code === 'database_busy');
    if (!unwritten || run.askFailed) throw error;
    run.askFailed = true;
    return ledger.refuse(run, request, found, notAsked(error.message), planned);
  };

  /** Waits until a verdict is about what would run now: changed facts open a new ask (03 §3.4). */
  const settle = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    first: Judged,
    open: Asked,
  ): Promise<ToolOutcome> => {
    let judged = first;
    let asked = open;
    for (;;) {
      const { planned } = asked;
      const withdraw = offerToAgent(deps, run, judged, planned.ask_id);
      const verdict = await waitForAsk(deps.asks, run, planned.ask_id).finally(withdraw);
      if (verdict === null) return { kind: 'suspended' };
      const edited = verdict.verdict?.edited;
      if (edited !== undefined) return change(run, request, found, planned, edited.args);
      if (verdict.state !== 'approved') {
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        return ledger.skip(run, request, judged, planned, 'denied', deniedByAsk(verdict));
      }
      // Once more when a spent bound was asked about in between: time has passed again.
      for (;;) {
        const again = await judge(run, request, found, planned);
        if ('kind' in again) return again;
        const { evaluation } = again;
        if (evaluation.action === 'deny') {
          return ledger.skip(run, request, again, planned, 'denied', deniedByPolicy(evaluation));
        }
        judged = again;
        // Under another policy than the one that it was answered under, nobody has approved it yet (03 §3.2).
        const same =
          again.hash === asked.hash &&
          again.places === asked.places &&
          (asked.programs === null || again.programs === asked.programs) &&
          preimageOf(await toolPreview(found, again)) === asked.preimage &&
          evaluation.policy.sha256 === verdict.policy.sha256;
        // What the rules allow by now needs no verdict.
        if (!same && evaluation.action !== 'allow') break;
        const outcome = await start(run, request, again, planned);
        if (outcome !== 'extended') return outcome;
      }
      const next = await raise(run, request, found, judged, planned, planned.ask_id);
      if ('kind' in next) return next;
      asked = next;
    }
  };

  /** The operator has put other arguments in the place of the call's own: a new call, from the start (03 §3.5). */
  const change = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    before: Asked['planned'],
    args: ChangedArguments,
  ): Promise<ToolOutcome> => {
    const changed = changeCall(run, request, args);
    const planned = { seq: before.seq, ask_id: null };
    const judged = await judge(run, changed, found, planned);
    if ('kind' in judged) return judged;
    ledger.change(run, changed, judged, before);
    const { evaluation } = judged;
    switch (evaluation.action) {
      case 'deny':
        return ledger.skip(run, changed, judged, planned, 'denied', deniedByPolicy(evaluation));
      case 'allow':
        return steps.allowed(run, changed, found, judged, planned);
      case 'approve': {
        const asked = await raise(run, changed, found, judged, planned, before.ask_id);
        return 'kind' in asked ? asked : settle(run, changed, found, judged, asked);
      }
    }
  };

  return {
    /** Asks about a call that the policy leaves to a person. */
    async ask(
      run: GateRun,
      request: CallRequest,
      found: Found,
      judged: Judged,
      planned: Planned | null,
    ): Promise<ToolOutcome> {
      const asked = await raise(run, request, found, judged, planned, null);
      if ('kind' in asked) return asked;
      return settle(run, request, found, judged, asked);
    },

    /** Writes the question down and waits for nobody: the run rests for another one of its batch. */
    async askOnly(run: GateRun, request: CallRequest, found: Found, judged: Judged): Promise<ToolOutcome> {
      await raise(run, request, found, judged, null, null);
      return { kind: 'suspended' };
    },

    /** Goes on with a call whose question was written down before the run rested (03 §11.4). */
    async goOn(run: GateRun, request: CallRequest, found: Found, ask: Ask, seq: number): Promise<ToolOutcome> {
      const planned = { seq, ask_id: ask.id };
      const judged = await judge(run, request, found, planned);
      if ('kind' in judged) return judged;
      const { evaluation } = judged;
      if (ask.state === 'pending' && evaluation.action === 'deny') deps.asks.close(ask.id, 'deny', 'system:policy');
      // A rule was written, and the process died before it could record the verdict (03 §15).
      if (ask.state === 'pending' && evaluation.action === 'allow') {
        deps.asks.close(ask.id, 'cancel', 'system:superseded');
        return steps.allowed(run, request, found, judged, planned);
      }
      const asked = {
        planned,
        hash: ask.call_hash,
        places: ask.preview.places ?? '',
        programs: ask.preview.programs ?? null,
        preimage: ask.preimage?.sha256 ?? null,
      };
      return settle(run, request, found, judged, asked);
    },
  };
}
