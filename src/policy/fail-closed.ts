import type { ComputeBounds, Policy } from '../schema/policy.ts';
import { humanOnly } from './blocks.ts';

/**
 * The policy in place of one that is unreadable or invalid (02 §4): everything asks, and only a human answers.
 * @param compute the bounds of the last good document of the run; those of preset `strict` for a run that starts
 */
export const failClosedPolicy = (compute: ComputeBounds): Policy => ({
  version: 1,
  default_action: 'approve',
  rules: [],
  compute,
  attention: humanOnly,
  trusted_binaries: null,
});
