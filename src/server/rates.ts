/** Tokens come back at a steady rate up to a number that may be used at once (09 §10.2). */
type Bucket = { tokens: number; at: number };

const limits = {
  credential: { perSecond: 50, burst: 200 },
  peer: { perSecond: 10, burst: 40 },
} as const;
type RateScope = keyof typeof limits;

/** Idle buckets are full ones; beyond so many the oldest are forgotten. */
const maxBuckets = 10_000;

/** Counts requests by credential, or by peer without one. Kept in memory: a restart forgives. */
export function createRates(now: () => number) {
  const buckets = new Map<string, Bucket>();
  return {
    /** @returns 0 when the request may go on, else seconds until the next one may */
    take(scope: RateScope, key: string): number {
      const { perSecond, burst } = limits[scope];
      const name = `${scope} ${key}`;
      const at = now();
      const bucket = buckets.get(name) ?? { tokens: burst, at };
      buckets.delete(name);
      buckets.set(name, bucket);
      const passed = Math.max(0, at - bucket.at);
      bucket.tokens = Math.min(burst, bucket.tokens + (passed / 1000) * perSecond);
      bucket.at = at;
      const [oldest] = buckets.keys();
      if (buckets.size > maxBuckets && oldest !== undefined) buckets.delete(oldest);
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
      bucket.tokens -= 1;
      return 0;
    },
  };
}

export type Rates = ReturnType<typeof createRates>;

/** The bucket of a peer: an IPv6 network belongs to one person (09 §4.12). */
export function peerBucket(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = address.includes('::')
    ? [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
    : left;
  return `${groups.slice(0, 4).join(':')}::/64`;
}
