import { evaluate, type EvaluateOptions } from '../policy/evaluate.ts';
import type { Evaluation, LoadedPolicy, PolicyCall } from '../schema/policy.ts';
import type { CallHost } from './facts.ts';
import type { GateCall, Judged } from './stages.ts';

/**
 * Decides one call with every digest that its policy needs (02 §10): evaluates, takes the digests that were asked for,
 * and evaluates again until none is missing. Each file is hashed at most once for a host. Never rejects.
 */
export async function decide(
  loaded: LoadedPolicy,
  call: PolicyCall,
  host: CallHost,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const own = ungated[call.tools];
  if (own !== undefined) return allowed(loaded, own);
  for (;;) {
    const evaluation = evaluate(loaded, call, host, options);
    if (!(await host.hashAsked())) return evaluation;
  }
}

/** A question is for a person, whatever lets its call through. */
export const actionOf = ({ found }: GateCall, { evaluation: { action } }: Judged): Evaluation['action'] =>
  action === 'allow' && found.tool.question !== undefined ? 'approve' : action;

/**
 * Providers that no rule gates (05 §8), with why: no model is offered one, and no chain but the program's own finds it. Like
 * every call theirs are recorded and audited.
 */
const ungated: Readonly<Record<string, string | undefined>> = {
  plan_summary: 'it writes the summary of its own step and nothing else',
  model_pull: 'the operator has ordered this download',
};

const allowed = ({ identity }: LoadedPolicy, detail: string): Evaluation => ({
  action: 'allow',
  matched_rule: null,
  reason: 'internal',
  timeout_s: 0,
  on_timeout: null,
  policy: identity,
  detail,
  note: null,
  trust: [],
  exec: null,
});
