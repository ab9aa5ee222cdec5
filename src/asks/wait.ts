import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';

export type WaitDeps = {
  /** The row as it is now; one whose deadline has passed reads as expired. @throws RuntimeError storage when it is gone */
  read(id: string): Ask;
  /** Withdraws the ask, unless a verdict came first. */
  cancel(ask: Ask): void;
  /** Calls `look` when this process writes a verdict. @returns the function that ends it. */
  listen(id: string, look: () => void): () => void;
  /** Calls `look` when another process has committed something. @returns the function that ends it. */
  poll(look: () => void): () => void;
  readonly now: () => number;
};

/**
 * Waits until the row has its verdict, whoever writes it, in this process or another. On abort the ask becomes
 * `cancelled`, by `system:cancelled`, unless a verdict came first; that one is returned then. When the abort's reason
 * is a run that rests (code `interrupted` or `suspended`), the ask stays pending and the wait rejects with it.
 */
export async function waitForVerdict(deps: WaitDeps, id: string, signal: AbortSignal): Promise<Ask> {
  const ask = deps.read(id);
  if (ask.state !== 'pending') return ask;
  return new Promise<Ask>((resolvePromise, reject) => {
    let stopPolling: () => void = () => {};
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const look = (): void => {
      try {
        const current = deps.read(id);
        if (current.state === 'pending') return;
        finish();
        resolvePromise(current);
      } catch (error) {
        finish();
        reject(error);
      }
    };
    const abort = (): void => {
      if (rests(signal.reason)) {
        finish();
        reject(signal.reason);
        return;
      }
      try {
        deps.cancel(ask);
      } catch (error) {
        finish();
        reject(error);
        return;
      }
      look();
    };
    /** Timers hold at most 2^31 ms, and the clock may be set: look again at least once an hour. */
    const arm = (at: number): void => {
      const left = Math.min(Math.max(at - deps.now(), 0) + 1, 3_600_000);
      timer = setTimeout(() => {
        look();
        if (!over && at > deps.now()) arm(at);
      }, left);
    };
    const finish = (): void => {
      over = true;
      clearTimeout(timer);
      stopPolling();
      signal.removeEventListener('abort', abort);
      stopListening();
    };
    const stopListening = deps.listen(id, look);
    signal.addEventListener('abort', abort, { once: true });
    stopPolling = deps.poll(look);
    if (ask.expires_at !== null) arm(Date.parse(ask.expires_at));
    if (signal.aborted) abort();
    else look();
  });
}

const rests = (reason: unknown): boolean =>
  reason instanceof RuntimeError && (reason.code === 'interrupted' || reason.code === 'suspended');
