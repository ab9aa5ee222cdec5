import { RuntimeError } from '../schema/errors.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';
import { withLoss } from './anew.ts';
import { createAsker, type Steps } from './ask.ts';
import { createAskAhead } from './ask-ahead.ts';
import { callHash, originOf, placesOf, programsOf } from './binding.ts';
import { callBound } from './bounds.ts';
import type { Budget } from './budget.ts';
import { changeCall } from './changed.ts';
import { actionOf, decide } from './decide.ts';
import type { LedgerDeps } from './entries.ts';
import { type ExecuteDeps, executeCall } from './execute.ts';
import { lineReader } from './facts.ts';
import { findTool, prepareCall } from './find.ts';
import { restsFor } from './foresee.ts';
import { recordedOutcome } from './known.ts';
import { createLedger } from './ledger.ts';
import { isWhatWasJudged, movedMeanwhile } from './looked.ts';
import type { OfferDeps } from './offer.ts';
import type { Turn } from './order.ts';
import { readingOf, type RecallDeps, recalled } from './recall.ts';
import { deniedAgain, deniedByPolicy, neverBegan } from './refusals.ts';
import type { GateRun } from './run.ts';
import type { GateCall, Judged, RequestedCall } from './stages.ts';
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

const suspended: ToolOutcome = { kind: 'suspended' };

const diskFull: ToolOutcome = {
  kind: 'fatal',
  error: { code: 'storage', message: 'less than 16 MiB are free where the database lies: nothing is started' },
};

/**
 * The one way in for a tool call (architecture §3): find, check, facts, decide, write down, ask, execute, write down.
 * Never throws for what a model, a tool or a file can cause; rejects with `cancelled` when the run is aborted before
 * the call began.
 */
export function createGate(deps: GateDeps) {
  const ledger = createLedger(deps);

  const look: Steps['look'] = async (call) => {
    const { run, found, planned } = call;
    await run.refresh();
    const prepared = await prepareCall(call);
    if (prepared.kind === 'refused') return prepared;
    const host = run.host(prepared.cwd);
    const decided = await decide(run.policy(), prepared.call, host, {
      ...readingOf(prepared),
      ...(await lineReader(run.policy(), found.tools)),
    });
    const evaluation = withLoss(run, prepared, decided);
    // A deny needs no more; anything else is about the file that the tool has looked at.
    if (evaluation.action !== 'deny' && !isWhatWasJudged(prepared.looked, host)) return movedMeanwhile;
    const hash = callHash(prepared.call, prepared.cwd, evaluation.exec);
    const asks = evaluation.action === 'approve';
    const programs = asks ? (programsOf(prepared.site.command, host) ?? originOf(found.tool)) : null;
    const places = placesOf(prepared, host);
    const judged: Judged = { prepared, evaluation, hash, places, programs, outdated: null };
    // What has been asked about already goes by its own verdict, once it has one.
    const isOpen = planned === null || planned.ask_id === null || deps.asks.show(planned.ask_id).state === 'pending';
    return isOpen ? recalled(deps, run, judged) : judged;
  };

  const judge: Steps['judge'] = async (call) => {
    const judged = await look(call);
    return 'kind' in judged ? ledger.refuse(call, judged) : judged;
  };

  const start: Steps['start'] = async (call, judged) => {
    const { run, request } = call;
    // A cancel may have come while the call was judged or asked about.
    if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
    const exhausted = callBound(run.policy().policy.compute, run.tighten, run.counters);
    if (exhausted !== null) {
      const extended = exhausted.action === 'ask' ? await deps.budget.extend(run, request, exhausted) : 'refused';
      if (extended === 'suspended') return restsFor(run, judged);
      return extended === 'granted' ? 'extended' : ledger.exhaust(call, judged, exhausted);
    }
    if (deps.freeBytes() < minFreeBytes) return diskFull;
    const started = ledger.start(call, judged);
    if (started === null) return leaseLost;
    run.begun.add(request.call_id);
    return executeCall(deps, ledger, call, judged, started).finally(() => ledger.release(run, started));
  };

  const allowed: Steps['allowed'] = async (call, first) => {
    let judged = first;
    for (;;) {
      const outcome = await start(call, judged);
      if (outcome !== 'extended') return outcome;
      // A person was asked about the bound: time has passed.
      const again = await judge(call);
      if ('kind' in again) return again;
      const { evaluation } = again;
      if (evaluation.action === 'deny') return ledger.deny(call, again, deniedByPolicy(evaluation));
      if (evaluation.action === 'approve') return asker.ask(call, again);
      judged = again;
    }
  };

  const asker = createAsker(deps, ledger, { judge, start, allowed });
  const askAhead = createAskAhead(deps, ledger, { look }, asker);
  const unknown = createUnknown(deps, ledger, { look, judge, start });

  const inOrder = async (run: GateRun, body: (turn: Turn) => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const turn = await run.order.enter();
    try {
      if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
      return await body(turn);
    } finally {
      turn.leave();
    }
  };

  /** What waits for a person does not count toward the task's time. */
  const unhurried = async (run: GateRun, body: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const before = run.clock.waited();
    const outcome = await body();
    const waited_ms = run.clock.waited() - before;
    return outcome.kind === 'result' && waited_ms > 0 ? { ...outcome, waited_ms } : outcome;
  };

  /** A call that was found started (03 §11.5): it may have run, so it is asked about even where its tool is gone. */
  const settleUnknown = async (call: RequestedCall, known: KnownCall, turn: Turn): Promise<ToolOutcome> => {
    await turn.exclude();
    if (call.request.ask_only === true) return suspended;
    call.run.foreseen.clear();
    return unhurried(call.run, () => unknown.settle(call, known));
  };

  /** The steps of a call whose turn has come. */
  const inTurn = async (call: GateCall, known: KnownCall | undefined, turn: Turn): Promise<ToolOutcome> => {
    const { run, request, found } = call;
    const isReader = found.tool.spec.read_only;
    if (!isReader) await turn.exclude();
    if (request.ask_only === true) return askAhead(call, known);
    run.foreseen.clear();
    if (known !== undefined) {
      const { seq, ask_id } = known;
      if (ask_id !== null) return unhurried(run, () => asker.goOn({ ...call, planned: { seq, ask_id } }));
      // A reader that was found started simply runs again, under the row that it has (03 §11.5).
    }
    const judged = await judge(call);
    if ('kind' in judged) return judged;
    const action = actionOf(call, judged);
    switch (action) {
      case 'deny':
        return ledger.deny(call, judged, deniedByPolicy(judged.evaluation));
      case 'allow':
        if (isReader) await turn.share();
        return unhurried(run, () => allowed(call, judged));
      case 'approve':
        if (ledger.deniedBefore(run, judged.hash)) return ledger.deny(call, judged, deniedAgain());
        await turn.exclude();
        return unhurried(run, () => asker.ask(call, judged));
    }
  };

  return {
    /** Puts a call on record that the engine answered without asking; in the caller's transaction. */
    unsent: ledger.unsent,

    async call(run: GateRun, made: CallRequest): Promise<ToolOutcome> {
      const known = run.known?.get(made.call_id);
      const recorded = known === undefined ? null : recordedOutcome(known, made);
      if (recorded !== null) return recorded;
      const planned = known === undefined ? null : { seq: known.seq, ask_id: null };
      if (run.settle !== null && known?.state !== 'unknown') {
        if (made.ask_only === true) return suspended;
        return ledger.refuse({ run, request: made, found: null, planned }, neverBegan);
      }
      const changed = known?.changed ?? null;
      const request = changed === null ? made : changeCall(run, made, changed);
      if (known?.state === 'unknown') {
        return inOrder(run, (turn) => settleUnknown({ run, request, found: null, planned }, known, turn));
      }
      const found = findTool(run, request);
      if (found.kind === 'refused') return ledger.refuse({ run, request, found: null, planned }, found);
      return inOrder(run, (turn) => inTurn({ run, request, found, planned }, known, turn));
    },
  };
}

export type Gate = ReturnType<typeof createGate>;
