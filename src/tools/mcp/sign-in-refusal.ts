import { RuntimeError } from '../../schema/errors.ts';
import { codeOf, messageOf } from '../../text/thrown.ts';
import { asFault } from './call-end.ts';

/** Why a sign-in came to nothing: the server's own words or ours, on one line. */
export const refused = (message: string): RuntimeError => new RuntimeError('mcp_error', message);

/** Whatever a library threw, as such a refusal; one of ours is given back. */
export function asRefusal(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const text = messageOf(error);
  // The library writes the whole answer behind it: an answer may repeat what it was sent, or hold a token.
  const status = /^HTTP (\d{3}): Invalid OAuth error response/.exec(text)?.[1];
  if (status !== undefined) return refused(`its authorisation server answered with status ${status}`);
  if (codeOf(error) === 'ERR_INVALID_URL') return refused('it names an address of its sign-in that cannot be used');
  return refused(text === '' ? `the server refuses the sign-in${codeInBrackets(error)}` : asFault(error).message);
}

/** The code that stands in the place of a description that a server may leave out (RFC 6749 §5.2). */
const codeInBrackets = (error: unknown): string =>
  error instanceof Error && 'errorCode' in error ? ` (${String(error.errorCode)})` : '';
