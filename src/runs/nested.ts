import { type Bound, shareOf } from '../gate/bounds.ts';
import type { RunResult } from '../schema/run.ts';
import type { Feed } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import type { LiveRun } from './live-run.ts';

/** A run that starts another one, as that one sees it: where it belongs, and what it may still spend. */
export type ParentRun = {
  readonly ref: LiveRun['gate']['ref'];
  readonly request: LiveRun['request'];
  /** What is left of a bound; 0 = there is none, below 0 = it is spent. */
  left(bound: Bound): number;
  /** Takes what the other run has used from the bounds of this one. */
  charge(result: Pick<RunResult, 'num_turns' | 'executed_tool_calls' | 'usage'>): void;
};

/** @param live a run of this process that is going */
export function parentRun(deps: { readonly feed: Feed; readonly runs: Runs }, live: LiveRun): ParentRun {
  const { gate } = live;
  const used = (bound: Bound): number =>
    ({ maxTurns: gate.counters.turns, maxToolCalls: gate.counters.tool_calls, maxTokens: gate.counters.tokens })[bound];
  return {
    ref: gate.ref,
    request: live.request,
    left(bound) {
      const share = shareOf(gate.policy().policy.compute, gate.tighten, bound);
      if (share === 0) return 0;
      const left = share * (1 + (gate.counters.grants?.[bound] ?? 0)) - used(bound);
      return left > 0 ? left : -1;
    },
    charge({ num_turns, executed_tool_calls, usage }) {
      gate.counters = {
        ...gate.counters,
        turns: gate.counters.turns + num_turns,
        tool_calls: gate.counters.tool_calls + executed_tool_calls,
        tokens: gate.counters.tokens + usage.total_tokens,
      };
      deps.feed.commit('normal', () => deps.runs.setCounters(gate.ref.run_id, gate.counters));
    },
  };
}
