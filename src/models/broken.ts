import { parseUrl } from '../text/parse-url.ts';
import { codeOf, messageOf } from '../text/thrown.ts';
import { failure, type Origin } from './failure.ts';
import type { ModelFailure } from './model.ts';

/** Why nothing more comes from a server. */
export type Broken =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'timeout'; readonly limit: 'connect' | 'first byte' | 'idle' | 'discovery'; readonly ms: number }
  /** `started`: at least one byte of the body had come. */
  | { readonly kind: 'network'; readonly error: unknown; readonly started: boolean };

/** A backend, and the proxy between. */
type Reached = Origin & { readonly proxy?: string | null };

/** The failure of a connection (08 §9.2, §9.4); a limit says which one it was. */
export function brokenFailure(origin: Reached, broken: Broken): ModelFailure {
  const { backend } = origin;
  switch (broken.kind) {
    case 'cancelled':
      return failure(origin, 'cancelled', 'the model call was cancelled');
    case 'timeout':
      return failure(origin, 'timeout', timeoutMessage(backend, broken.limit, broken.ms));
    case 'network':
      return networkFailure(origin, broken.error, broken.started);
    default:
      return broken satisfies never;
  }
}

function timeoutMessage(backend: string, limit: string, ms: number): string {
  const after = `within ${ms / 1000} s (${limit} limit)`;
  if (limit === 'connect') return `backend "${backend}" did not accept a connection ${after}`;
  if (limit === 'first byte') return `backend "${backend}" sent no reply ${after}`;
  if (limit === 'discovery') return `backend "${backend}" did not list its models ${after}`;
  return `backend "${backend}" sent nothing more for ${ms / 1000} s (idle limit)`;
}

const untrusted = 'no known authority has signed its certificate; NODE_EXTRA_CA_CERTS=<file> adds one';

const plain = 'it does not speak TLS there; a URL with http:// may be meant';

const wantsUser = 'the proxy answered 407: its URL needs a user and a password, http://user:password@host:port';

/** What a proxy refuses by itself: the backend has not been asked. */
export const refusedByProxy = (status: number): Error =>
  new Error(status === 407 ? wantsUser : `the proxy answered ${status}`);

const networkReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed before a reply came',
  EPIPE: 'the connection was closed before a reply came',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the network is not reachable',
  ETIMEDOUT: 'the connection timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: plain,
  // The words of Node differ between versions, and advise a flag that nobody can give to this program.
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

function networkFailure(origin: Reached, error: unknown, started: boolean): ModelFailure {
  const code = codeOf(error) ?? '';
  const text = messageOf(error) || code;
  if (code.startsWith('HPE_') || code.startsWith('Z_')) {
    return failure(origin, 'malformed', `backend "${origin.backend}" sent an undecodable HTTP reply: ${text}`);
  }
  if (code.startsWith('ERR_INVALID_') || code === 'ERR_UNESCAPED_CHARACTERS') {
    return failure(origin, 'invalid_request', `the request to backend "${origin.backend}" cannot be sent: ${text}`);
  }
  if (started) {
    return failure(origin, 'server_error', `backend "${origin.backend}" dropped the connection during its reply`);
  }
  // Some versions of Node tell it in the text alone.
  const known = /wrong version number/i.test(text) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : code;
  const reason = networkReasons[known] ?? text;
  const via = origin.proxy == null ? '' : ` through the proxy ${hostOf(origin.proxy)}`;
  const message = `cannot reach backend "${origin.backend}" at ${hostOf(origin.base_url)}${via}: ${reason}`;
  const failed = failure(origin, 'connect', message);
  return isLasting(known, reason) ? { ...failed, futile: true } : failed;
}

/** A certificate is the same a second later, and so are a port that speaks something else and a proxy's user. */
const isLasting = (code: string, reason: string): boolean =>
  [untrusted, plain, wantsUser].includes(reason) ||
  code === 'ERR_TLS_CERT_ALTNAME_INVALID' ||
  code === 'CERT_HAS_EXPIRED';

/** Scheme, host and port: the rest of a URL may hold what a person would not want to see in a message. */
const hostOf = (url: string): string => parseUrl(url)?.origin ?? url;
