import type { IncomingMessage } from 'node:http';
import { object, optional, string } from 'superstruct';
import type { ConnectionEnds } from '../app-options.ts';
import type { LoginMethod, LoginRecords, LoginSession } from '../schema/login.ts';
import { ulid } from '../text/ids.ts';
import type { Authenticator } from './authenticate.ts';
import type { Authorities } from './authorities.ts';
import { loginBodyBytes } from './body.ts';
import { refuse } from './error-body.ts';
import { hostOf } from './guard.ts';
import { oneTimeDigest } from './links.ts';
import { isFromHere } from './listener.ts';
import type { Operator } from './operator.ts';
import { userId, userName } from './operator-name.ts';
import { maxPasswordBytes } from './passwords.ts';
import { readBody } from './read-input.ts';
import type { Call, Peer, Reply, Route } from './route.ts';
import type { createThrottle } from './throttle.ts';
import { newTokenId, tokenLifetimeS } from './token.ts';
import { endsOf } from './tool-clients.ts';

const longestSessionMs = 7 * 86_400_000;
const linkAttempts = 20;
const linkWindowMs = 60_000;

export type LoginDeps = {
  readonly logins: LoginRecords;
  readonly operator: Operator;
  readonly authenticator: Authenticator;
  readonly throttle: ReturnType<typeof createThrottle>;
  readonly authorities: Authorities;
  /** Every address that is listened on is loopback. */
  readonly listensLocally: boolean;
  allowDefaultLogin(): boolean;
  isOwnAccount(ends: ConnectionEnds): boolean;
  readonly now: () => number;
  /** One line for the operator. */
  loginFailed(peer: string, route: string): void;
};

const LoginBody = object({ email: optional(string()), username: optional(string()), password: string() });

/** Names of headers that a proxy adds, each kind its own: beside the standard ones, those in which it tells whose request it is. */
const ofRelay =
  /^(?:via|cdn-loop|(?:x-)?forwarded(?:-.*)?|(?:.*-)?(?:client|connecting|real|originating|remote|proxyuser)-(?:ip|addr)|x-(?:original|rewrite|envoy)-.*)$/;

/**
 * Whether the default credentials would be good for this request (09 §4.4). They are known to everybody, so they are good for
 * the operator's own account alone, where the system tells: whoever changes the password is the operator.
 */
export function defaultInForce(deps: LoginDeps, request: IncomingMessage, peer: Peer): boolean {
  const { headers } = request;
  const relayed = Object.keys(headers).some((name) => ofRelay.test(name));
  return (
    deps.operator.isUntouched() &&
    deps.allowDefaultLogin() &&
    deps.listensLocally &&
    peer.loopback &&
    !relayed &&
    deps.authorities.loopbackHosts.has(hostOf(headers.host)) &&
    deps.isOwnAccount(endsOf(request.socket))
  );
}

/** Ways in (09 §4.2, §4.7): the password under each spelling of the path, and the one-time link. */
export function loginRoutes(deps: LoginDeps): readonly Route[] {
  const { logins, operator, throttle, now } = deps;
  const linkTries = new Map<string, { count: number; since: number }>();

  const byPassword =
    (path: string, withCookie: boolean) =>
    async (call: Call): Promise<Reply> => {
      const { email, username, password } = readBody(LoginBody, call.body);
      if (email !== undefined && username !== undefined && email !== username) {
        throw refuse('conflicting_username', 'email and username are two names.', { param: 'username' });
      }
      const name = email ?? username;
      if (name === undefined) throw refuse('invalid_body', 'The user name is missing.', { param: 'email' });
      for (const [param, text] of [
        ['email', name],
        ['password', password],
      ] as const) {
        if (Buffer.byteLength(text) > maxPasswordBytes) {
          throw refuse('invalid_body', `At most ${maxPasswordBytes} bytes.`, { param });
        }
      }
      const mayTry = (): void => throttle.peer(call.peer);
      mayTry();
      const method = await operator.verify(name, password, defaultInForce(deps, call.request, call.peer), mayTry);
      if (method === null) {
        throttle.failed(call.peer);
        logins.note('login_failed', { peer: call.peer.address, route: path, outcome: 'invalid_credentials' });
        deps.loginFailed(call.peer.address, path);
        throw refuse('invalid_credentials', 'User name or password is wrong.');
      }
      throttle.succeeded(call.peer);
      return opened(deps, call, begin(deps, call, method, path), withCookie);
    };

  const passwordRoute = (path: string, withCookie: boolean): Route => ({
    method: 'POST',
    path,
    access: 'public',
    maxBodyBytes: loginBodyBytes,
    handle: byPassword(path, withCookie),
  });

  /** @throws RuntimeError too_many_attempts */
  const countLink = (peer: string): void => {
    const before = linkTries.get(peer);
    const fresh = before === undefined || now() - before.since > linkWindowMs ? { count: 0, since: now() } : before;
    if (fresh === before && before.count >= linkAttempts) {
      const wait = (before.since + linkWindowMs - now()) / 1000;
      throw refuse('too_many_attempts', 'Too many links were tried.', { retryAfterS: wait });
    }
    if (linkTries.size > 1000) linkTries.clear();
    linkTries.set(peer, { ...fresh, count: fresh.count + 1 });
  };

  return [
    passwordRoute('/api/login', false),
    passwordRoute('/login', false),
    passwordRoute('/api/ui/login', true),
    passwordRoute('/ui/login', true),
    {
      method: 'POST',
      path: '/api/auth/link',
      access: 'public',
      maxBodyBytes: loginBodyBytes,
      async handle(call) {
        if (!isFromHere(call.request)) throw refuse('loopback_only', 'A login link is good on this machine only.');
        const { code } = readBody(object({ code: string() }), call.body);
        countLink(call.peer.address);
        if (!logins.redeemCode(oneTimeDigest(code))) {
          logins.note('login_failed', { peer: call.peer.address, route: '/api/auth/link', outcome: 'invalid_code' });
          throw refuse('invalid_code', 'This link was used already, or has expired: reins beam link makes another.');
        }
        return opened(deps, call, begin(deps, call, 'link', '/api/auth/link'), true);
      },
    },
  ];
}

/** Stores a new login session. */
function begin({ logins, now }: LoginDeps, call: Call, amr: LoginMethod, route: string): LoginSession {
  const at = now();
  const session: LoginSession = {
    id: ulid(at),
    jti: newTokenId(),
    epoch: logins.epoch(),
    amr,
    peer: call.peer.address,
    user_agent: (call.request.headers['user-agent'] ?? '').slice(0, 200),
    created_at: at,
    last_seen_at: at,
    proof_at: at,
    expires_at: at + tokenLifetimeS * 1000,
    ends_at: at + longestSessionMs,
    revoked_at: null,
  };
  logins.addSession(session, { peer: call.peer.address, route, outcome: 'ok', method: amr });
  return session;
}

/** The reply that hands a session over: as a cookie that no script reads, or as a token in the body. */
export function opened(
  { authenticator }: Pick<LoginDeps, 'authenticator'>,
  call: Call,
  session: LoginSession,
  withCookie: boolean,
): Reply {
  const token = authenticator.tokenOf(session);
  const facts = {
    expires_at: new Date(session.expires_at).toISOString(),
    user_id: userId,
    username: userName,
    must_change_password: session.amr === 'default',
  };
  if (!withCookie) return { status: 200, json: { token, token_type: 'Bearer', ...facts } };
  return {
    status: 200,
    headers: { 'set-cookie': authenticator.setCookie(call.request, token, session.expires_at) },
    json: facts,
  };
}
