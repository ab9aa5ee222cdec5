import type { ModelFailure, ProviderErrorClass } from '../models/model.ts';
import type { ErrorCode } from '../schema/errors.ts';

/** `retry_policy` after expansion, durations in milliseconds (04 §12). */
export type RetryPolicy = {
  readonly maxAttempts: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly jitter: number;
  readonly rateLimitMinWaitMs: number;
  readonly fallbackModelId: string | null;
  /** Consecutive failures after which the fallback replaces the candidates; 0 = never. */
  readonly fallbackAfter: number;
};

/** Without the block there is one attempt. */
export const oneAttempt: RetryPolicy = {
  maxAttempts: 1,
  initialBackoffMs: 500,
  maxBackoffMs: 60_000,
  jitter: 0,
  rateLimitMinWaitMs: 0,
  fallbackModelId: null,
  fallbackAfter: 0,
};

type ClassRow = { readonly code: ErrorCode; readonly retried: boolean; readonly nextCandidate: boolean };

const row = (code: ErrorCode, retried = false, nextCandidate = false): ClassRow => ({ code, retried, nextCandidate });

/** 08 §9.2: what a chain sees of a provider's error, whether waiting helps, and whether another candidate may. */
const classes: Readonly<Record<ProviderErrorClass, ClassRow>> = {
  cancelled: row('cancelled'),
  timeout: row('model_timeout', true),
  connect: row('server_error', true, true),
  rate_limit: row('rate_limit', true),
  overloaded: row('rate_limit', true),
  server_error: row('server_error', true),
  malformed: row('server_error', true),
  empty_reply: row('empty_reply', true),
  auth: row('auth'),
  permission: row('model_unavailable', false, true),
  model_not_found: row('model_unavailable', false, true),
  context_exceeded: row('capacity'),
  quota: row('permanent'),
  content_filter: row('permanent'),
  no_tool_support: row('no_tool_support', false, true),
  unsupported: row('permanent'),
  invalid_request: row('permanent'),
  permanent: row('permanent'),
};

export const classOf = (error: ModelFailure): ClassRow => classes[error.class];

/** A server that asks for more than this is not waited for (08 §9.3.3). */
const longestAskedWaitMs = 5 * 60_000;

export type Wait = { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'too_long'; readonly ms: number };

/**
 * The wait before the next attempt (04 §12, 08 §9.3).
 * @param failures consecutive failures so far, at least 1
 * @param random uniform in [0, 1)
 * @param leftMs what is left of the task's own time and of the run's, or Infinity
 */
export function waitBefore(
  policy: RetryPolicy,
  failures: number,
  error: ModelFailure,
  random: number,
  leftMs: number,
): Wait {
  const backoff = Math.min(policy.initialBackoffMs * 2 ** (failures - 1), policy.maxBackoffMs);
  const asked = error.retry_after_ms ?? 0;
  if (asked > longestAskedWaitMs || asked > leftMs) return { kind: 'too_long', ms: asked };
  const floor = Math.max(asked, classOf(error).code === 'rate_limit' ? policy.rateLimitMinWaitMs : 0);
  return { kind: 'wait', ms: Math.round(Math.max(backoff + random * policy.jitter * backoff, floor)) };
}
