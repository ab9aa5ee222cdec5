import { createPolicyOperations } from '../workspace/policy-operations.ts';
import type { Policies } from '../workspace/policies.ts';
import type { RoomsInput } from './rooms-input.ts';

type Input = RoomsInput & { readonly policies: Policies };

/** The operations of `client/operations/policies.ts`. */
export function policyServices({ workspace, policies, store }: Input) {
  const ceilingSeconds = (): number | null => {
    const ceiling = store.settings.value('approval-ceiling');
    return ceiling === 'never' ? null : ceiling / 1000;
  };
  return createPolicyOperations({ workspace, policies, ceilingSeconds, registered: () => store.registry.toolsets() });
}
