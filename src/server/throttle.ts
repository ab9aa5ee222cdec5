import type { LoginRecords } from '../schema/login.ts';
import { refuse } from './error-body.ts';
import { peerBucket } from './rates.ts';
import type { Peer } from './route.ts';

const freeOfPeer = 5;
const freeOfAll = 50;
const everybody = 'global';

/** Failed passwords by peer and in all (09 §4.12); `session:` buckets are of those who are logged in. */
export function createThrottle(logins: Pick<LoginRecords, 'blockedFor' | 'fail' | 'succeed'>) {
  const bucketOf = (peer: Peer): string => `peer:${peerBucket(peer.address)}`;
  const check = (...buckets: readonly string[]): void => {
    const blocked = Math.max(...buckets.map((bucket) => logins.blockedFor(bucket)));
    if (blocked === 0) return;
    throw refuse('too_many_attempts', 'Too many failed attempts; a login link still works.', {
      retryAfterS: blocked / 1000,
    });
  };
  return {
    /** @throws RuntimeError too_many_attempts */
    peer: (peer: Peer): void => check(bucketOf(peer), everybody),
    /** @throws RuntimeError too_many_attempts */
    session: (id: string): void => check(`session:${id}`),
    failed(peer: Peer): void {
      logins.fail(bucketOf(peer), freeOfPeer);
      logins.fail(everybody, freeOfAll);
    },
    failedSession: (id: string): void => logins.fail(`session:${id}`, freeOfPeer),
    succeeded: (peer: Peer): void => logins.succeed(bucketOf(peer)),
    succeededSession: (id: string): void => logins.succeed(`session:${id}`),
  };
}
