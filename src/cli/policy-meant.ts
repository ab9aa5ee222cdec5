import { usage } from '../schema/errors.ts';
import type { Context } from './context.ts';

/**
 * The policy of a command that takes it as a word or by `--policy`; null = the one that governs here.
 * @throws RuntimeError usage where it is given both ways: one of them would be passed over in silence
 */
export function policyMeant({ invocation, globals }: Pick<Context, 'invocation' | 'globals'>): string | null {
  const [word] = invocation.words;
  const { policy } = globals;
  if (word === undefined) return policy?.value ?? null;
  if (policy?.source !== 'flag') return word;
  throw usage(`the policy is given twice, as "${word}" and as --policy ${policy.value}`);
}
