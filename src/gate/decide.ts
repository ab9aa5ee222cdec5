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
  for (;;) {
    const evaluation = evaluate(loaded, call, host, options);
    if (!(await host.hashAsked())) return evaluation;
  }
}
