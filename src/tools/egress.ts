import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseUrl } from '../text/parse-url.ts';
import { fail, type ToolFailure } from './failure.ts';

/** One parsed URL for facts, policy and connection (05 §5.2.1). */
export type Target = {
  readonly url: URL;
  /** Lower case, ASCII, without a final dot or brackets. */
  readonly host: string;
  readonly port: number;
};

export type EgressDeps = {
  /** Config `web-private-hosts`: `host` or `host:port`. */
  readonly privateHosts: readonly string[];
  /** Ports on which this product listens: they stay refused even where a private host is listed. */
  readonly ownPorts: () => readonly number[];
  /** Public addresses of this machine are among them, too; those of its interfaces unless given. */
  readonly ownAddresses?: () => readonly string[];
  readonly lookup: (host: string) => Promise<readonly LookupAddress[]>;
  /** How the operator can permit it, as the end of the refusal. */
  readonly mend?: string;
};

/** Which addresses an outgoing call may reach (05 §5.3). No policy widens it. */
export type Egress = {
  /** What the text alone says: literal addresses and names. Asks no server, so a denied call tells nobody its name. */
  nameFault(target: Target): ToolFailure | null;
  /** Resolves once; every address must be permitted, and the connection goes to one of these. */
  resolve(target: Target): Promise<readonly LookupAddress[] | ToolFailure>;
};

const maxUrlBytes = 8192;

/** Numeric spellings of addresses, case and international names are settled by the one parser. */
export function parseTarget(text: string): Target | string {
  if (Buffer.byteLength(text) > maxUrlBytes) return `must be at most ${maxUrlBytes} bytes long`;
  const url = parseUrl(text);
  if (url === null) return 'must be an absolute URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  // With an empty label it is no name. What is left when more than the root dot is taken away was judged by no rule.
  if (/^\.|\.\./.test(url.hostname)) return 'must name a host and a port';
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (host === '' || port < 1) return 'must name a host and a port';
  return { url, host, port };
}

export function createEgress(deps: EgressDeps): Egress {
  const blocked = (target: Target, reason: string): ToolFailure =>
    refusal(target, reason, neverReached.has(reason) ? 'nothing permits it' : deps.mend);
  let list: BlockList | null = null;
  const isPublic = (address: string): boolean => {
    list ??= blockedRanges();
    return !isBlocked(list, address);
  };

  const isOwn = (address: string): boolean => {
    const own = (deps.ownAddresses ?? interfaceAddresses)();
    return own.includes(address) || own.includes(embedded(address) ?? address);
  };

  const isListed = ({ host, port }: Target): boolean =>
    deps.privateHosts.some((entry) => {
      const wanted = entry.trim().toLowerCase();
      return (
        wanted === host || wanted === `${host}:${port}` || wanted === `[${host}]` || wanted === `[${host}]:${port}`
      );
    });

  /** @returns why the address is not reached, or null. */
  const addressReason = (target: Target, address: string): string | null => {
    const isOpen = isPublic(address);
    if (!isOpen && isLinkLocal(address)) return linkLocal;
    if (deps.ownPorts().includes(target.port) && (!isOpen || isOwn(address))) return ownListener;
    return isOpen || isListed(target) ? null : 'its address is not public';
  };

  return {
    nameFault(target) {
      const reason =
        isIP(target.host) !== 0
          ? addressReason(target, target.host)
          : isLocalName(target.host) && !isListed(target)
            ? 'the name is local'
            : null;
      return reason === null ? null : blocked(target, reason);
    },
    async resolve(target) {
      const family = isIP(target.host);
      if (family !== 0) return [{ address: target.host, family }];
      const addresses = await deps.lookup(target.host);
      for (const { address } of addresses) {
        const reason = addressReason(target, address);
        if (reason !== null) return blocked(target, reason);
      }
      return addresses;
    },
  };
}

const linkLocal = 'its address is link-local';
const ownListener = 'this program listens there';
/** No list of the operator helps: it must not be advised. */
const neverReached: ReadonlySet<string> = new Set([linkLocal, ownListener]);

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));

const refusal = (
  { host }: Target,
  reason: string,
  mend = 'the operator may list it in web-private-hosts',
): ToolFailure =>
  fail('egress_blocked', `"${host.slice(0, 200)}" is not reached: ${reason}. No approval widens this; ${mend}.`);

function isLocalName(host: string): boolean {
  if (!host.includes('.')) return true;
  return ['localhost', 'local', 'internal', 'home.arpa'].some(
    (suffix) => host === suffix || host.endsWith(`.${suffix}`),
  );
}

/** Addresses that lead to this machine, a private network or nowhere (05 §5.3.2). */
const blocked4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
const blocked6 =
  '::/128 ::1/128 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 64:ff9b:1::/48';

function blockedRanges(): BlockList {
  const list = new BlockList();
  for (const [ranges, family] of [
    [blocked4, 'ipv4'],
    [blocked6, 'ipv6'],
  ] as const) {
    for (const range of ranges.split(' ')) {
      const [network = '', bits] = range.split('/');
      list.addSubnet(network, Number(bits), family);
    }
  }
  return list;
}

function isBlocked(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  if (family === 0) return true;
  if (family === 4) return list.check(plain, 'ipv4');
  if (list.check(plain, 'ipv6')) return true;
  const inner = embedded(plain);
  return inner !== null && list.check(inner, 'ipv4');
}

/** In any family, and as one inside the other. False for a name. */
export function isLinkLocal(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  const inner = family === 6 ? embedded(plain) : family === 4 ? plain : null;
  const groups = groupsOf(plain);
  return inner?.startsWith('169.254.') === true || (groups !== null && ((groups[0] ?? 0) & 0xffc0) === 0xfe80);
}

/**
 * The IPv4 address inside `::ffff:0:0/96`, `::ffff:0:0:0/96` (what translators give it), `::/96`, `64:ff9b::/96` and
 * `2002::/16`, which is judged as such.
 */
function embedded(address: string): string | null {
  const groups = groupsOf(address);
  if (groups === null) return null;
  const [a, b, c, d, e, f] = groups;
  const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  if (a === 0x2002) return dotted(b, c);
  const zeros = b === 0 && c === 0 && d === 0;
  const mapped = (e === 0 && (f === 0 || f === 0xffff)) || (e === 0xffff && f === 0);
  if (a === 0 && zeros && mapped) return dotted(groups[6], groups[7]);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return dotted(groups[6], groups[7]);
  return null;
}

/** The eight groups of an IPv6 address, or null. */
function groupsOf(address: string): readonly number[] | null {
  if (isIP(address) !== 6) return null;
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const hex = (high: unknown, low: unknown): string => (Number(high) * 256 + Number(low)).toString(16);
    return `${hex(a, b)}:${hex(c, d)}`;
  });
  const [head = '', tail] = text.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}
