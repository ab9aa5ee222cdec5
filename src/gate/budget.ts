import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation } from '../schema/policy.ts';
import { textSha256 } from './binding.ts';
import { type Exhausted, exhaustedText, shareOf } from './bounds.ts';
import type { LedgerDeps } from './entries.ts';
import { byModel } from './recall.ts';
import type { Extended, GateRun } from './run.ts';
import { underLease } from './under-lease.ts';

export type BudgetDeps = Pick<LedgerDeps, 'feed' | 'runs' | 'asks'>;

/** Where a run stands that has spent a bound. A turn has no call. */
type Spender = { readonly task_id: string; readonly call_id: string | null };

/**
 * Waits for the verdict of an ask of this run; the time of the run and of its task stands still meanwhile.
 * @returns null when nobody is waited for: the run rests, and the ask stays open
 */
export async function waitForAsk(asks: BudgetDeps['asks'], run: GateRun, askId: string): Promise<Ask | null> {
  if (run.onAsk === 'deny') asks.close(askId, 'deny', 'system:on-ask-deny');
  if (run.onAsk === 'suspend' && asks.show(askId).state === 'pending') return null;
  run.clock.pause();
  run.waiting(true);
  try {
    return await asks.wait(askId, run.signal);
  } finally {
    run.waiting(false);
    run.clock.resume();
  }
}

/** Asks whether a spent bound is granted once more (02 §11, `onExhausted: ask`). Calls that spend it together ask once. */
export function createBudget(deps: BudgetDeps) {
  const ask = async (run: GateRun, spender: Spender, exhausted: Exhausted): Promise<Extended> => {
    const { bound, used, limit } = exhausted;
    const { identity, policy } = run.policy();
    const args = { bound, used, limit, more: shareOf(policy.compute, run.tighten, bound) };
    const hash = textSha256(JSON.stringify([run.ref.run_id, args]));
    run.ahead.flush();
    // Asked before the run rested: that verdict is the one (03 §11.4).
    const open = run.known === null ? null : deps.asks.ofRun(run.ref.run_id).find((ask) => ask.call_hash === hash);
    const askId =
      open?.id ??
      underLease(deps, run, 'full', (record) =>
        deps.asks.raise(record, {
          kind: 'budget',
          ref: run.ref,
          ...spender,
          tools: 'engine',
          tool: 'extend_budget',
          args,
          summary: `${bound} ${used}/${limit}, ${args.more} more`,
          preview: byModel(run),
          cwd: run.root,
          evaluation: { ...spent, policy: identity, detail: exhaustedText(exhausted) },
          policy: identity,
          call_hash: hash,
          binding: hash,
        }),
      );
    const verdict = await waitForAsk(deps.asks, run, askId);
    if (verdict === null) return 'suspended';
    if (run.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
    if (verdict.state !== 'approved') return 'refused';
    underLease(deps, run, 'full', () => {
      const { grants } = run.counters;
      run.counters = { ...run.counters, grants: { ...grants, [bound]: (grants?.[bound] ?? 0) + 1 } };
      deps.runs.setCounters(run.ref.run_id, run.counters);
      deps.asks.delivered(askId);
    });
    return 'granted';
  };

  return {
    /** @returns once there is a verdict, or `suspended` without one. Rejects with `cancelled` when the run is aborted. */
    extend(run: GateRun, spender: Spender, exhausted: Exhausted): Promise<Extended> {
      run.extending ??= ask(run, spender, exhausted).finally(() => {
        run.extending = null;
      });
      return run.extending;
    },
  };
}

export type Budget = ReturnType<typeof createBudget>;

/** What led to the ask, in the form of every ask: no rule but a bound. */
const spent: Omit<Evaluation, 'policy' | 'detail'> = {
  action: 'approve',
  matched_rule: null,
  reason: 'compute_exhausted',
  timeout_s: 0,
  on_timeout: null,
  note: null,
  trust: [],
  exec: null,
};
