import type { ComputeBounds, OnExhausted } from '../schema/policy.ts';
import type { Counters } from '../store/runs.ts';

export type Bound = 'maxTurns' | 'maxToolCalls' | 'maxTokens';

/** A bound that is used up (02 §11). */
export type Exhausted = {
  readonly bound: Bound;
  readonly used: number;
  readonly limit: number;
  readonly action: 'fail' | 'finish';
};

type Tighten = { readonly maxTurns: number; readonly maxToolCalls: number; readonly maxTokens: number };

/** The smaller non-zero value counts: flags never widen (06 §3). */
const effective = (policy: number, flag: number): number =>
  policy === 0 ? flag : flag === 0 ? policy : Math.min(policy, flag);

/** `ask` acts as `fail` until a spent bound can be asked about (amendment 13). */
const actionOf = (onExhausted: OnExhausted): 'fail' | 'finish' => (onExhausted === 'finish' ? 'finish' : 'fail');

const check = (bound: Bound, used: number, compute: ComputeBounds, tighten: Tighten): Exhausted | null => {
  const limit = effective(compute[bound], tighten[bound]);
  return limit > 0 && used >= limit ? { bound, used, limit, action: actionOf(compute.onExhausted) } : null;
};

/** Checked before each model call. */
export const turnBound = (compute: ComputeBounds, tighten: Tighten, counters: Counters): Exhausted | null =>
  check('maxTurns', counters.turns, compute, tighten) ?? check('maxTokens', counters.tokens, compute, tighten);

/** Checked before each execution, in the transaction that reserves it. */
export const callBound = (compute: ComputeBounds, tighten: Tighten, counters: Counters): Exhausted | null =>
  check('maxToolCalls', counters.tool_calls, compute, tighten);

/** The message of 02 §11; a policy that wanted to ask is told that it could not. */
export function exhaustedText(exhausted: Exhausted, onExhausted: OnExhausted): string {
  const text = `compute bound exhausted: ${exhausted.bound} ${exhausted.used}/${exhausted.limit}`;
  return onExhausted === 'ask' ? `${text} (onExhausted "ask" acts as "fail")` : text;
}
