import { fail, type ToolFailure } from '../failure.ts';

/** What a server is sent to show who calls: nothing, what the operator has registered, or the token of a sign-in. */
export type Credentials = 'none' | 'registered' | 'sign_in';

/** A server did not take what it was sent. */
export function refusedCredentials(server: string, credentials: Credentials): ToolFailure {
  switch (credentials) {
    case 'sign_in':
      return fail(
        'needs_auth',
        `Nobody is signed in to "${server}": the operator has to run "reins mcp auth ${server}".`,
      );
    case 'registered':
      return fail('auth_failed', `The server "${server}" refuses the credentials that are registered for it.`);
    case 'none':
      return fail(
        'auth_failed',
        `The server "${server}" wants a sign-in, and none is registered: ${signInMend(server)}.`,
      );
  }
}

/** What an operator does about a server that turns out to want credentials. */
export const signInMend = (server: string): string =>
  `reins mcp update ${server} --auth-type oauth and reins mcp auth ${server}, or --auth-env <VAR> for a token`;

/** Whether a text can be the value of a header: whoever sends another is told so in words that repeat it. */
export const isSendable = (value: string): boolean => !/[\r\n\0]|[^\t\x20-\x7e\x80-\xff]/.test(value);
