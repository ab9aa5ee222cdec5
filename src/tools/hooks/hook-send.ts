import { parseUrl } from '../../text/parse-url.ts';
import { parseTarget, type Target } from '../egress.ts';
import { cancelled, fail, isFailure, type ToolFailure } from '../failure.ts';
import { networkFailure } from '../network-failure.ts';
import { resolveTarget } from '../resolve.ts';
import type { Body } from '../web-arguments.ts';
import type { Reply } from '../web-request.ts';
import type { HookPorts } from './hook-service.ts';

export type HookExchange = {
  readonly method: string;
  readonly target: Target;
  /** Lower case; every one of them is for the origin of `target` and goes nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | null;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** What the time limit is called, for the message. */
  readonly limit: string;
};

export type Answer = Extract<Reply, { kind: 'reply' }> & { readonly target: Target };

const maxRedirects = 3;
const redirectStatus: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request to a registered service and follows redirects of GET and HEAD within its origin (05 §9.5.4). Never
 * rejects. On abort, what may have been served is `outcome_unknown`.
 */
export async function sendToService(
  wanted: HookExchange,
  ports: Pick<HookPorts, 'egress' | 'userAgent'>,
  signal: AbortSignal,
): Promise<Answer | ToolFailure> {
  const until = performance.now() + wanted.timeoutMs;
  const left = (): number => Math.max(until - performance.now(), 1);
  const safe = wanted.method === 'GET' || wanted.method === 'HEAD';
  let { target } = wanted;
  let repeated = false;
  for (let hops = 0; ; ) {
    if (signal.aborted) return cancelled();
    const reply = await exchangeOnce(wanted, target, ports, left(), signal);
    if (isFailure(reply)) return reply;
    if (reply.kind === 'broken') {
      // A connection that broke before an answer began is tried once more, where nothing can have been changed.
      if (reply.why === 'error' && safe && !reply.answered && !repeated && isReset(reply.reason)) {
        repeated = true;
        continue;
      }
      const host = wanted.target.host.slice(0, 200);
      const late = `"${host}" gave no complete answer within ${wanted.limit}.`;
      return networkFailure(reply, host, { safe, late });
    }
    const { location } = reply.headers;
    if (!redirectStatus.has(reply.status) || typeof location !== 'string') return { ...reply, target };
    const next = safe && hops < maxRedirects ? nextTarget(location, target) : null;
    if (next === null) {
      const why = !safe
        ? `a ${wanted.method} is not sent again`
        : hops >= maxRedirects
          ? `there were ${maxRedirects} before it`
          : 'it leads to another origin than the registered one';
      return fail('redirect_refused', `The service redirects, which is not followed: ${why}.`, { location });
    }
    target = next;
    hops += 1;
  }
}

async function exchangeOnce(
  wanted: HookExchange,
  target: Target,
  { egress, userAgent }: Pick<HookPorts, 'egress' | 'userAgent'>,
  totalMs: number,
  signal: AbortSignal,
): Promise<Reply | ToolFailure> {
  const until = performance.now() + totalMs;
  const addresses = await resolveTarget(egress, target, { ms: totalMs, limit: wanted.limit }, signal);
  if (isFailure(addresses)) return addresses;
  const headers = {
    'user-agent': userAgent,
    'accept-encoding': 'gzip, br',
    ...wanted.headers,
    ...(wanted.body === null ? {} : { 'content-type': wanted.body.type }),
  };
  const { exchange } = await import('../web-request.ts');
  const leftMs = Math.max(until - performance.now(), 1);
  return exchange(
    {
      target,
      method: wanted.method,
      headers,
      body: wanted.body?.bytes ?? null,
      addresses,
      proxy: null,
      connectMs: leftMs,
      totalMs: leftMs,
      maxBodyBytes: wanted.maxBytes,
    },
    signal,
  );
}

const isReset = (reason: string): boolean => /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/.test(reason);

/** Within the origin: the registered headers may go along. */
function nextTarget(location: string, from: Target): Target | null {
  const url = parseUrl(location, from.url.href);
  const target = url === null ? '' : parseTarget(url.href);
  return typeof target === 'string' || target.url.origin !== from.url.origin ? null : target;
}
