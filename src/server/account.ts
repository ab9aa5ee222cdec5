import { object, optional, string } from 'superstruct';
import type { LoginSession, Principal } from '../schema/login.ts';
import { recentUntil } from './authenticate.ts';
import { loginBodyBytes } from './body.ts';
import { refuse } from './error-body.ts';
import { pathOf } from './guard.ts';
import { oneTimeDigest } from './links.ts';
import { defaultInForce, type LoginDeps, opened } from './login.ts';
import { userId, userName } from './operator-name.ts';
import { maxPasswordBytes, normalise, weaknessOf } from './passwords.ts';
import { readBody } from './read-input.ts';
import type { Call, Reply, Route } from './route.ts';
import { newTokenId, tokenLifetimeS } from './token.ts';

/** Routes whose body need not be empty: two of them read it, and nothing may keep somebody from logging out. */
const unlooked: ReadonlySet<string> = new Set(['verify', 'change-password', 'logout']);
const iso = (time: number): string => new Date(time).toISOString();

type SessionPrincipal = Extract<Principal, { kind: 'session' }>;

/** What an operator who is logged in does with his login (09 §4.8, §4.9). */
export function accountRoutes(deps: LoginDeps): readonly Route[] {
  const { logins, operator, authenticator, throttle, now } = deps;

  /** The access classes of these routes let sessions through and nothing else. */
  const sessionOf = (call: Call): { readonly principal: SessionPrincipal; readonly row: LoginSession } => {
    const { principal } = call;
    const row = principal?.kind === 'session' ? logins.session(principal.id) : null;
    if (principal?.kind !== 'session' || row === null || row.revoked_at !== null)
      throw refuse('invalid_token', 'The session has ended.');
    return { principal, row };
  };
  const by = (call: Call) => ({ peer: call.peer.address, by: 'operator:web' });
  const nextExpiry = (row: LoginSession): number => Math.min(now() + tokenLifetimeS * 1000, row.ends_at);

  const route = (
    method: Route['method'],
    path: string,
    access: Route['access'],
    handle: (call: Call) => Promise<Reply> | Reply,
    more: Partial<Pick<Route, 'sessionOnly'>> = { sessionOnly: true },
  ): Route => ({
    method,
    path: `/api/auth/${path}`,
    access,
    maxBodyBytes: loginBodyBytes,
    ...more,
    handle: async (call) => {
      if (!unlooked.has(path) && call.body !== undefined) readBody(object({}), call.body);
      return handle(call);
    },
  });

  /** Compares, and counts a failure. @throws RuntimeError too_many_attempts, busy */
  const knows = async (call: Call, id: string, password: string): Promise<boolean> => {
    const mayTry = (): void => throttle.session(id);
    mayTry();
    const tooLong = Buffer.byteLength(password) > maxPasswordBytes;
    const found = tooLong ? null : await operator.verify(userName, password, true, mayTry);
    if (found === null) {
      throttle.failedSession(id);
      // Without its query, in which somebody may have put what belongs into the body.
      const route = pathOf(call.request.url ?? '');
      logins.note('login_failed', { ...by(call), route, outcome: 'invalid_credentials' });
      return false;
    }
    throttle.succeededSession(id);
    return true;
  };

  const changePassword = async (call: Call): Promise<Reply> => {
    const { principal, row } = sessionOf(call);
    const body = readBody(object({ current_password: string(), new_password: string() }), call.body);
    const expected = logins.epoch();
    if (!(await knows(call, row.id, body.current_password))) {
      throw refuse('invalid_current_password', 'The current password is wrong.', { param: 'current_password' });
    }
    if (normalise(body.new_password) === normalise(body.current_password)) {
      throw refuse('password_unchanged', 'The new password is the current one.', { param: 'new_password' });
    }
    const weakness = weaknessOf(body.new_password);
    if (weakness !== null) throw refuse('weak_password', weakness, { param: 'new_password' });
    const hash = await operator.hash(body.new_password);
    const keep = { id: row.id, jti: newTokenId(), expiresAt: nextExpiry(row) };
    const changed = logins.setPassword({
      username: userName,
      hash,
      expected,
      keep,
      as: 'password_changed',
      note: by(call),
    });
    if (!changed.ok) {
      throw expected === 0
        ? refuse('password_already_set', 'Another session has set a password just now.')
        : refuse('password_changed_meanwhile', 'Another session has changed the password just now.');
    }
    const session = { ...row, jti: keep.jti, epoch: changed.epoch, amr: 'pwd' as const, expires_at: keep.expiresAt };
    const token = authenticator.tokenOf(session);
    const facts = {
      updated_at: iso(changed.updatedAt),
      expires_at: iso(keep.expiresAt),
      sessions_revoked: changed.sessionsRevoked,
    };
    if (!principal.viaCookie) return { status: 200, json: { ...facts, token, token_type: 'Bearer' } };
    const cookie = authenticator.setCookie(call.request, token, keep.expiresAt);
    return { status: 200, headers: { 'set-cookie': cookie }, json: facts };
  };

  const refresh = (call: Call): Reply => {
    const { principal, row } = sessionOf(call);
    const expiresAt = nextExpiry(row);
    const jti = newTokenId();
    if (row.ends_at <= now()) throw refuse('session_ended', 'This login is seven days old: log in again.');
    if (!logins.renewSession(row.id, row.jti, { jti, expiresAt })) {
      throw refuse('invalid_token', 'The session has ended, or was renewed just now.');
    }
    return opened(deps, call, { ...row, jti, expires_at: expiresAt }, principal.viaCookie);
  };

  const verify = async (call: Call): Promise<Reply> => {
    const { row } = sessionOf(call);
    const { password, code } = readBody(object({ password: optional(string()), code: optional(string()) }), call.body);
    if ((password === undefined) === (code === undefined)) {
      throw refuse('invalid_body', 'Either password or code.', { param: 'password' });
    }
    const proved =
      code === undefined ? await knows(call, row.id, password ?? '') : logins.redeemCode(oneTimeDigest(code));
    if (!proved) throw refuse('invalid_credentials', 'The password is wrong, or the code is no longer good.');
    const at = now();
    logins.proveSession(row.id, at);
    return { status: 200, json: { recent_until: iso(recentUntil(at)) } };
  };

  const status = (call: Call): Reply => ({
    status: 200,
    json: {
      authenticated: call.principal !== null,
      must_change_password: call.principal?.kind === 'session' && call.principal.method === 'default',
      default_login_in_force: call.peer.loopback && defaultInForce(deps, call.request, call.peer),
    },
  });

  const me = (call: Call): Reply => {
    const { principal } = call;
    const session = principal?.kind === 'session' ? principal : null;
    return {
      status: 200,
      json: {
        user_id: userId,
        username: userName,
        auth_method: session?.method ?? 'token',
        expires_at: session === null ? null : iso(session.expiresAt),
        session_id: session?.id ?? null,
        must_change_password: session?.method === 'default',
        password_set: logins.credential() !== null,
        recent_until: session === null ? null : iso(session.recentUntil),
      },
    };
  };

  const listSessions = (call: Call): Reply => ({
    status: 200,
    json: {
      items: logins.sessions(now()).map((row) => ({
        id: row.id,
        auth_method: row.amr,
        created_at: iso(row.created_at),
        last_seen_at: iso(row.last_seen_at),
        expires_at: iso(row.expires_at),
        peer: row.peer,
        user_agent: row.user_agent,
        current: row.id === sessionOf(call).row.id,
      })),
    },
  });

  const logout = (call: Call): Reply => {
    if (call.principal?.kind === 'session') logins.revokeSession(call.principal.id, by(call));
    return { status: 204, headers: { 'set-cookie': authenticator.clearCookie(call.request) } };
  };

  const revokeOne = (call: Call): Reply => {
    if (logins.revokeSession(call.params['id'] ?? '', by(call)) === 0) {
      throw refuse('not_found', 'There is no such login session.', { param: 'id' });
    }
    return { status: 204 };
  };

  return [
    route('POST', 'logout', 'public', logout, {}),
    route('GET', 'status', 'public', status, {}),
    route('GET', 'me', 'bootstrap', me, {}),
    route('POST', 'refresh', 'any', refresh),
    route('POST', 'verify', 'any', verify),
    route('POST', 'change-password', 'bootstrap', changePassword),
    route('GET', 'sessions', 'any', listSessions),
    route('DELETE', 'sessions/{id}', 'any', revokeOne),
    route('DELETE', 'sessions', 'any', (call) => ({
      status: 200,
      json: { revoked: logins.revokeSessions(sessionOf(call).row.id, by(call)) },
    })),
  ];
}
