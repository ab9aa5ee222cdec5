/** What a reader of all runs gets (03 §13): the kinds of 04 §18 that tell of asks, calls, and the fate of runs. */
export const feedKinds = [
  'ask',
  'ask_updated',
  'verdict',
  'policy_decision',
  'tool_call_started',
  'tool_call',
  'compute_exhausted',
  'chain_started',
  'chain_suspended',
  'chain_resumed',
  'chain_completed',
  'chain_failed',
  'chain_cancelled',
  'plan_changed',
  'setup_changed',
  'document_changed',
] as const;
export type FeedKind = (typeof feedKinds)[number];

/** What a reader over HTTP asks for by one word (09 §7.4). */
export const topics = {
  approvals: ['ask', 'ask_updated', 'verdict'],
  runs: [
    'chain_started',
    'chain_suspended',
    'chain_resumed',
    'chain_completed',
    'chain_failed',
    'chain_cancelled',
    'policy_decision',
    'tool_call_started',
    'tool_call',
    'compute_exhausted',
  ],
  plans: ['plan_changed'],
  setup: ['setup_changed'],
  documents: ['document_changed'],
} as const satisfies Record<string, readonly FeedKind[]>;

/**
 * One entry of the feed across runs. `data` are the own members of the kind, without `args`, `diff`, `result` and `output`,
 * which are fetched on demand. Host kinds belong to no run.
 */
export type FeedEntry = {
  readonly cursor: number;
  readonly kind: FeedKind;
  readonly timestamp: string;
  readonly seq?: number;
  readonly ask_id?: string;
  readonly run_id?: string;
  readonly session_id?: string;
  readonly mission_id?: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Where the feed begins and ends now; 0 when it is empty. Entries up to before `oldest` are no longer kept. */
export type FeedRange = { readonly oldest: number; readonly newest: number };
