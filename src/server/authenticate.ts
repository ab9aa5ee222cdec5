import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { serialize } from '@tinyhttp/cookie';
import type { ServerGround } from '../app-options.ts';
import type { LoginSession, Principal } from '../schema/login.ts';
import type { Presented } from './access.ts';
import type { Authorities } from './authorities.ts';
import { hostOf } from './guard.ts';
import { createSigningKey } from './signing.ts';
import { type Claims, isInTime, signToken, verifyToken } from './token.ts';

const maxCookieBytes = 4096;
const proofMs = 30 * 60_000;
/** How long the password that was given counts as given just now (09 §4.6). Milliseconds since the epoch. */
export const recentUntil = (provedAt: number): number => provedAt + proofMs;
const tokenCheckMs = 1000;
const maxSigned = 256;
/** Most access tokens whose digest is kept: a new token takes the place of the one before. */
const maxAccepted = 8;
/** A session is marked as seen once a minute: a request does not write. */
const seenEveryMs = 60_000;

export type AuthenticatorDeps = {
  readonly ground: ServerGround;
  readonly authorities: Authorities;
  readonly tls: boolean;
  readonly port: number;
  readonly now: () => number;
  readonly overrides: { readonly secret: Uint8Array | null; readonly token: string | null };
};

/** Who a request comes from: an Authorization header decides, else the cookie (09 §4.1, §4.5). */
export function createAuthenticator(deps: AuthenticatorDeps) {
  const { ground, authorities, now } = deps;
  const { logins } = ground;
  const signingKey = createSigningKey({
    logins,
    machineKey: ground.machineKey(),
    override: deps.overrides.secret,
  });
  const access = createAccess(deps);

  const isSecure = (request: IncomingMessage): boolean =>
    deps.tls || authorities.secureHosts.has(hostOf(request.headers.host));
  const cookieName = (request: IncomingMessage): string =>
    isSecure(request) ? '__Host-reins_session' : `reins_session_${deps.port}`;

  /** Tokens whose signature this key has been found to have made: the bytes of a token do not change. */
  const signed = new Map<string, Claims>();
  let signedBy = signingKey();
  const verified = (token: string): Claims | null => {
    const key = signingKey();
    if (key !== signedBy || signed.size > maxSigned) signed.clear();
    signedBy = key;
    const known = signed.get(token);
    if (known !== undefined && isInTime(known, now())) return known;
    const claims = verifyToken(key, token, logins.instanceId, now());
    if (claims !== null) signed.set(token, claims);
    return claims;
  };

  const sessionOf = (token: string, viaCookie: boolean): Presented => {
    const claims = verified(token);
    const row = claims === null ? null : logins.session(claims.sid);
    if (claims === null || row === null || !holds(row, claims)) {
      // Sent before another tab renewed the login: to take the cookie away now would take the one that is good.
      const renewed = claims !== null && row !== null && holds(row, { ...claims, jti: row.jti });
      return { kind: 'invalid', deadCookie: viaCookie && !renewed };
    }
    if (now() - row.last_seen_at >= seenEveryMs) logins.touchSession(row.id, now());
    return { kind: 'valid', principal: principalOf(row, viaCookie) };
  };
  const holds = (row: LoginSession, claims: Pick<Claims, 'jti' | 'ver'>): boolean =>
    row.revoked_at === null && row.jti === claims.jti && row.epoch === claims.ver && claims.ver === logins.epoch();

  const principalOf = (row: LoginSession, viaCookie: boolean): Principal => ({
    kind: 'session',
    id: row.id,
    method: row.amr,
    viaCookie,
    expiresAt: row.expires_at,
    recentUntil: recentUntil(row.proof_at),
  });

  /** Digests of access tokens that were accepted: what was hashed once need not be hashed again. */
  const accepted = new Map<string, Buffer>();
  const ofBearer = (token: string): Presented => {
    const { digest: wanted, length, scope } = access();
    // Its length is no secret, and tells it from a login token at once.
    if (wanted === null || token.length !== length) return sessionOf(token, false);
    const digest = accepted.get(token) ?? createHash('sha256').update(token).digest();
    if (!timingSafeEqual(digest, wanted)) return sessionOf(token, false);
    if (accepted.size > maxAccepted) accepted.clear();
    accepted.set(token, digest);
    return { kind: 'valid', principal: { kind: 'token', scope, digest: digest.toString('hex') } };
  };

  return {
    authenticate(request: IncomingMessage): Presented {
      const { authorization } = request.headers;
      if (authorization !== undefined) {
        const bearer = /^bearer +([^\s]+)$/i.exec(authorization)?.[1];
        return bearer === undefined ? { kind: 'invalid', deadCookie: false } : ofBearer(bearer);
      }
      const found = cookiesOf(request.headers.cookie ?? '', cookieName(request));
      if (found.length === 0) return { kind: 'none' };
      const [value = ''] = found;
      if (found.length > 1 || value.length > maxCookieBytes) return { kind: 'invalid', deadCookie: true };
      return sessionOf(value, true);
    },

    /** Whether the credential of a request that is still being answered holds. */
    isValid(principal: Principal): boolean {
      if (principal.kind === 'token') return access().digest?.toString('hex') === principal.digest;
      const row = logins.session(principal.id);
      return row !== null && row.revoked_at === null && row.expires_at > now() && row.epoch === logins.epoch();
    },

    /** The token of a session as its row is now. */
    tokenOf: (session: Pick<LoginSession, 'id' | 'jti' | 'epoch' | 'amr' | 'expires_at'>): string =>
      signToken(
        signingKey(),
        { aud: logins.instanceId, sid: session.id, jti: session.jti, ver: session.epoch, amr: session.amr },
        { issuedAt: now(), expiresAt: session.expires_at },
      ),

    setCookie: (request: IncomingMessage, token: string, expiresAt: number): string =>
      cookie(request, token, Math.max(0, Math.floor((expiresAt - now()) / 1000))),
    cookieName,
    /** Takes the cookie away. */
    clearCookie: (request: IncomingMessage): string => cookie(request, '', 0),
  };

  function cookie(request: IncomingMessage, value: string, maxAge: number): string {
    return serialize(cookieName(request), value, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge,
      secure: isSecure(request),
    });
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Values of a cookie, as often as it was sent. */
function cookiesOf(header: string, name: string): readonly string[] {
  return header.split(';').flatMap((part) => {
    const [key = '', ...rest] = part.split('=');
    return key.trim() === name ? [rest.join('=').trim()] : [];
  });
}

type Access = { readonly digest: Buffer | null; readonly length: number; readonly scope: 'run' | 'full' };

/** SHA-256 of the access token, and what it may do: looked at again once a second, so that a change counts. */
function createAccess({ ground, overrides, now }: AuthenticatorDeps): () => Access {
  let known: (Access & { readonly at: number }) | null = null;
  return () => {
    const at = now();
    if (known === null || at - known.at >= tokenCheckMs || at < known.at) {
      const text = (overrides.token ?? ofFile())?.trim() ?? null;
      const digest = text === null ? null : createHash('sha256').update(text).digest();
      known = { at, digest, length: text?.length ?? 0, scope: ground.settings().tokenScope };
    }
    return known;
  };
  function ofFile(): string | null {
    try {
      return ground.token.read();
    } catch {
      // A file that others could read by now opens nothing.
      return null;
    }
  }
}
