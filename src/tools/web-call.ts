import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import type { Preview } from '../schema/ask.ts';
import { type Egress, parseTarget, type Target } from './egress.ts';
import { fail, isFailure, type ToolFailure } from './failure.ts';
import { summaryLine } from './files/subject.ts';
import { listLimit, numberLimit } from './limits.ts';
import type { Prepared, ToolSite } from './tool.ts';
import { type Body, type Headers, type Query, withQuery } from './web-arguments.ts';

/** A request as it was checked and judged; names are resolved when it is sent. */
export type WebFacts = {
  readonly target: Target;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Body | null;
  readonly format: 'text' | 'raw';
  readonly limits: WebLimits;
};

export type WebLimits = {
  readonly schemes: readonly string[];
  readonly allowedHosts: readonly string[] | null;
  readonly deniedHosts: readonly string[];
  readonly responseBytes: number;
  readonly requestBytes: number;
};

type Wanted = Omit<WebFacts, 'target' | 'limits'> & {
  readonly url: string;
  readonly query: Query | string | undefined;
};

/** What is checked before anybody is asked (05 §2.3). No server is contacted: a denied call tells nobody its name. */
export function prepareCall({ url, query, ...wanted }: Wanted, site: ToolSite, egress: Egress): Prepared<WebFacts> {
  const given = parseTarget(url);
  if (typeof given === 'string') return fail('invalid_arguments', `"url" ${given}.`, { path: 'url' });
  const target = parseTarget(withQuery(given.url, query).href);
  if (typeof target === 'string') return fail('invalid_arguments', `"url" with "query" ${target}.`, { path: 'query' });
  const limits = webLimits(site);
  if (isFailure(limits)) return limits;
  const fault = limitFault(target, limits) ?? egress.nameFault(target);
  if (fault !== null) return fault;
  const size = wanted.body?.bytes.length ?? 0;
  if (size > limits.requestBytes) {
    const message = `The body has ${size} bytes; _max_request_body_bytes is ${limits.requestBytes}.`;
    return fail('too_large', message, { bytes: size, max_bytes: limits.requestBytes });
  }
  return { ok: true, facts: { ...wanted, target, limits }, cwd: site.root, summary: summaryLine(target.url.host) };
}

function webLimits({ limits }: ToolSite): WebLimits | ToolFailure {
  const responseBytes = numberLimit(limits, '_max_response_bytes', { fallback: 1_048_576, min: 1, max: 16_777_216 });
  if (isFailure(responseBytes)) return responseBytes;
  const requestBytes = numberLimit(limits, '_max_request_body_bytes', { fallback: 262_144, min: 1, max: 4_194_304 });
  if (isFailure(requestBytes)) return requestBytes;
  return {
    schemes: listLimit(limits, '_allowed_schemes') ?? ['http', 'https'],
    allowedHosts: listLimit(limits, '_allowed_hosts'),
    deniedHosts: listLimit(limits, '_denied_hosts') ?? [],
    responseBytes,
    requestBytes,
  };
}

/** An entry covers the host and what is below it; deny wins (05 §5.2.4). */
export function limitFault({ url, host }: Target, limits: WebLimits): ToolFailure | null {
  const covers = (entry: string): boolean => {
    const name = hostOfEntry(entry);
    return host === name || (host.endsWith(`.${name}`) && isIP(name) === 0);
  };
  const refuse = (limit: string): ToolFailure =>
    fail('not_permitted', `"${host.slice(0, 200)}" is excluded by the chain's ${limit}. No approval widens it.`, {
      limit,
    });
  if (!limits.schemes.includes(url.protocol.slice(0, -1))) return refuse('_allowed_schemes');
  if (limits.deniedHosts.some(covers)) return refuse('_denied_hosts');
  return limits.allowedHosts === null || limits.allowedHosts.some(covers) ? null : refuse('_allowed_hosts');
}

/** An entry in the spelling of `Target`, by the same parser; with more than a host in it, it covers nothing. */
function hostOfEntry(entry: string): string {
  const target = /[/\\?#@\s]|^[^[:]*:[^:]*$/.test(entry)
    ? ''
    : parseTarget(`http://${isIP(entry) === 6 ? `[${entry}]` : entry}/`);
  return typeof target === 'string' ? entry.toLowerCase() : target.host;
}

export function previewCall({ target, method, headers, body }: WebFacts): Preview {
  const { url, host, port } = target;
  const unicode = domainToUnicode(host);
  return {
    url: {
      scheme: url.protocol.slice(0, -1),
      host,
      ...(unicode === '' || unicode === host ? {} : { host_unicode: unicode }),
      port: String(port),
      path: url.pathname + url.search,
      method,
      headers: Object.keys(headers),
      body_bytes: body?.bytes.length ?? null,
    },
  };
}
