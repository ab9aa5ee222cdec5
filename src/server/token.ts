import { type KeyObject, randomBytes } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { literal, number, object, string, enums, is, type Infer } from 'superstruct';
import { readStrictJson } from '../text/strict-json.ts';

export const tokenLifetimeS = 86_400;
const toleranceS = 5;

/** 09 §4.5: all of them, and nothing else. */
const Claims = object({
  iss: literal('reins'),
  aud: string(),
  sub: literal('operator'),
  username: literal('admin'),
  iat: number(),
  nbf: number(),
  exp: number(),
  sid: string(),
  jti: string(),
  ver: number(),
  amr: enums(['pwd', 'link', 'default']),
});
export type Claims = Infer<typeof Claims>;
const Head = object({ alg: literal('HS256'), typ: literal('JWT') });

export const newTokenId = (): string => randomBytes(16).toString('base64url');

/** A login token. Times are milliseconds since the epoch. */
export function signToken(
  key: KeyObject,
  given: Pick<Claims, 'aud' | 'sid' | 'jti' | 'ver' | 'amr'>,
  times: { readonly issuedAt: number; readonly expiresAt: number },
): string {
  const iat = Math.floor(times.issuedAt / 1000);
  const claims: Claims = {
    iss: 'reins',
    sub: 'operator',
    username: 'admin',
    iat,
    nbf: iat,
    exp: Math.min(iat + tokenLifetimeS, Math.ceil(times.expiresAt / 1000)),
    ...given,
  };
  return jsonwebtoken.sign(claims, key, { algorithm: 'HS256' });
}

/**
 * The claims of a token that this key has signed and that holds now; null for anything else, for whatever reason.
 * @param now milliseconds since the epoch
 */
export function verifyToken(key: KeyObject, token: string, audience: string, now: number): Claims | null {
  if (token.length > 4096 || !hasPlainHead(token)) return null;
  let claims: unknown;
  try {
    claims = jsonwebtoken.verify(token, key, {
      algorithms: ['HS256'],
      issuer: 'reins',
      audience,
      clockTimestamp: Math.floor(now / 1000),
      clockTolerance: toleranceS,
    });
  } catch {
    return null;
  }
  if (!is(claims, Claims)) return null;
  return claims.exp - claims.iat <= tokenLifetimeS && isInTime(claims, now) ? claims : null;
}

/** @param now milliseconds since the epoch */
export const isInTime = ({ iat, nbf, exp }: Pick<Claims, 'iat' | 'nbf' | 'exp'>, now: number): boolean =>
  Math.max(iat, nbf) <= now / 1000 + toleranceS && now / 1000 < exp + toleranceS;

/** `{"alg":"HS256","typ":"JWT"}` and no other member; no member of head or claims occurs twice. */
function hasPlainHead(token: string): boolean {
  const [head, claims] = token.split('.').map((part) => readStrictJson(Buffer.from(part, 'base64url').toString(), 4));
  if (head?.ok !== true || claims?.ok !== true) return false;
  if (head.duplicates.length > 0 || claims.duplicates.length > 0) return false;
  return is(head.value, Head);
}
