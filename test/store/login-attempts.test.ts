import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAudit } from '../../src/store/audit.ts';
import { createLogins } from '../../src/store/logins.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, startOfTime, tenant } from './open.ts';

const minute = 60_000;
const longest = 15 * minute;

let temp: TempHome;
let store: OpenedStore;
/** The clock of the system, which can be set, and the one that cannot. */
let wall: number;
let elapsed: number;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
  wall = startOfTime;
  elapsed = 0;
});
afterEach(() => {
  store.close();
  temp.remove();
});

const pass = (ms: number): void => {
  wall += ms;
  elapsed += ms;
};
/** As a process that begins now sees them. */
const begin = () =>
  createLogins({ sql: store.sql, audit: createAudit(store.sql), tenant, now: () => wall, elapsed: () => elapsed });
const failTimes = (logins: ReturnType<typeof begin>, times: number, bucket = 'peer:a'): void => {
  for (let n = 0; n < times; n += 1) logins.fail(bucket, 5);
};
const buckets = (): number | undefined => store.sql.get<{ n: number }>('SELECT count(*) AS n FROM auth_attempts')?.n;

describe('failed logins', () => {
  it('are free five times within the window, and block twice as long each time, a quarter of an hour at most', () => {
    const logins = begin();
    failTimes(logins, 5);
    expect(logins.blockedFor('peer:a')).toBe(0);
    const blocks: number[] = [];
    for (let n = 0; n < 13; n += 1) {
      failTimes(logins, 1);
      blocks.push(logins.blockedFor('peer:a') / 1000);
      pass(logins.blockedFor('peer:a'));
      expect(logins.blockedFor('peer:a')).toBe(0);
    }
    expect(blocks).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
    expect(logins.blockedFor('peer:b')).toBe(0);
  });

  it('block no shorter for who asks again and again between the ticks of the two clocks', () => {
    const logins = begin();
    failTimes(logins, 14);
    const blocked = logins.blockedFor('peer:a');
    for (let ms = 0; ms < 1000; ms += 1) {
      wall += 1;
      logins.blockedFor('peer:a');
      elapsed += 1;
      logins.blockedFor('peer:a');
    }
    // A tick of either is all that they may be apart.
    expect(blocked - logins.blockedFor('peer:a')).toBeLessThanOrEqual(1001);
  });

  it('are forgotten with the window, with a success, and after the longest block only when its window has passed too', () => {
    const logins = begin();
    failTimes(logins, 5);
    pass(longest + 1);
    failTimes(logins, 1);
    expect(logins.blockedFor('peer:a')).toBe(0);
    failTimes(logins, 20);
    expect(logins.blockedFor('peer:a')).toBe(longest);
    // Who comes again as soon as he may has not become a stranger.
    pass(longest + minute);
    failTimes(logins, 1);
    expect(logins.blockedFor('peer:a')).toBe(longest);
    pass(2 * longest + 1);
    failTimes(logins, 5);
    expect(logins.blockedFor('peer:a')).toBe(0);
    failTimes(logins, 5);
    logins.fail('global', 50);
    logins.succeed('peer:a');
    expect([logins.blockedFor('peer:a'), buckets()]).toEqual([0, 1]);
  });

  it('outlive the process that counted them, and one that another process counts is counted', () => {
    failTimes(begin(), 8);
    const [first, second] = [begin(), begin()];
    expect(first.blockedFor('peer:a')).toBe(4000);
    failTimes(second, 1);
    expect(first.blockedFor('peer:a')).toBe(8000);
  });

  it('block no longer where the clock is set back, under a process or before it begins', () => {
    const logins = begin();
    failTimes(logins, 16);
    pass(5 * minute);
    wall -= 24 * 60 * minute;
    expect(logins.blockedFor('peer:a')).toBe(10 * minute);
    pass(10 * minute);
    expect(logins.blockedFor('peer:a')).toBe(0);
    // Set back a little, so that what is stored still lies in the past.
    failTimes(logins, 1);
    pass(5 * minute);
    wall -= 4 * minute;
    pass(10 * minute);
    expect(logins.blockedFor('peer:a')).toBe(0);

    failTimes(logins, 1);
    wall -= 24 * 60 * minute;
    const next = begin();
    expect(next.blockedFor('peer:a')).toBe(longest);
    pass(longest);
    expect(next.blockedFor('peer:a')).toBe(0);
  });

  it('keep ten thousand buckets, those that failed last, and those of a day', () => {
    const logins = begin();
    store.sql.write('normal', () => {
      for (let n = 0; n < 10_000; n += 1) {
        store.sql.run(
          'INSERT INTO auth_attempts (bucket, failures, window_start, blocked_until, updated_at) VALUES (?, 1, ?, NULL, ?)',
          `peer:${n}`,
          wall - minute + n,
          wall - minute + n,
        );
      }
    });
    failTimes(logins, 1);
    expect(buckets()).toBe(10_000);
    expect(store.sql.get("SELECT 1 FROM auth_attempts WHERE bucket = 'peer:0'")).toBeUndefined();
    expect(store.sql.get("SELECT 1 FROM auth_attempts WHERE bucket = 'peer:1'")).toBeDefined();
    pass(24 * 60 * minute - minute);
    logins.prune();
    expect(buckets()).toBe(10_000);
    pass(minute - 1);
    failTimes(logins, 1, 'peer:b');
    pass(2);
    logins.prune();
    expect(buckets()).toBe(1);
  });
});
