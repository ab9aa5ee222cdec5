import { RuntimeError } from '../schema/errors.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import { createAsker } from './ask.ts';
import { callHash, placesOf, programsOf } from './binding.ts';
import { callBound } from './bounds.ts';
import type { Budget } from './budget.ts';
import { changeCall } from './changed.ts';
import { decide } from './decide.ts';
import type { LedgerDeps, Planned } from './entries.ts';
import { type ExecuteDeps, executeCall } from './execute.ts';
import { lineReader } from './facts.ts';
import { type Found, findTool, type Judged, prepareCall } from './find.ts';
import { recordedOutcome } from './known.ts';
import { createLedger } from './ledger.ts';
import type { OfferDeps } from './offer.ts';
import { type RecallDeps, recalled } from './recall.ts';
import { deniedAgain, deniedByPolicy, neverBegan } from './refusals.ts';
import type { GateRun } from './run.ts';
import { leaseLost } from './under-lease.ts';
import { createUnknown } from './unknown.ts';

export type GateDeps = LedgerDeps &
  ExecuteDeps &
  OfferDeps &
  RecallDeps & {
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
    const host = run.host(prepared.cwd);
    const evaluation = await decide(run.policy(), prepared.call, host, {
      ...(prepared.site.command === null ? {} : { reading: prepared.site.command }),
      ...(await lineReader(run.policy(), found.tools)),
    });
    const hash = callHash(prepared.call, prepared.cwd, evaluation.exec);
    const programs = evaluation.action === 'approve' ? programsOf(prepared.site.command, host) : null;
    const judged = { prepared, evaluation, hash, places: placesOf(prepared.call, host), programs };
    // What has been asked about already goes by its own verdict.
    return planned === null || planned.ask_id === null ? recalled(deps, run, judged) : judged;
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
    if (started === null) return leaseLost;
    run.begun.add(request.call_id);
    return executeCall(deps, ledger, run, request, judged, started);
  };

  /** What waits for a person does not count toward the task's time. */
  const unhurried = async (run: GateRun, body: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const before = run.clock.waited();
    const outcome = await body();
    const waited_ms = run.clock.waited() - before;
    return outcome.kind === 'result' && waited_ms > 0 ? { ...outcome, waited_ms } : outcome;
  };

  /** A call that the policy allows. */
  const allowed = async (
    run: GateRun,
    request: CallRequest,
    found: Found,
    first: Judged,
    planned: Planned | null,
  ): Promise<ToolOutcome> => {
    let judged = first;
    for (;;) {
      const outcome = await start(run, request, judged, planned);
      if (outcome !== 'extended') return outcome;
      const again = await judge(run, request, found, planned);
      if ('kind' in again) return again;
      if (again.evaluation.action === 'deny') {
        return ledger.skip(run, request, again, planned, 'denied', deniedByPolicy(again.evaluation));
      }
      if (again.evaluation.action === 'approve') return asker.ask(run, request, found, again, planned);
      judged = again;
    }
  };

  const asker = createAsker(deps, ledger, { judge, start, allowed });
  const unknown = createUnknown(deps, ledger, judge, start);

  /** A call that is on record and has not ended: its outcome is unknown, or it waits for a verdict (03 §11.4). */
  const goOn = (run: GateRun, request: CallRequest, found: Found, known: KnownCall): Promise<ToolOutcome> =>
    known.ask_id === null || known.state === 'unknown'
      ? unknown.settle(run, request, found, known)
      : asker.goOn(run, request, found, deps.asks.show(known.ask_id), known.seq);

  return {
    /** Puts a call on record that the engine answered without asking; in the caller's transaction. */
    unsent: ledger.unsent,

    async call(run: GateRun, made: CallRequest): Promise<ToolOutcome> {
      const known = run.known?.get(made.call_id);
      const recorded = known === undefined ? null : recordedOutcome(known, made);
      if (recorded !== null) return recorded;
      if (run.settle !== null && known?.state !== 'unknown') {
        if (made.ask_only === true) return { kind: 'suspended' };
        return ledger.refuse(
          run,
          made,
          null,
          neverBegan,
          known === undefined ? null : { seq: known.seq, ask_id: null },
        );
      }
      const changed = known?.changed ?? null;
      const request = changed === null ? made : changeCall(run, made, changed);
      const found = findTool(run, request);
      if (found.kind === 'refused') return ledger.refuse(run, request, null, found, null);
      const turn = await run.order.enter();
      try {
        if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        if (!found.tool.spec.read_only) await turn.exclude();
        if (known !== undefined) {
          if (request.ask_only === true) return { kind: 'suspended' };
          // A reader that was found started simply runs again, under the row that it has (03 §11.5).
          if (known.state === 'unknown' || known.ask_id !== null) {
            return await unhurried(run, () => goOn(run, request, found, known));
          }
        }
        const planned = known === undefined ? null : { seq: known.seq, ask_id: null };
        const judged = await judge(run, request, found, planned);
        if ('kind' in judged) return judged;
        const { action } = judged.evaluation;
        if (request.ask_only === true) {
          return action === 'approve' ? asker.askOnly(run, request, found, judged) : { kind: 'suspended' };
        }
        switch (action) {
          case 'deny':
            return ledger.skip(run, request, judged, planned, 'denied', deniedByPolicy(judged.evaluation));
          case 'allow':
            if (found.tool.spec.read_only) await turn.share();
            return await unhurried(run, () => allowed(run, request, found, judged, planned));
          case 'approve':
            if (ledger.deniedBefore(run, judged.hash))
              return ledger.skip(run, request, judged, planned, 'denied', deniedAgain());
            await turn.exclude();
            return await unhurried(run, () => asker.ask(run, request, found, judged, planned));
        }
      } finally {
        turn.leave();
      }
    },
  };
}

export type Gate = ReturnType<typeof createGate>;
