const quietMs = 500;
const everyMs = 10_000;

/**
 * Tells when a list that has changed is to be read again: after a while of quiet, and not too often (05 §10.5.2). Only the
 * last change counts.
 */
export function createRelist(now: () => number) {
  let timer: NodeJS.Timeout | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    /** @param read begins the reading; it is called at once or later, or not at all after `stop` */
    changed(read: () => void): void {
      clearTimeout(timer);
      timer = setTimeout(read, Math.max(quietMs, readAt + everyMs - now()));
      timer.unref();
    },
    /** A reading begins. */
    reading(): void {
      readAt = now();
    },
    stop: (): void => clearTimeout(timer),
  };
}
