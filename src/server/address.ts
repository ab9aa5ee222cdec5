import { isIP } from 'node:net';

/** An address to listen on, as it is bound and as it was judged. */
export type Address = {
  /** Canonical. */
  readonly address: string;
  readonly family: 4 | 6;
  readonly loopback: boolean;
  /** Every address of the machine. */
  readonly wildcard: boolean;
};

/**
 * Reads what a person wrote as an address (09 §1.2): literals only, in any spelling that a resolver would take for one.
 * Null for a name.
 */
export function parseAddress(text: string): Address | null {
  if (text === '' || text === '*') return judged('0.0.0.0', 4);
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (isIP(bare) === 6 && !bare.includes('%')) return ofSix(bare);
  if (isIP(bare) === 4) return judged(bare, 4);
  const number = oldSpelling(bare);
  return number === null ? null : judged(dotted(number), 4);
}

function ofSix(text: string): Address {
  // The URL parser writes an IPv6 address in its one short form.
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return judged(canonical, 6);
  const four = dotted(Number.parseInt(mapped[1] ?? '', 16) * 65_536 + Number.parseInt(mapped[2] ?? '', 16));
  // It names an address of the other family, and a socket of IPv6 alone cannot be bound to it.
  return judged(four, 4);
}

const judged = (address: string, family: 4 | 6): Address => ({
  address,
  family,
  loopback: family === 4 ? address.startsWith('127.') : address === '::1',
  wildcard: address === '0.0.0.0' || address === '::',
});

const dotted = (number: number): string => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');

/** Short, decimal, octal and hexadecimal IPv4 as `inet_aton` reads it; null for anything else. */
function oldSpelling(text: string): number | null {
  const parts = text.split('.');
  if (parts.length > 4) return null;
  const numbers = parts.map((part) => {
    if (/^0[xX][0-9a-fA-F]+$/.test(part)) return Number.parseInt(part.slice(2), 16);
    if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8);
    return /^[1-9][0-9]*$/.test(part) ? Number(part) : Number.NaN;
  });
  const last = numbers.pop() ?? Number.NaN;
  if (!numbers.every((value) => value <= 255)) return null;
  if (!(last < 256 ** (4 - numbers.length))) return null;
  return numbers.reduce((sum, value, index) => sum + value * 256 ** (3 - index), last);
}
