import type { Address } from './address.ts';

/** The names under which this server is reached; everything else is another site (09 §3.1, §3.2). */
export type Authorities = {
  /** Of `Host`, in lower case. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** Hosts that mean this machine: the default credentials are good for these alone. */
  readonly loopbackHosts: ReadonlySet<string>;
  /** Hosts of public origins with https: their cookies are for secure connections only. */
  readonly secureHosts: ReadonlySet<string>;
};

export function authoritiesOf(given: {
  readonly port: number;
  readonly tls: boolean;
  readonly bound: Address;
  readonly publicOrigins: readonly string[];
}): Authorities {
  const { port, tls, bound } = given;
  const scheme = tls ? 'https' : 'http';
  const withPort = (host: string): readonly string[] =>
    port === (tls ? 443 : 80) ? [`${host}:${port}`, host] : [`${host}:${port}`];
  const literal = bound.family === 6 ? `[${bound.address}]` : bound.address;
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].flatMap(withPort);
  const own = [...loopback, ...withPort(literal)];
  const publics = given.publicOrigins.map((origin) => new URL(origin));
  const publicHosts = publics.flatMap((url) => hostsOf(url));
  return {
    hosts: new Set([...own, ...publicHosts]),
    origins: new Set([...own.map((host) => `${scheme}://${host}`), ...publics.map((url) => url.origin)]),
    loopbackHosts: new Set(bound.loopback ? own : loopback),
    secureHosts: new Set(publics.filter((url) => url.protocol === 'https:').flatMap(hostsOf)),
  };
}

/** The default port may be left out or not. */
const hostsOf = (url: URL): readonly string[] =>
  url.port === '' ? [url.hostname, `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}`] : [url.host];
