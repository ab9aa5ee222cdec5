import { parseUrl } from '../text/parse-url.ts';

/** The `host` operator (02 §7.4): which host a URL reaches, and whether a list covers it. */

export type HostEntry = { readonly kind: 'name' | 'subdomains' | 'address'; readonly host: string };

/** The host of a URL value. `explicit` is false when the value states no scheme: then it satisfies no `allow`. */
export type UrlHost = { readonly host: string; readonly address: boolean; readonly explicit: boolean };

/** Parses a comma list; the message says which entry breaks the grammar. Never throws. */
export function parseHosts(
  operand: string,
): { ok: true; entries: readonly HostEntry[] } | { ok: false; message: string } {
  const entries: HostEntry[] = [];
  for (const text of operand.split(',')) {
    const entry = parseEntry(text);
    if (entry === null) {
      return { ok: false, message: `${JSON.stringify(text.slice(0, 80))} is not a host name, *.name or an address` };
    }
    entries.push(entry);
  }
  return { ok: true, entries };
}

function parseEntry(text: string): HostEntry | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (/^[0-9A-Fa-f:.]+$/.test(bare) && bare.includes(':')) {
    const six = normalise(`[${bare}]`);
    return six === null ? null : { kind: 'address', host: six.host };
  }
  const star = text.startsWith('*.');
  const name = star ? text.slice(2) : text;
  if (name === '' || /[\s\p{C}*:/\\?#@%[\]<>^|"`{}]/u.test(name)) return null;
  const found = normalise(name);
  if (found === null || (star && found.address)) return null;
  // `.example.com` would cover nothing: a rule that denies it would be dead.
  if (/^\.|\.\.|\.$/.test(found.host)) return null;
  return { kind: found.address ? 'address' : star ? 'subdomains' : 'name', host: found.host };
}

/**
 * The hosts that a value may stand for: as the URL parser reads it, and without `//` also read as `http://` + value.
 * Empty when there is none.
 */
export function hostsOf(value: string): readonly UrlHost[] {
  const explicit = /^[\0- ]*[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(value);
  const texts = value.includes('//') ? [value] : [value, `http://${value}`];
  return texts.flatMap((text) => {
    const host = parseUrl(text)?.hostname ?? '';
    const found = host === '' ? null : normalise(host);
    return found === null ? [] : [{ ...found, explicit }];
  });
}

export const covers = (entry: HostEntry, { host, address }: UrlHost): boolean =>
  entry.kind === 'address' || address
    ? entry.kind === 'address' && entry.host === host
    : (entry.kind === 'name' && entry.host === host) || host.endsWith(`.${entry.host}`);

/** Lower case, percent-decoding, IDNA, address spellings, root dot and brackets, by the URL parser; null = no host. */
function normalise(host: string): { readonly host: string; readonly address: boolean } | null {
  const name = parseUrl(`http://${host}/`)?.hostname;
  if (name === undefined) return null;
  if (name.startsWith('[')) return { host: mappedAddress(name.slice(1, -1)), address: true };
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  return bare === '' ? null : { host: bare, address: /^\d+\.\d+\.\d+\.\d+$/.test(bare) };
}

/** An IPv4-mapped address in dotted form; any other as it is. */
function mappedAddress(six: string): string {
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(six);
  if (mapped === null) return six;
  const [high, low] = [mapped[1], mapped[2]].map((part) => Number.parseInt(part ?? '0', 16));
  if (high === undefined || low === undefined) return six;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
