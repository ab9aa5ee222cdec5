import { errors, type ErrorCode, RuntimeError, shownClass } from '../schema/errors.ts';

/** The body of every reply with a status of 400 or above (09 §5.1). */
export type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param?: string;
  };
  readonly findings?: readonly unknown[];
};

/** What a refusal may carry beside its code and message. */
export type RefusalData = {
  /** Name of the field, parameter or header. */
  readonly param?: string;
  readonly retryAfterS?: number;
  readonly findings?: readonly unknown[];
};

export const refuse = (code: ErrorCode, message: string, data: RefusalData = {}): RuntimeError =>
  new RuntimeError(code, message, { data });

/** `type` of a status (09 §5.1). */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'authorization_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/**
 * The reply to anything thrown. A bug, and whatever would only be an outcome of a run, is a 500 that says nothing but the
 * id of the request.
 */
export function errorReply(
  error: unknown,
  requestId: string,
): { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly json: ErrorBody } {
  const known = error instanceof RuntimeError && errors[error.code].status >= 400 && error.code !== 'internal';
  if (!known) {
    const message = 'The request failed inside the server.';
    return {
      status: 500,
      headers: {},
      json: { error: { message, type: 'api_error', code: 'internal', param: requestId } },
    };
  }
  const { status } = errors[error.code];
  const { param, retryAfterS, findings } = dataOf(error.data);
  const retry = retryAfterS ?? (status === 503 ? 1 : undefined);
  return {
    status,
    headers: {
      ...(retry === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retry))) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
    json: {
      error: {
        message: error.message,
        type: typeOf(status),
        code: wireCode(error.code),
        ...(param === undefined ? {} : { param }),
      },
      ...(findings === undefined ? {} : { findings: findings.map(shownFinding) }),
    },
  };
}

/** Codes of this program that HTTP knows by another name (09 §5.1). */
const wireCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  usage: 'invalid_parameter',
  chain_invalid: 'invalid_chain',
  chain_not_found: 'not_found',
  policy_not_found: 'not_found',
  chain_untrusted: 'not_trusted',
  config_invalid: 'unprocessable',
  inside_tool: 'not_allowed',
  auth: 'backend_error',
  rate_limit: 'backend_error',
  server_error: 'backend_error',
  empty_reply: 'backend_error',
  model_unavailable: 'backend_error',
  permanent: 'backend_error',
};

const wireCode = (code: ErrorCode): string => wireCodes[code] ?? shownClass(code);

/** A finding as every surface has it (09 §5.1): where it is and what is wrong. */
function shownFinding(finding: unknown): unknown {
  if (typeof finding !== 'object' || finding === null) return finding;
  const { severity, code, path, message } = finding as Readonly<Record<string, unknown>>;
  return { severity: severity === 'load' ? 'error' : severity, code, path, message };
}

function dataOf(data: unknown): RefusalData {
  if (typeof data !== 'object' || data === null) return {};
  const { param, retryAfterS, findings } = data as Readonly<Record<string, unknown>>;
  return {
    ...(typeof param === 'string' ? { param } : {}),
    ...(typeof retryAfterS === 'number' ? { retryAfterS } : {}),
    ...(Array.isArray(findings) ? { findings } : {}),
  };
}
