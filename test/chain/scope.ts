import type { MacroScope } from '../../src/chain/macros.ts';

/** 2026-03-07 14:05:09.042 UTC, a Saturday. */
export const instant = Date.UTC(2026, 2, 7, 14, 5, 9, 42);

export const scopeWith = (given: Partial<MacroScope> = {}): MacroScope => ({
  task_id: 'chat',
  chain_id: 'demo',
  variables: {},
  now: instant,
  timezone: 'UTC',
  host: { os: 'linux', arch: 'amd64' },
  tools: [],
  edge_counts: {},
  ...given,
});
