import { evaluate, type EvaluateOptions } from '../policy/evaluate.ts';
import type { Evaluation, LoadedPolicy, PolicyCall } from '../schema/policy.ts';
import type { CallHost } from './facts.ts';

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
  if (call.tools === 'plan_summary') return ownRow(loaded);
  for (;;) {
    const evaluation = evaluate(loaded, call, host, options);
    if (!(await host.hashAsked())) return evaluation;
  }
}

/**
 * `plan_summary` is not gated by rules (05 §8): no model is offered it, and it reaches the row of its own step and nothing
 * else. Like every call it is recorded and audited.
 */
const ownRow = ({ identity }: LoadedPolicy): Evaluation => ({
  action: 'allow',
  matched_rule: null,
  reason: 'internal',
  timeout_s: 0,
  on_timeout: null,
  policy: identity,
  detail: 'it writes the summary of its own step and nothing else',
  note: null,
  trust: [],
  exec: null,
});
