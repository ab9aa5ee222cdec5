import type { IncomingMessage } from 'node:http';
import type { RuntimeError } from '../schema/errors.ts';
import type { Authorities } from './authorities.ts';
import { refuse } from './error-body.ts';

/** Where a request goes once it has passed: the routes, or the application's files. */
export type Area = 'api' | 'static';

/** The one place that decides where a request goes. */
export function areaOf(method: string, path: string): Area {
  if (path === '/api' || path.startsWith('/api/')) return 'api';
  return method === 'POST' && (path === '/login' || path === '/ui/login') ? 'api' : 'static';
}

const maxHeaders = 100;
const credentialNames: ReadonlySet<string> = new Set(['token', 'access_token', 'code', 'key']);

/**
 * The protocol, then steps 1 to 4 of the gate (09 §3), in their order, for every request: pages, assets, API and event streams alike.
 * @returns the first refusal, or null
 */
export function guard(request: IncomingMessage, authorities: Authorities): RuntimeError | null {
  const { method = '', url = '', headers, rawHeaders } = request;
  if (rawHeaders.length > maxHeaders * 2) return refuse('headers_too_large', `At most ${maxHeaders} headers.`);
  const area = areaOf(method, pathOf(url));
  return (
    checkProtocol(headers, request.httpVersion) ??
    checkTarget(url, area) ??
    checkHost(rawHeaders, headers.host, authorities) ??
    checkOrigin(rawHeaders, headers.origin, authorities) ??
    checkFetchMetadata(method, area, pathOf(url), headers) ??
    checkMethod(method) ??
    checkRepeated(rawHeaders)
  );
}

/** Before the gate: who wants another protocol is told so, whoever it is (09 §2). */
function checkProtocol(headers: IncomingMessage['headers'], version: string): RuntimeError | null {
  if (version !== '1.1') return refuse('bad_request', 'HTTP/1.1 only.');
  if (headers.upgrade !== undefined)
    return refuse('upgrade_not_supported', 'This server keeps to HTTP.', { param: 'Upgrade' });
  const coding = headers['transfer-encoding'];
  if (coding === undefined || coding.toLowerCase() === 'chunked') return null;
  // Nothing here would undo another one, and the chunks would be read as what they are not.
  return refuse('bad_request', 'A body comes in chunks, and not compressed.', { param: 'Transfer-Encoding' });
}

export const pathOf = (url: string): string => {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
};

function checkTarget(url: string, area: Area): RuntimeError | null {
  // Made when it is needed: an error looks where it comes from, which costs more than everything else here.
  const bad = () => refuse('bad_target', 'The request target cannot be read.');
  if (!url.startsWith('/')) return bad();
  let decoded: string;
  try {
    decoded = decodeURIComponent(url);
  } catch {
    return bad();
  }
  if (decoded.includes('\0') || url.includes('\\')) return bad();
  // In a query it is text like any other: somebody looks for `src\app`, and loads that page again.
  if (decoded.includes('\\') && decodeURIComponent(pathOf(url)).includes('\\')) {
    // On the way to a file it is a name that is not there.
    return area === 'static' ? refuse('route_not_found', 'There is no such page.') : bad();
  }
  if (area === 'static' && /%2f/i.test(pathOf(url))) return refuse('route_not_found', 'There is no such page.');
  if (!url.includes('?')) return null;
  for (const name of new URLSearchParams(url.slice(pathOf(url).length)).keys()) {
    if (credentialNames.has(name.toLowerCase())) {
      return refuse('credential_in_url', 'A credential belongs into a header, never into an address.', { param: name });
    }
  }
  return null;
}

const countOf = (rawHeaders: readonly string[], name: string): number => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) count += 1;
  }
  return count;
};

/** The authority that a request names, as the lists have it. */
export const hostOf = (host: string | undefined): string => (host ?? '').toLowerCase().replace(/\.(?=:\d+$|$)/, '');

function checkHost(rawHeaders: readonly string[], host: string | undefined, { hosts }: Authorities) {
  if (countOf(rawHeaders, 'host') === 1 && hosts.has(hostOf(host))) return null;
  return refuse('host_not_allowed', 'This server does not answer to that Host.', { param: 'Host' });
}

function checkOrigin(rawHeaders: readonly string[], origin: string | undefined, { origins }: Authorities) {
  if (origin === undefined && countOf(rawHeaders, 'origin') === 0) return null;
  if (countOf(rawHeaders, 'origin') === 1 && origins.has(origin ?? '')) return null;
  return refuse('origin_not_allowed', 'Requests of that Origin are not answered.', { param: 'Origin' });
}

const reads = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** 09 §3.3. Absence proves nothing; the other steps stand alone. */
function checkFetchMetadata(method: string, area: Area, path: string, headers: IncomingMessage['headers']) {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return null;
  if (site === 'none' && (area === 'static' || reads(method))) return null;
  const navigates = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (area === 'static' && reads(method) && navigates && isPage(path)) return null;
  return refuse('cross_site_request', 'Requests that another site makes are not answered.', {
    param: 'Sec-Fetch-Site',
  });
}

/**
 * A path of the application, which no file of a build has (09 §9): its last segment has no dot, but where it is a name that may
 * have one, and none begins with one, in whatever spelling. Only for what `checkTarget` has let in.
 */
export function isPage(path: string): boolean {
  const decoded = decodeURIComponent(path);
  if (decoded.startsWith('/assets/') || /^\/api(?:\/|$)/i.test(decoded) || decoded.includes('/.')) return false;
  return named.test(decoded) || !decoded.slice(decoded.lastIndexOf('/')).includes('.');
}

/** Pages of what people name themselves, or of a file: a chat called `v1.2` is reached by its name, too. */
const named = /^\/(?:chat|plans|policies|chains)\/[^/]+$/;

export const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

const checkMethod = (method: string): RuntimeError | null =>
  methods.has(method) ? null : refuse('method_not_allowed', `${method} is not answered here.`);

/** Of two, Node keeps the first without a word, and another program on the way may have looked at the second. */
function checkRepeated(rawHeaders: readonly string[]): RuntimeError | null {
  for (const name of ['Authorization', 'Content-Type']) {
    if (countOf(rawHeaders, name.toLowerCase()) > 1)
      return refuse('bad_request', `${name} occurs twice.`, { param: name });
  }
  return null;
}
