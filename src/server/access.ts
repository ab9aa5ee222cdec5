import type { Principal } from '../schema/login.ts';
import type { RuntimeError } from '../schema/errors.ts';
import { refuse } from './error-body.ts';
import type { Route } from './route.ts';

/** What a request presented. */
export type Presented =
  | { readonly kind: 'none' }
  /** Something that is not valid, or not any more; it counts as none where none is needed. */
  | {
      readonly kind: 'invalid';
      /** The browser is to forget it: no newer cookie can have taken its place. */
      readonly deadCookie: boolean;
    }
  | { readonly kind: 'valid'; readonly principal: Principal };

/** Step 7 of the gate: the class of a route (09 §4.6). @returns the refusal, or null */
export function checkAccess(
  route: Pick<Route, 'access' | 'sessionOnly'>,
  presented: Presented,
  now: number,
): RuntimeError | null {
  if (route.access === 'public') return null;
  if (presented.kind === 'none') return refuse('unauthenticated', 'This needs a credential: log in first.');
  if (presented.kind === 'invalid') {
    return refuse('invalid_token', 'The credential is not valid, or not any more: log in again.');
  }
  const { principal } = presented;
  const { access } = route;
  if (principal.kind === 'token') {
    if (route.sessionOnly === true || access === 'recent') {
      return refuse('session_required', 'An access token is not accepted here: log in with the password or a link.');
    }
    if (access === 'operator' && principal.scope !== 'full') {
      return refuse(
        'operator_required',
        'The access token may not do this while beam-token-scope is "run": log in with the password or a link.',
      );
    }
    return null;
  }
  if (access === 'bootstrap') return null;
  if (principal.method === 'default') {
    return refuse('password_change_required', 'The default password is good for one thing: setting another one.');
  }
  if (access === 'recent' && principal.recentUntil < now) {
    return refuse('reauthentication_required', 'This needs the password again (POST /api/auth/verify).');
  }
  return null;
}
