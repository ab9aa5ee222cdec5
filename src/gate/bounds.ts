import type { ComputeBounds } from '../schema/policy.ts';
import type { Counters } from '../store/runs.ts';

export type Bound = 'maxTurns' | 'maxToolCalls' | 'maxTokens';

/** A bound that is used up (02 §11). */
export type Exhausted = {
  readonly bound: Bound;
  readonly used: number;
  readonly limit: number;
  readonly action: 'fail' | 'ask' | 'finish';
};

type Tighten = { readonly maxTurns: number; readonly maxToolCalls: number; readonly maxTokens: number };

/** The smaller non-zero value counts: flags never widen (06 §3). */
const effective = (policy: number, flag: number): number =>
  policy === 0 ? flag : flag === 0 ? policy : Math.min(policy, flag);

/** What one grant gives: the bound itself, once more (02 §11). */
export const shareOf = (compute: Pick<ComputeBounds, Bound>, tighten: Tighten, bound: Bound): number =>
  effective(compute[bound], tighten[bound]);

const check = (
  bound: Bound,
  used: number,
  compute: ComputeBounds,
  tighten: Tighten,
  counters: Counters,
): Exhausted | null => {
  const limit = shareOf(compute, tighten, bound) * (1 + (counters.grants?.[bound] ?? 0));
  return limit > 0 && used >= limit ? { bound, used, limit, action: compute.onExhausted } : null;
};

/** Checked before each model call. */
export const turnBound = (compute: ComputeBounds, tighten: Tighten, counters: Counters): Exhausted | null =>
  check('maxTurns', counters.turns, compute, tighten, counters) ??
  check('maxTokens', counters.tokens, compute, tighten, counters);

/** Checked before each execution, in the transaction that reserves it. */
export const callBound = (compute: ComputeBounds, tighten: Tighten, counters: Counters): Exhausted | null =>
  check('maxToolCalls', counters.tool_calls, compute, tighten, counters);

/** The message of 02 §11. */
export const exhaustedText = ({ bound, used, limit }: Exhausted): string =>
  `compute bound exhausted: ${bound} ${used}/${limit}`;
