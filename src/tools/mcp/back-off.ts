const firstMs = 1_000;
const longestMs = 60_000;

/** When a server that failed may be tried again: twice as late after each failure in a row (05 §10.2). */
export function createBackOff(now: () => number) {
  let failures = 0;
  let notBefore = 0;
  return {
    failed(): void {
      failures += 1;
      notBefore = now() + Math.min(firstMs * 2 ** (failures - 1), longestMs);
    },
    succeeded(): void {
      failures = 0;
    },
    /** Milliseconds until it may be tried; 0 = now. */
    left: (): number => (failures === 0 ? 0 : Math.max(notBefore - now(), 0)),
  };
}
