import { RuntimeError } from '../schema/errors.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import { bindingOf, callHash } from './binding.ts';
import { callBound } from './bounds.ts';
import { type Budget, waitForAsk } from './budget.ts';
import { decide } from './decide.ts';
import type { LedgerDeps, Planned } from './entries.ts';
import { type ExecuteDeps, executeCall } from './execute.ts';
import { lineReader } from './facts.ts';
import { type Found, findTool, type Judged, prepareCall } from './find.ts';
import { createLedger } from './ledger.ts';
import { deniedAgain, deniedByAsk, deniedByPolicy, notAsked } from './refusals.ts';
import { type OfferDeps, offerToAgent } from './offer.ts';
import type { GateRun } from './run.ts';

export type GateDeps = LedgerDeps &
  ExecuteDeps &
  OfferDeps & {
    /** Bytes free where the database lies; below 16 MiB no call starts (11 §2.12). */
    readonly freeBytes: () => number;
    /** Asks about spent bounds. */
    readonly budget: Budget;
  };

const minFreeBytes = 16 * 1024 * 1024;

/**
 * The one way in for a tool call (architecture §3): find, check, facts, decide, write down, ask, execute, write down.
 * Never throws for what a model, a tool or a file can cause; rejects with `cancelled` when the run is aborted before
 * the call began.
 */
export function createGate(deps: GateDeps) {
  const ledger = createLedger(deps);

  const judge = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    planned: Planned | null,
  ): Promise<Judged | ToolOutcome> => {
    await run.refresh();
    const prepared = await prepareCall(run, request, found);
    if (prepared.kind === 'refused') return ledger.refuse(run, request, found, prepared, planned);
    const evaluation = await decide(run.policy(), prepared.call, run.host(prepared.cwd), {
      ...(prepared.site.command === null ? {} : { reading: prepared.site.command }),
      ...(await lineReader(run.policy(), found.tools)),
    });
    return { prepared, evaluation, hash: callHash(prepared.call, prepared.cwd, evaluation.exec) };
  };

  const start = async (
    run: GateRun,
    request: CallRequest,
    judged: Judged,
    planned: Planned | null,
  ): Promise<ToolOutcome | 'extended'> => {
    // A cancel may have come while the call was judged or asked about.
    if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
    const { policy } = run.policy();
    const exhausted = callBound(policy.compute, run.tighten, run.counters);
    if (exhausted !== null) {
      const extended = exhausted.action === 'ask' ? await deps.budget.extend(run, request, exhausted) : 'refused';
      if (extended === 'suspended') return { kind: 'suspended' };
      return extended === 'granted' ? 'extended' : ledger.exhaust(run, request, judged, planned, exhausted);
    }
    if (deps.freeBytes() < minFreeBytes) {
      const error = {
        code: 'storage',
        message: 'less than 16 MiB are free where the database lies: nothing is started',
      } as const;
      return { kind: 'fatal', error };
    }
    const started = ledger.start(run, request, judged, planned);
    if (started === null)
      return { kind: 'fatal', error: { code: 'storage', message: 'the run was taken over by another process' } };
    return executeCall(deps, ledger, run, request, judged, started);
  };

  /** Asks until a verdict is about what would run now: changed facts open a new ask (03 §3.4). */
  const ask = async (run: GateRun, request: CallRequest, found: Found, first: Judged): Promise<ToolOutcome> => {
    let judged = first;
    let planned: Planned | null = null;
    let replaced: string | null = null;
    for (;;) {
      const unfit = found.tool.unfit?.(judged.prepared.facts) ?? null;
      if (unfit !== null) return ledger.refuse(run, request, found, { kind: 'refused', ...unfit }, planned);
      const preview =
        (await found.tool.preview?.(judged.prepared.args, judged.prepared.facts, judged.prepared.site)) ?? {};
      const binding = bindingOf(judged.hash, judged.evaluation.policy.sha256, preview.preimage?.sha256 ?? null);
      try {
        planned = ledger.ask(run, request, judged, preview, binding, planned, replaced);
      } catch (error) {
        return unasked(run, request, found, planned, error);
      }
      if (run.onAsk === 'suspend') return { kind: 'suspended' };
      const withdraw = offerToAgent(deps, run, judged, planned.ask_id);
      const verdict = await waitForAsk(deps.asks, run, planned.ask_id).finally(withdraw);
      if (verdict.state !== 'approved') {
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        return ledger.skip(run, request, judged, planned, 'denied', deniedByAsk(verdict));
      }
      const approved = judged;
      // Once more when a spent bound was asked about in between: time has passed again.
      for (;;) {
        const again = await judge(run, request, found, planned);
        if ('kind' in again) return again;
        if (again.evaluation.action === 'deny') {
          return ledger.skip(run, request, again, planned, 'denied', deniedByPolicy(again.evaluation));
        }
        const now = (await found.tool.preview?.(again.prepared.args, again.prepared.facts, again.prepared.site)) ?? {};
        judged = again;
        const same = again.hash === approved.hash && now.preimage?.sha256 === preview.preimage?.sha256;
        // Under another policy that still asks, nobody has approved it yet (03 §3.2).
        const asksStill = again.evaluation.action === 'approve';
        const changed = asksStill && again.evaluation.policy.sha256 !== approved.evaluation.policy.sha256;
        if (!same || changed) break;
        const outcome = await start(run, request, again, planned);
        if (outcome !== 'extended') return outcome;
      }
      replaced = planned.ask_id;
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

  /** What waits for a person does not count toward the task's time. */
  const unhurried = async (run: GateRun, body: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const before = run.clock.waited();
    const outcome = await body();
    const waited_ms = run.clock.waited() - before;
    return outcome.kind === 'result' && waited_ms > 0 ? { ...outcome, waited_ms } : outcome;
  };

  /** A call that the policy allows. */
  const allowed = async (run: GateRun, request: CallRequest, found: Found, first: Judged): Promise<ToolOutcome> => {
    let judged = first;
    for (;;) {
      const outcome = await start(run, request, judged, null);
      if (outcome !== 'extended') return outcome;
      const again = await judge(run, request, found, null);
      if ('kind' in again) return again;
      if (again.evaluation.action === 'deny') {
        return ledger.skip(run, request, again, null, 'denied', deniedByPolicy(again.evaluation));
      }
      if (again.evaluation.action === 'approve') return ask(run, request, found, again);
      judged = again;
    }
  };

  return {
    async call(run: GateRun, request: CallRequest): Promise<ToolOutcome> {
      const found = findTool(run, request);
      if (found.kind === 'refused') return ledger.refuse(run, request, null, found, null);
      const turn = await run.order.enter();
      try {
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        if (!found.tool.spec.read_only) await turn.exclude();
        const judged = await judge(run, request, found, null);
        if ('kind' in judged) return judged;
        switch (judged.evaluation.action) {
          case 'deny':
            return ledger.skip(run, request, judged, null, 'denied', deniedByPolicy(judged.evaluation));
          case 'allow':
            if (found.tool.spec.read_only) await turn.share();
            return await unhurried(run, () => allowed(run, request, found, judged));
          case 'approve':
            if (ledger.deniedBefore(run, judged.hash))
              return ledger.skip(run, request, judged, null, 'denied', deniedAgain());
            await turn.exclude();
            return await unhurried(run, () => ask(run, request, found, judged));
        }
      } finally {
        turn.leave();
      }
    },
  };
}

export type Gate = ReturnType<typeof createGate>;
