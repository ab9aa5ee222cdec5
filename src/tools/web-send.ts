import { parseUrl } from '../text/parse-url.ts';
import { type Egress, parseTarget, type Target } from './egress.ts';
import { cancelled, fail, isFailure, type ToolFailure } from './failure.ts';
import { networkFailure } from './network-failure.ts';
import { resolveTarget } from './resolve.ts';
import type { ToolContext, ToolResult } from './tool.ts';
import { limitFault, type WebFacts } from './web-call.ts';
import type { Reply } from './web-request.ts';
import { webResult } from './web-result.ts';

export type SendDeps = { readonly timeoutMs: number; readonly proxy: string | null; readonly userAgent: string };
type Arguments = Readonly<Record<string, unknown>>;
export type ToolName = { readonly tools: string; readonly tool: string };
export type Send = (context: ToolContext<WebFacts>, args: Arguments, name: ToolName) => Promise<ToolResult>;

/** Limits of one call (05 §5.2.3, §5.3.4). */
const connectMs = 10_000;
const maxRedirects = 5;
const redirectStatus: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const rank = { allow: 0, approve: 1, deny: 2 };

/** Sends what was judged and follows redirects as far as the gate would allow each of them. Never rejects. */
export function createSender(deps: SendDeps, egress: Egress): Send {
  const proxy = deps.proxy === null ? null : new URL(deps.proxy);

  const sendOnce = async (
    context: ToolContext<WebFacts>,
    target: Target,
    callerHeaders: Readonly<Record<string, string>>,
    totalMs: number,
  ): Promise<Reply | ToolFailure> => {
    const { method, body, limits } = context.facts;
    // A proxy resolves names itself: then only literal addresses and listed names can be checked (05 §5.2.5).
    const limit = `the time limit (web-timeout is ${deps.timeoutMs / 1000} s)`;
    const until = performance.now() + totalMs;
    const addresses = proxy === null ? await resolveTarget(egress, target, { ms: totalMs, limit }, context.signal) : [];
    if (isFailure(addresses)) return addresses;
    const headers = {
      accept: '*/*',
      ...lowerCase(callerHeaders),
      ...(body === null ? {} : { 'content-type': lowerCase(callerHeaders)['content-type'] ?? body.type }),
      'user-agent': deps.userAgent,
      'accept-encoding': 'gzip, br',
    };
    // The connection needs HTTP, TLS and DNS of the platform: loaded by the first request, not at every start.
    const { exchange } = await import('./web-request.ts');
    const bytes = body === null ? null : body.bytes;
    const maxBodyBytes = limits.responseBytes;
    const leftMs = Math.max(until - performance.now(), 1);
    return exchange(
      { target, method, headers, body: bytes, addresses, proxy, connectMs, totalMs: leftMs, maxBodyBytes },
      context.signal,
    );
  };

  return async (context, args, name) => {
    const { facts } = context;
    const until = performance.now() + deps.timeoutMs;
    const safe = facts.method === 'GET' || facts.method === 'HEAD';
    let target = facts.target;
    let headers = facts.headers;
    let judged = args;
    for (let hops = 0; ; hops += 1) {
      if (context.signal.aborted) return cancelled();
      const reply = await sendOnce(context, target, headers, Math.max(until - performance.now(), 1));
      if (isFailure(reply)) return reply;
      if (reply.kind === 'broken') {
        const host = target.host.slice(0, 200);
        const late = `"${host}": ${reply.reason} (web-timeout is ${deps.timeoutMs / 1000} s).`;
        return networkFailure(reply, host, { safe, late });
      }
      const location = reply.headers['location'];
      if (!safe || !redirectStatus.has(reply.status) || typeof location !== 'string') {
        return webResult(reply, target.url.href, facts.method, facts.format, context);
      }
      const next = redirectTarget(location, target, facts, egress, hops);
      if ('ok' in next) return next;
      const isSameOrigin = next.url.origin === target.url.origin;
      const hop = hopArguments(judged, next.url, isSameOrigin);
      const isSameHost = next.host === target.host && next.port === target.port;
      const fault = judgeHop(context, name, hop, isSameHost ? judged : null);
      if (fault !== null) return fault;
      if (!isSameOrigin) headers = {};
      target = next;
      judged = hop;
    }
  };
}

const lowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Each hop passes what the first request passed (05 §5.3.4). */
function redirectTarget(
  location: string,
  from: Target,
  facts: WebFacts,
  egress: Egress,
  hops: number,
): Target | ToolFailure {
  const extra = { location };
  const refused = (why: string): ToolFailure => fail('redirect_refused', `The redirect is refused: ${why}.`, extra);
  if (hops >= maxRedirects) return refused(`there were ${maxRedirects} before it`);
  const url = parseUrl(location, from.url.href);
  if (url === null) return refused('its location is no URL');
  const target = parseTarget(url.href);
  if (typeof target === 'string') return refused(`its location ${target}`);
  if (from.url.protocol === 'https:' && target.url.protocol === 'http:') return refused('it leads from https to http');
  const limited = limitFault(target, facts.limits) ?? egress.nameFault(target);
  return limited === null ? target : { ...limited, extra: { ...limited.extra, ...extra } };
}

/** A hop as the call that it is: its own URL has all of its query, and another origin gets none of the caller's headers. */
function hopArguments(from: Arguments, url: URL, isSameOrigin: boolean): Arguments & { readonly url: string } {
  const { query: _sent, headers, ...rest } = from;
  return { ...rest, url: url.href, ...(isSameOrigin && headers !== undefined ? { headers } : {}) };
}

/**
 * The hop as a call of the same tool: to another host only with `allow`; on the same host nothing that the policy
 * treats more strictly than what led there.
 * @param from what led there, on the same host; else null
 */
function judgeHop(
  context: ToolContext<WebFacts>,
  { tools, tool }: ToolName,
  hop: Arguments & { readonly url: string },
  from: Arguments | null,
): ToolFailure | null {
  const wanted = rank[context.judge(tools, tool, hop)];
  const most = from === null ? rank.allow : rank[context.judge(tools, tool, from)];
  if (wanted <= most && wanted < rank.deny) return null;
  return fail(
    'redirect_not_followed',
    `The server redirects to another address, which this call does not cover. Call the location itself if it is needed.`,
    { location: hop.url },
  );
}
