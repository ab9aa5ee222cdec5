import type { PolicyState } from '../schema/run.ts';

/** Stands for the policy of a row of which that cannot be read. */
export const noPolicy: PolicyState = { name: '?', source: 'builtin', path: null, sha256: null, state: 'invalid' };
