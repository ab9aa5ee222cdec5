import { reservedForPeople } from '../policy/reserved.ts';
import type { Ask } from '../schema/ask.ts';
import type { Evaluation, LoadedPolicy, PolicyCall, PolicyIdentity } from '../schema/policy.ts';
import { callOf } from './explain.ts';
import { createJudge, type TrialHost } from './judge.ts';
import { hostsFor, type TrialDeps } from './trial.ts';

export type ReviewDeps = Pick<TrialDeps, 'hosts' | 'workspace'> & {
  /** The policy that an ask was made under, as it is now. Never rejects. */
  readonly policyNow: (identity: PolicyIdentity) => Promise<LoadedPolicy>;
  /** Root of the run that asks; null when it is not recorded. */
  readonly rootOfRun: (runId: string) => string | null;
};

/** An ask, its call and the machine that both are judged on now. */
export type AskedCall = {
  readonly loaded: LoadedPolicy;
  readonly call: PolicyCall;
  readonly host: TrialHost;
  readonly root: string;
};

/** Judges the call of an ask once more, as it was stored (03 §3.2): the run itself judges the true one before it starts. */
export function createReview(deps: ReviewDeps) {
  const asked = (ask: Ask, loaded: LoadedPolicy): AskedCall => {
    const root = (ask.run_id === null ? null : deps.rootOfRun(ask.run_id)) ?? deps.workspace.root;
    return { loaded, call: callOf(ask), host: hostsFor(deps, { root, confined: false }, loaded)(ask.cwd), root };
  };

  return {
    asked,

    /** @returns what the policy says now; null while it is the one of the ask */
    async judgeAgain(ask: Ask): Promise<Evaluation | null> {
      const loaded = await deps.policyNow(ask.policy);
      if (loaded.identity.sha256 === ask.policy.sha256) return null;
      const { call, host } = asked(ask, loaded);
      const trial = await createJudge();
      await trial.prime(loaded, call, host);
      return trial.judge(loaded, call, host);
    },

    /** Why the answer to an ask is a person's each time (03 §9); null when it may be remembered. */
    async reserved(ask: Ask): Promise<string | null> {
      const { reason, detail } = ask.record;
      if (reason !== 'matched_rule' && reason !== 'default_action') return detail ?? reason.replaceAll('_', ' ');
      if (ask.policy.sha256 === null) return 'the policy is invalid';
      const { call, host } = asked(ask, await deps.policyNow(ask.policy));
      const reading = (await createJudge()).read(call);
      return reservedForPeople(call, host, reading === null ? {} : { reading });
    },
  };
}

export type Review = ReturnType<typeof createReview>;
