import { setImmediate as turn } from 'node:timers/promises';
import { RuntimeError } from '../schema/errors.ts';
import type { ReplayReport, VerdictChange } from '../schema/policy-views.ts';
import type { RecordedCall, RecordedCalls } from '../store/recorded-calls.ts';
import { createRetrials, rank } from './recorded.ts';
import { createJudge } from './judge.ts';
import { openValid, type TrialDeps } from './trial.ts';

export type ReplayDeps = TrialDeps & {
  readonly recorded: RecordedCalls;
  /** Id of a session by its name; null when there is none. */
  readonly sessionId: (name: string) => string | null;
};

/** `policy replay` (02 §14.4): what another policy would have said to the calls of the past. */
export function createReplay(deps: ReplayDeps) {
  /** By its name, or by the id of one that may be deleted. Nothing found of a slip would read as nothing widened. */
  const sessionNamed = (word: string): string => {
    const found = deps.sessionId(word);
    if (found !== null) return found;
    const [known] = deps.recorded.pages({ since: 0, session_id: word, tools: null }, 1);
    if (known !== undefined && known.length > 0) return word;
    throw new RuntimeError('not_found', `There is no session "${word}".`, { hints: ['reins session list'] });
  };
  return {
    /** @throws RuntimeError not_found for the session, usage, policy_not_found, not_trusted, invalid_policy */
    async replayCalls(input: {
      readonly policy: string | null;
      readonly trust: readonly string[];
      readonly since: number;
      readonly session: string | null;
      readonly tools: string | null;
      readonly run_id?: string | undefined;
      readonly limit: number;
    }): Promise<ReplayReport> {
      const loaded = await openValid(deps, { name: input.policy, trust: input.trust });
      const trial = await createJudge();
      const retry = createRetrials(deps, loaded);
      const counts = { checked: 0, tightened: 0, widened: 0, unchanged: 0, not_comparable: 0 };
      const changes: VerdictChange[] = [];
      const session_id = input.session === null ? null : sessionNamed(input.session);
      const filter = { since: input.since, session_id, tools: input.tools, run_id: input.run_id };
      for (const page of deps.recorded.pages(filter, input.limit)) {
        for (const recorded of page) {
          counts.checked += 1;
          const retrial = retry(recorded);
          if (retrial.fault !== null) {
            counts.not_comparable += 1;
            continue;
          }
          await trial.prime(loaded, retrial.call, retrial.host);
          const now = trial.judge(loaded, retrial.call, retrial.host);
          const change = rank[now.action] - rank[recorded.record.action];
          if (change === 0) {
            counts.unchanged += 1;
            continue;
          }
          const kind = change > 0 ? 'widened' : 'tightened';
          counts[kind] += 1;
          changes.push({ ...was(recorded), change: kind, now: now.action, rule: now.matched_rule, detail: now.detail });
        }
        // A long replay leaves room for signals.
        await turn();
      }
      return { policy: loaded.identity, ...counts, changes };
    },
  };
}

function was({ run_id, call_id, at, tools, tool, args, record, ask }: RecordedCall) {
  const outcome = ask === null ? null : { state: ask.state, by: ask.by };
  return { run_id, call_id, at: new Date(at).toISOString(), tools, tool, args, was: record.action, outcome };
}
