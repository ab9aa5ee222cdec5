import { RuntimeError } from '../schema/errors.ts';
import type { Ask } from '../schema/ask.ts';
import type { Evaluation, LoadedPolicy, PolicyCall } from '../schema/policy.ts';
import type { PolicyExplanation } from '../schema/policy-views.ts';
import { createJudge } from './judge.ts';
import { wouldChangeWith } from './would-change.ts';
import { directoryOf, hostsFor, rootOf, type TrialDeps } from './trial.ts';

export type ExplainDeps = TrialDeps & {
  readonly showAsk: (id: string) => Ask;
  /** Root of the run that asks; null when it is not recorded. */
  readonly rootOfRun: (runId: string) => string | null;
  /** The policy that governed when it was asked, as its text was kept; null when it was not. */
  readonly policyOfAsk: (ask: Ask) => Promise<LoadedPolicy | null>;
  /** Why the tool layer would refuse the call before anybody decides; null when it would not. */
  readonly refusal: (call: PolicyCall) => string | null;
  /** Masks known secrets, as the record of a call is masked. */
  readonly mask: <T>(value: T) => T;
  /** The operator's ceiling; null = never. */
  readonly ceilingSeconds: () => number | null;
};

type ExplainInput = {
  readonly call: PolicyCall | null;
  /** Id of a recorded ask in place of a call. */
  readonly ask: string | null;
  /** With `ask`: under the policy that governed when it was asked, not the one that governs now. */
  readonly as_asked: boolean;
  readonly cwd: string | null;
  readonly policy: string | null;
  readonly trust: readonly string[];
  readonly allowed_dir: string | null;
};

/** `explain` (02 §14.2): the record that the gate would store, with trace and analysis. Asks nobody, starts nothing. */
export function createExplain(deps: ExplainDeps) {
  return {
    /** @throws RuntimeError not_found, ambiguous_id (the ask), usage, policy_not_found, not_trusted */
    async explainCall(input: ExplainInput): Promise<PolicyExplanation> {
      const ask = input.ask === null ? null : deps.showAsk(input.ask);
      const call = ask === null ? input.call : callOf(ask);
      if (call === null) throw new RuntimeError('usage', 'neither a call nor an ask was given');
      const kept = ask !== null && input.as_asked ? await deps.policyOfAsk(ask) : null;
      const opened = kept === null ? await deps.openPolicy({ name: input.policy, trust: input.trust }) : null;
      const loaded = kept ?? opened?.current();
      if (loaded === undefined) throw new TypeError('no policy was opened');
      const trial = await createJudge();
      const place = placeOf(ask, input);
      const cwd = ask === null ? directoryOf(call, input.cwd ?? place.root) : ask.cwd;
      const hosts = hostsFor(deps, place, loaded);
      const host = hosts(cwd);
      await trial.prime(loaded, call, host);
      const record = deps.mask(trial.judge(loaded, call, host, true));
      const again = (other: PolicyCall, policy = loaded) => {
        // An ask keeps the directory of its call, which may be gone; a call with another one is where that leads.
        const moved = ask === null || other.args['cwd'] !== call.args['cwd'];
        return trial.judge(policy, other, hosts(moved ? directoryOf(other, input.cwd ?? place.root) : cwd));
      };
      return {
        call: deps.mask({ ...call, cwd }),
        record,
        tried: triedRules(loaded, record),
        wait_s: record.action === 'approve' ? waitOf(record) : null,
        would_change_with: wouldChangeWith(loaded, call, record, { again, ...trial }),
        refused: deps.refusal(call),
        notes: [...(opened?.warnings ?? []), ...notesOn(ask, loaded, kept)],
      };
    },
  };

  function placeOf(ask: Ask | null, input: ExplainInput) {
    const root = ask?.run_id == null ? null : deps.rootOfRun(ask.run_id);
    return root === null ? rootOf(deps, input.allowed_dir) : { root, confined: input.allowed_dir !== null };
  }

  /** Seconds until a denial; null waits without a deadline. */
  function waitOf({ timeout_s: own }: Evaluation): PolicyExplanation['wait_s'] {
    const seconds = own > 0 ? own : own === -1 ? null : deps.ceilingSeconds();
    return seconds === null ? 'never' : seconds;
  }
}

/** @throws RuntimeError wrong_kind for an ask that is about no call of a tool */
export function callOf(ask: Ask): PolicyCall {
  const { tools, tool, args } = ask;
  if (tools !== 'engine' && typeof args === 'object' && args !== null && !Array.isArray(args)) {
    // True because JSON that is neither a scalar nor a list is an object.
    return { tools, tool, args: args as PolicyCall['args'] };
  }
  throw new RuntimeError('wrong_kind', `${ask.id} is a ${ask.kind.replaceAll('_', ' ')}: no rule decides it`, {
    hints: [`reins approvals show ${ask.id}`],
  });
}

function notesOn(ask: Ask | null, loaded: LoadedPolicy, kept: LoadedPolicy | null): readonly string[] {
  if (ask === null) return [];
  const masked = JSON.stringify(ask.args).includes('•••(');
  const changed = kept === null && ask.policy.sha256 !== loaded.identity.sha256;
  return [
    ...(masked ? ['a secret in the arguments is masked: rules that look at it may decide otherwise'] : []),
    ...(changed
      ? [`it was asked under another policy: ${ask.policy.name} (${ask.policy.sha256?.slice(0, 12) ?? 'invalid'})`]
      : []),
  ];
}

/** The rules whose selectors name the tool, up to the one that decided, with their operands. */
function triedRules({ policy }: LoadedPolicy, { trace = [] }: Evaluation): PolicyExplanation['tried'] {
  return trace.flatMap(({ rule, selectors, conditions, outcome }) => {
    const written = policy.rules[rule];
    if (!selectors || written === undefined) return [];
    return [
      {
        rule,
        outcome,
        note: written.note,
        conditions: conditions.map((seen, index) => ({ ...seen, value: written.when[index]?.value ?? '' })),
      },
    ];
  });
}
