import { messageOf } from '../text/thrown.ts';

/** One row of the code table: how a code leaves the process. Codes of 06 §8.4, 03 §5, 04 §15, 08 §9.2, 09 §5.1. */
type ErrorRow = { readonly exit: number; readonly status: number; readonly retryable?: boolean };

const row = (exit: number, status: number, retryable = false): ErrorRow => ({ exit, status, retryable });

/** Every code that a RuntimeError or a failed run may carry. Faces branch on the code, never on a class. */
export const errors = {
  usage: row(2, 400),
  invalid_body: row(2, 400),
  invalid_parameter: row(2, 400),
  ambiguous_id: row(2, 400),
  wrong_kind: row(2, 400),
  already_exists: row(2, 409),
  chain_invalid: row(3, 422),
  chain_untrusted: row(3, 403),
  chain_not_found: row(3, 404),
  policy_not_found: row(3, 404),
  invalid_policy: row(3, 422),
  config_invalid: row(3, 422),
  not_trusted: row(3, 403),
  setup_incomplete: row(3, 422),
  /** Readiness of category `health` (06 §2.2): the same wire code, exit 7. */
  setup_unhealthy: row(7, 422),
  database_damaged: row(3, 503),
  database_newer: row(3, 503),
  database_foreign: row(3, 503),
  database_busy: row(1, 503, true),
  storage: row(1, 503),
  not_found: row(1, 404),
  in_use: row(1, 409),
  /** What is there does not allow it; the message says why. */
  conflict: row(1, 409),
  session_busy: row(1, 409),
  run_suspended: row(4, 409),
  run_not_active: row(1, 409),
  run_not_resumable: row(1, 409),
  /** An answer to a run that cannot be resumed here (06 §21): the same wire code, exit 3. */
  not_resumable_here: row(3, 409),
  resume_chain_changed: row(3, 409),
  already_answered: row(1, 409),
  expired: row(1, 409),
  binding_changed: row(1, 409),
  /** A service whose description cannot be had (06 §19). */
  hook_error: row(7, 502),
  not_allowed: row(1, 403),
  inside_tool: row(5, 403),
  bad_request: row(2, 400),
  bad_target: row(2, 400),
  unknown_field: row(2, 400),
  json_too_deep: row(2, 400),
  conflicting_username: row(2, 400),
  credential_in_url: row(2, 400),
  upgrade_not_supported: row(2, 400),
  unauthenticated: row(1, 401),
  invalid_token: row(1, 401),
  invalid_credentials: row(1, 401),
  invalid_code: row(1, 401),
  session_ended: row(1, 401),
  origin_not_allowed: row(1, 403),
  origin_required: row(1, 403),
  cross_site_request: row(1, 403),
  password_change_required: row(1, 403),
  operator_required: row(1, 403),
  session_required: row(1, 403),
  reauthentication_required: row(1, 403),
  invalid_current_password: row(1, 403),
  loopback_only: row(1, 403),
  shell_disabled: row(1, 403),
  read_only_document: row(1, 403),
  route_not_found: row(1, 404),
  method_not_allowed: row(1, 405),
  request_timeout: row(1, 408),
  password_already_set: row(1, 409),
  password_changed_meanwhile: row(1, 409),
  precondition_failed: row(1, 412),
  request_too_large: row(1, 413),
  json_required: row(1, 415),
  host_not_allowed: row(1, 421),
  invalid_case: row(1, 422),
  weak_password: row(1, 422),
  password_unchanged: row(1, 422),
  idempotency_mismatch: row(1, 422),
  unprocessable: row(1, 422),
  precondition_required: row(1, 428),
  rate_limited: row(1, 429, true),
  too_many_attempts: row(1, 429, true),
  busy: row(1, 429, true),
  headers_too_large: row(1, 431),
  shutting_down: row(1, 503, true),
  raised: row(1, 200),
  task_error: row(1, 200),
  tool_error: row(1, 200),
  no_branch: row(1, 200),
  template_limit: row(1, 200),
  compose_failed: row(1, 200),
  input_too_large: row(1, 200),
  loop_detected: row(1, 200),
  step_limit: row(1, 200),
  capacity: row(1, 200),
  no_tool_support: row(1, 200),
  worker_crash: row(1, 200),
  denied: row(5, 200),
  round_limit: row(6, 200),
  compute_exhausted: row(6, 200),
  /** A tool server that cannot be reached or used (06 §20). */
  mcp_error: row(1, 502),
  auth: row(7, 502),
  rate_limit: row(7, 502, true),
  server_error: row(7, 502, true),
  empty_reply: row(7, 502, true),
  model_unavailable: row(7, 502),
  permanent: row(7, 502),
  /** A time limit of a model call; the limit of a run or task is `timeout`. */
  model_timeout: row(7, 504, true),
  timeout: row(124, 504),
  cancelled: row(130, 200),
  interrupted: row(143, 200),
  suspended: row(4, 200),
  internal: row(1, 500),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** What crosses a port, a row or HTTP in place of an exception. */
export type WireError = { readonly code: ErrorCode; readonly message: string; readonly data?: unknown };

type ErrorOptions = {
  readonly cause?: unknown;
  readonly data?: unknown;
  /** At most three command lines that can be pasted (06 §2.3). */
  readonly hints?: readonly string[];
};

/** The one error class. The message says what is wrong, where, and what to do; `hints` are pasteable commands. */
export class RuntimeError extends Error {
  readonly code: ErrorCode;
  readonly data: unknown;
  readonly hints: readonly string[];

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RuntimeError';
    this.code = code;
    this.data = options.data;
    this.hints = options.hints ?? [];
  }
}

/** A mistake in how a command or a request was written. */
export const usage = (message: string, hints: readonly string[] = []): RuntimeError =>
  new RuntimeError('usage', message, { hints });

/** Turns anything thrown into its wire form; never throws. A bug becomes `internal`. */
export function toWire(error: unknown): WireError {
  if (error instanceof RuntimeError) {
    return error.data === undefined
      ? { code: error.code, message: error.message }
      : { code: error.code, message: error.message, data: error.data };
  }
  return { code: 'internal', message: messageOf(error) };
}

/** An error that has crossed a port or HTTP, as one to throw here; what caused it stayed behind. */
export function fromWire(wire: WireError): RuntimeError {
  return new RuntimeError(wire.code, wire.message, wire.data === undefined ? {} : { data: wire.data });
}

/** Exit code of a code of the table (06 §2.2). */
export const exitOf = (code: ErrorCode): number => errors[code].exit;

/** Codes that differ from another in their exit alone; people and programs see the name of the chapters (04 §12, 06 §8.4). */
const shownAs: Readonly<Partial<Record<string, ErrorCode>>> = {
  model_timeout: 'timeout',
  setup_unhealthy: 'setup_incomplete',
  not_resumable_here: 'run_not_resumable',
};

/** A code or class as every surface shows it. */
export const shownClass = (code: string): string => (Object.hasOwn(shownAs, code) ? (shownAs[code] ?? code) : code);
