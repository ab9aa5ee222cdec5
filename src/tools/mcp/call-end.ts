import { RuntimeError } from '../../schema/errors.ts';
import { isObject } from '../../text/json-object.ts';
import { codeOf, messageOf } from '../../text/thrown.ts';
import { noForm, type PipeFault, tooLargeCode } from './pipe.ts';

/** How a call ended, as far as the connection knows. */
export type CallEnd =
  | { readonly kind: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'rpc_error'; readonly code: number; readonly message: string }
  | { readonly kind: 'cancelled' }
  /** `afterMs`: the limit that was reached, which is a longer one where progress was told of. */
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** It was not sent: the server now describes the tool differently, or no longer has it. */
  | { readonly kind: 'changed' | 'gone' }
  /** The server cannot have got it. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The server may have served it. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'too_large'; readonly reason: string }
  | { readonly kind: 'http'; readonly status: number; readonly body: string }
  | { readonly kind: 'session' | 'blocked'; readonly reason: string }
  /** `scopes`: somebody has signed in, for less than these. */
  | { readonly kind: 'auth'; readonly reason: string; readonly scopes?: string };

/**
 * The time limit of the library, in milliseconds; null for any other error. Its code is one that servers give errors of
 * their own, so what it says beside it decides.
 */
function limitOf(error: Error & { readonly code: number; readonly data?: unknown }): number | null {
  if (error.code !== -32_001 || !isObject(error.data)) return null;
  const { timeout, maxTotalTimeout } = error.data;
  if (error.message.endsWith(': Request timed out') && typeof timeout === 'number') return timeout;
  const isTotal = error.message.endsWith(': Maximum total timeout exceeded');
  return isTotal && typeof maxTotalTimeout === 'number' ? maxTotalTimeout : null;
}

/** What went wrong with a message, in one sentence. */
export function asFault(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const cause = error instanceof Error && error.cause instanceof RuntimeError ? error.cause : null;
  if (cause !== null) return cause;
  const text = plainMessage(error);
  const status = statusOf(error);
  const message = status === null ? text : `the server answered with status ${status}${text === '' ? '' : `: ${text}`}`;
  return new RuntimeError('mcp_error', message, { cause: error });
}

function plainMessage(error: unknown): string {
  const text = messageOf(error);
  // What the library's schemas refuse comes as a list of issues.
  if (typeof error === 'object' && error !== null && 'issues' in error) return noForm;
  if (error instanceof SyntaxError) return 'what it answered is no JSON';
  const code = codeOf(error);
  if (code?.startsWith('Z_') === true) return `what it answered cannot be unpacked: ${text}`;
  if (code === 'ECONNRESET') return 'its answer broke off';
  const inWords = ourWords(text);
  if (inWords !== null) return inWords;
  return text
    .replace(/^(?:MCP error -?\d+|Streamable HTTP error): (?:Error POSTing to endpoint: )?/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 500);
}

/** What the library says in words of its own that a person can do nothing with. */
function ourWords(text: string): string | null {
  const type = /Unexpected content type: (.{0,100})$/s.exec(text)?.[1];
  if (type !== undefined) return `it answered with ${type === 'null' ? 'nothing' : type} instead of a message`;
  const place = /Redirect to (\S{1,300}) not followed/.exec(text)?.[1];
  if (place !== undefined) return `it redirects to ${place}, which is not followed`;
  if (/Invalid content type, expected/.test(text)) return 'what it answered is no event stream';
  // The one URL that the library makes of what a server says: the endpoint of the older kind.
  if (text === 'Invalid URL') return 'the endpoint that it names is no URL';
  if (/^SSE error: Non-200 status code/.test(text)) return '';
  // The page of a web server says less than its status.
  return /: \s*<(?:!doctype|html|head|body)\b/i.test(text) ? '' : null;
}

/** The library gives the status of an answer as the code of its error. */
const statusOf = (error: unknown): number | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code >= 100 ? error.code : null;

/** @param closed why the connection is over, or null while it stands */
export function endOf(
  error: unknown,
  cancelled: boolean,
  closed: string | null,
  isRpc: (error: unknown) => error is Error & { readonly code: number },
): CallEnd {
  if (cancelled) return { kind: 'cancelled' };
  const reason = plainMessage(error);
  if (error instanceof RuntimeError && error.data !== undefined) {
    // Only the ways to a server make an error with these data.
    const { kind, sent, scopes } = error.data as PipeFault;
    if (kind === 'network') return { kind: sent ? 'lost' : 'not_sent', reason };
    if (kind === 'auth' && scopes !== undefined) return { kind, reason, scopes };
    return { kind, reason };
  }
  if (closed !== null) return { kind: 'lost', reason: closed };
  if (isRpc(error)) {
    const afterMs = limitOf(error);
    if (afterMs !== null) return { kind: 'timeout', afterMs };
    if (error.code === tooLargeCode) return { kind: 'too_large', reason };
    return { kind: 'rpc_error', code: error.code, message: reason };
  }
  const status = statusOf(error);
  if (status !== null) return { kind: 'http', status, body: reason };
  return { kind: 'lost', reason };
}
