import { array, nullable, object, string } from 'superstruct';
import type { PolicyRow, PolicyText, PolicyVetFile } from '../../schema/policy-views.ts';
import { operation, returns } from '../operation.ts';

/** Policies: what there is, what is wrong with it, what it would decide. Nothing here executes or asks. */
export const policies = {
  /** Every document of the overlay. `policy` is what `--policy` says: it decides which one is marked. */
  listPolicies: operation(
    'POST',
    '/api/policies/list',
    'read',
    object({ policy: nullable(string()) }),
    returns<{ readonly policies: readonly PolicyRow[]; readonly notes: readonly string[] }>(),
  ),
  /** By name or path; null = the one that would govern here. */
  showPolicy: operation(
    'POST',
    '/api/policies/show',
    'read',
    object({ policy: nullable(string()) }),
    returns<PolicyText>(),
  ),
  /** By path or name; without any, every file of the overlay. */
  vetPolicies: operation(
    'POST',
    '/api/policies/vet',
    'read',
    object({ policies: array(string()) }),
    returns<readonly PolicyVetFile[]>(),
  ),
} as const;
