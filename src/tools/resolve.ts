import type { LookupAddress } from 'node:dns';
import { codeOf } from '../text/thrown.ts';
import type { Egress, Target } from './egress.ts';
import { cancelled, fail, type ToolFailure } from './failure.ts';

/**
 * The addresses of a target, each of them checked. The system's resolver knows no limit of its own and cannot be stopped:
 * after the time, or on abort, its answer is dropped. Never rejects.
 * @param limit what the time limit is called, for the message
 */
export async function resolveTarget(
  egress: Egress,
  target: Target,
  { ms, limit }: { readonly ms: number; readonly limit: string },
  signal: AbortSignal,
): Promise<readonly LookupAddress[] | ToolFailure> {
  const host = target.host.slice(0, 200);
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => {};
  const over = new Promise<ToolFailure>((resolve) => {
    timer = setTimeout(() => resolve(fail('timeout', `"${host}" was not resolved within ${limit}.`)), ms);
    abort = () => resolve(cancelled());
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([egress.resolve(target), over]);
  } catch (error) {
    return fail('network_error', `The name "${host}" was not resolved: ${codeOf(error) ?? 'unknown'}.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
