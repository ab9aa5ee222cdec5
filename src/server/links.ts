import { createHash, randomBytes } from 'node:crypto';
import type { LoginRecords } from '../schema/login.ts';

const linkLifetimeMs = 10 * 60_000;

export const oneTimeDigest = (code: string): string => createHash('sha256').update(code).digest('hex');

/**
 * Makes a code that logs in once (09 §4.7). Only its digest is stored.
 * @param origin of the server
 * @returns the address to open; the code is behind `#`, which no browser sends
 */
export function makeLink(logins: Pick<LoginRecords, 'addCode'>, origin: string, now: number): string {
  const code = randomBytes(32).toString('base64url');
  logins.addCode(oneTimeDigest(code), now + linkLifetimeMs);
  return `${origin}/#code=${code}`;
}
