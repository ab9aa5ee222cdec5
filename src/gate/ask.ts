import { evaluate } from '../policy/evaluate.ts';
import type { Ask, Preview } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ToolOutcome } from '../schema/protocol.ts';
import { anewOf } from './anew.ts';
import { waitForAsk } from './budget.ts';
import { changeCall } from './changed.ts';
import type { LedgerDeps } from './entries.ts';
import type { Ledger } from './ledger.ts';
import { restsFor } from './foresee.ts';
import { type OfferDeps, offerToAgent } from './offer.ts';
import { isSameChange, preimageOf, toolPreview } from './preimage.ts';
import { previewOf } from './recall.ts';
import { changedSince, deniedByAsk, deniedByPolicy, notAsked } from './refusals.ts';
import type { ChangedArguments } from './run.ts';
import type { AskedCall, GateCall, Judged, Refused } from './stages.ts';

export type AskerDeps = LedgerDeps & OfferDeps;

/** The steps of `call.ts` that a verdict leads back to. */
export type Steps = {
  /** Judges the call with fresh facts, and writes nothing down. */
  readonly look: (call: GateCall) => Promise<Judged | Refused>;
  /** Judges the call with fresh facts; an outcome when it can no longer run at all. */
  readonly judge: (call: GateCall) => Promise<Judged | ToolOutcome>;
  /** Starts what was judged; `extended` when a spent bound was granted meanwhile. */
  readonly start: (call: GateCall, judged: Judged) => Promise<ToolOutcome | 'extended'>;
  /** Runs what the policy allows without a question. */
  readonly allowed: (call: GateCall, judged: Judged) => Promise<ToolOutcome>;
};

/** What a question is about: a verdict holds for this and nothing else (03 §3). */
type Asked = {
  readonly call: AskedCall;
  readonly hash: string;
  /** Where its paths led. */
  readonly places: string;
  /** What its commands would start. */
  readonly programs: string | null;
  /** What was shown of it, with the state of its file. */
  readonly shown: Preview;
};

/** Questions about calls: asked, waited for, and held against what would run by then. */
export function createAsker(
  deps: AskerDeps,
  ledger: Ledger,
  { judge, start, allowed }: Pick<Steps, 'judge' | 'start' | 'allowed'>,
) {
  /** Why the call cannot work. Files beside a missing one are named as far as the policy lets them be read. */
  const unfitFor = ({ run, found }: GateCall, { prepared }: Judged): Refused | null => {
    const host = run.host(prepared.cwd);
    const mayName = (path: string): boolean =>
      evaluate(run.policy(), { tools: 'local_fs', tool: 'read_file', args: { path } }, host).action !== 'deny';
    const unfit = found.tool.unfit?.(prepared.facts, mayName) ?? null;
    return unfit === null ? null : { kind: 'refused', ...unfit };
  };

  /** Whoever has answered hears that what was approved is not done, wherever the run goes on. */
  const tellChanged = ({ run, found }: GateCall, { prepared }: Judged): void => {
    const what = `${found.tools}.${found.name} ${prepared.summary}`;
    const message = `${what} was not run: the file is not the one that was asked about.`;
    const notice = { kind: 'notice', level: 'warn', code: 'changed_since_approval', message } as const;
    deps.feed.commit('normal', (record) => record(run.ref, notice));
  };

  /**
   * Writes the question down. An outcome when the call can never run, or the question cannot be written.
   * @param replaced the ask in whose place it comes
   */
  const raise = async (call: GateCall, judged: Judged, replaced: string | null): Promise<Asked | ToolOutcome> => {
    const unfit = unfitFor(call, judged);
    const preview = await toolPreview(call, judged);
    const { hash, places, programs, outdated } = judged;
    const before = replaced === null ? outdated : deps.asks.show(replaced);
    if (unfit !== null) {
      const isOther = before !== null && (before.preimage?.sha256 ?? null) !== preimageOf(preview);
      if (!isOther) return ledger.refuse(call, unfit);
      tellChanged(call, judged);
      return ledger.refuse(call, changedSince(before, unfit));
    }
    try {
      const shown = {
        ...previewOf(call, judged, preview),
        places,
        ...(programs === null ? {} : { programs }),
        ...(before === null ? {} : { anew: anewOf(before, judged, preview) }),
      };
      const asked = ledger.ask(call, judged, shown, replaced);
      return { call: asked, hash, places, programs, shown: preview };
    } catch (error) {
      return unasked(call, error);
    }
  };

  /** A question that cannot be written down denies the call; the second one in a run fails it (03 §2). */
  const unasked = (call: GateCall, error: unknown): ToolOutcome => {
    const unwritten = error instanceof RuntimeError && (error.code === 'storage' || error.code === 'database_busy');
    if (!unwritten || call.run.askFailed) throw error;
    call.run.askFailed = true;
    return ledger.refuse(call, notAsked(error.message));
  };

  /**
   * Whether the file is the one that was asked about. Where it was to follow earlier calls, and not all of these have run,
   * it may be another one that they alone have made: then it is asked about again only if the change looks different.
   */
  const isFileAsked = async ({ call, shown }: Asked, judged: Judged): Promise<boolean> => {
    const now = await toolPreview(call, judged);
    const file = preimageOf(now);
    if (file === preimageOf(shown)) return true;
    if (shown.follows === undefined || !isSameChange(shown, now)) return false;
    if (file === shown.follows.base) return true;
    const { path } = judged.prepared.call.args;
    if (file === null || typeof path !== 'string') return false;
    const since = Date.parse(deps.asks.show(call.planned.ask_id).created_at);
    return deps.calls.hasLeft(call.run.ref.run_id, { path, sha256: file }, since);
  };

  /** Whether what would run is what was asked about. */
  const isAsked = async (asked: Asked, judged: Judged): Promise<boolean> =>
    judged.hash === asked.hash &&
    judged.places === asked.places &&
    (asked.programs === null || judged.programs === asked.programs) &&
    (await isFileAsked(asked, judged));

  /**
   * Runs what was approved, judged anew: time has passed.
   * @returns `changed` with what would run now, when that is not what the verdict was given to
   */
  const runApproved = async (asked: Asked, verdict: Ask): Promise<ToolOutcome | { readonly changed: Judged }> => {
    const { call } = asked;
    for (;;) {
      const judged = await judge(call);
      if ('kind' in judged) return judged;
      const { evaluation } = judged;
      if (evaluation.action === 'deny') return ledger.deny(call, judged, deniedByPolicy(evaluation));
      // Under another policy than the one that it was answered under, nobody has approved it yet (03 §3.2).
      const same = (await isAsked(asked, judged)) && evaluation.policy.sha256 === verdict.policy.sha256;
      // What the rules allow by now needs no verdict.
      if (!same && evaluation.action !== 'allow') return { changed: judged };
      const outcome = await start(call, judged);
      // Once more when a spent bound was asked about in between.
      if (outcome !== 'extended') return outcome;
    }
  };

  /** Runs a call with what was said to its question; only a policy that denies it by now stands in the way. */
  const runAnswered = async (call: AskedCall, answer: string): Promise<ToolOutcome> => {
    for (;;) {
      const judged = await judge(call);
      if ('kind' in judged) return judged;
      const { evaluation } = judged;
      if (evaluation.action === 'deny') return ledger.deny(call, judged, deniedByPolicy(evaluation));
      const outcome = await start({ ...call, answer }, judged);
      if (outcome !== 'extended') return outcome;
    }
  };

  /** Waits until a verdict is about what would run now: changed facts open a new ask (03 §3.4). */
  const settle = async (first: Judged, open: Asked): Promise<ToolOutcome> => {
    let judged = first;
    let asked = open;
    for (;;) {
      const { call } = asked;
      const { run, planned } = call;
      const withdraw = offerToAgent(deps, call, judged);
      const verdict = await waitForAsk(deps.asks, run, planned.ask_id).finally(withdraw);
      if (verdict === null) return restsFor(run, judged);
      const edited = verdict.verdict?.edited;
      if (verdict.state === 'answered') return runAnswered(call, verdict.verdict?.text ?? '');
      if (edited !== undefined) return change(call, edited.args);
      if (verdict.state !== 'approved') {
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        return ledger.deny(call, judged, deniedByAsk(verdict));
      }
      const ran = await runApproved(asked, verdict);
      if (!('changed' in ran)) return ran;
      judged = ran.changed;
      const next = await raise(call, judged, planned.ask_id);
      if ('kind' in next) return next;
      asked = next;
    }
  };

  /** The operator has put other arguments in the place of the call's own: a new call, from the start (03 §3.5). */
  const change = async (before: AskedCall, args: ChangedArguments): Promise<ToolOutcome> => {
    const call = {
      ...before,
      request: changeCall(before.run, before.request, args),
      planned: { seq: before.planned.seq, ask_id: null },
    };
    const answered = before.planned.ask_id;
    const judged = await judge(call);
    if ('kind' in judged) return judged;
    ledger.change(call, judged, answered);
    const { evaluation } = judged;
    switch (evaluation.action) {
      case 'deny':
        return ledger.deny(call, judged, deniedByPolicy(evaluation));
      case 'allow':
        return allowed(call, judged);
      case 'approve': {
        const asked = await raise(call, judged, answered);
        return 'kind' in asked ? asked : settle(judged, asked);
      }
    }
  };

  return {
    raise,
    unfitFor,

    /** Asks about a call that the policy leaves to a person. */
    async ask(call: GateCall, judged: Judged): Promise<ToolOutcome> {
      const asked = await raise(call, judged, null);
      return 'kind' in asked ? asked : settle(judged, asked);
    },

    /** Goes on with a call whose question was written down before the run rested (03 §11.4). */
    async goOn(call: AskedCall): Promise<ToolOutcome> {
      const ask = deps.asks.show(call.planned.ask_id);
      const judged = await judge(call);
      if ('kind' in judged) return judged;
      const { action } = judged.evaluation;
      if (ask.state === 'pending' && action === 'deny') deps.asks.close(ask.id, 'deny', 'system:policy');
      // A rule was written, and the process died before it could record the verdict (03 §15).
      if (ask.state === 'pending' && action === 'allow' && ask.kind === 'permission') {
        deps.asks.close(ask.id, 'cancel', 'system:superseded');
        return allowed(call, judged);
      }
      const { places = '', programs = null } = ask.preview;
      const asked = { call, hash: ask.call_hash, places, programs, shown: ask.preview };
      const isStale = ask.state === 'pending' && ask.kind === 'permission' && action === 'approve';
      // Whoever answers is not asked about what is gone already.
      if (!isStale || (await isAsked(asked, judged))) return settle(judged, asked);
      const next = await raise(call, judged, ask.id);
      return 'kind' in next ? next : settle(judged, next);
    },
  };
}

export type Asker = ReturnType<typeof createAsker>;
