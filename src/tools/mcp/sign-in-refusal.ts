import { RuntimeError } from '../../schema/errors.ts';
import { messageOf } from '../../text/thrown.ts';

/** Why a sign-in came to nothing: the server's own words or ours, on one line. */
export const refused = (message: string): RuntimeError => new RuntimeError('mcp_error', message);

/** Whatever a library threw, as such a refusal; one of ours is given back. */
export function asRefusal(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const text = messageOf(error) || `the server refuses the sign-in${codeInBrackets(error)}`;
  return refused(text.replace(/\s+/g, ' ').slice(0, 500));
}

/** The code that stands in the place of a description that a server may leave out (RFC 6749 §5.2). */
const codeInBrackets = (error: unknown): string =>
  error instanceof Error && 'errorCode' in error ? ` (${String(error.errorCode)})` : '';
