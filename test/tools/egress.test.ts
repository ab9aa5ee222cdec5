import { describe, expect, it } from 'vitest';
import { createEgress, parseTarget, type Target } from '../../src/tools/egress.ts';

const target = (url: string): Target => {
  const parsed = parseTarget(url);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};
const egressOf = (
  addresses: readonly string[] = [],
  privateHosts: readonly string[] = [],
  ownPorts: readonly number[] = [],
  ownAddresses: readonly string[] = [],
) =>
  createEgress({
    privateHosts,
    ownPorts: () => ownPorts,
    ownAddresses: () => ownAddresses,
    lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
const verdict = async (egress: ReturnType<typeof egressOf>, url: string) => {
  const fault = egress.nameFault(target(url));
  if (fault !== null) return fault.error;
  const resolved = await egress.resolve(target(url));
  return 'ok' in resolved ? resolved.error : resolved.map(({ address }) => address);
};

describe('parseTarget', () => {
  it.each([
    ['HTTP://Example.COM./a?b#c', 'http://example.com/a?b#c', 'example.com', 80],
    ['https://bücher.example:8443/', 'https://xn--bcher-kva.example:8443/', 'xn--bcher-kva.example', 8443],
    ['http://2130706433/', 'http://127.0.0.1/', '127.0.0.1', 80],
    ['http://0x7f.1/', 'http://127.0.0.1/', '127.0.0.1', 80],
    ['http://[::1]:8080/', 'http://[::1]:8080/', '::1', 8080],
  ])('reads %s', (text, href, host, port) => {
    const parsed = target(text);
    expect([parsed.url.href, parsed.host, parsed.port]).toEqual([href, host, port]);
  });

  it.each([
    ['ftp://example.com/', 'must begin with http:// or https://'],
    ['http://user@example.com/', 'must not hold a user name or password'],
    ['http://example.com:0/', 'must name a host and a port'],
    ['http://example.com../', 'must name a host and a port'],
    ['http://example.com%2e%2E/', 'must name a host and a port'],
    ['http://127.0.0.1../', 'must name a host and a port'],
    ['http://a..example.com/', 'must name a host and a port'],
    ['/path', 'must be an absolute URL'],
    [`http://example.com/${'a'.repeat(8192)}`, 'must be at most 8192 bytes long'],
  ])('refuses %s', (text, reason) => {
    expect(parseTarget(text)).toBe(reason);
  });
});

describe('what an outgoing call may reach', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::1]/',
    'http://[::10.0.0.1]/',
    'http://[::ffff:0:10.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:c0a8:1::]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[3fff::1]/',
    'http://[5f00::1]/',
    'http://169.254.169.254/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://localhost/',
    'http://localhost./',
    'http://a.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://intranet/',
  ])('is not %s, and no name is looked up for it', async (url) => {
    expect(egressOf(['8.8.8.8']).nameFault(target(url))).toMatchObject({ error: 'egress_blocked' });
  });

  it.each(['http://8.8.8.8/', 'http://[2606:4700::1111]/', 'http://172.32.0.1/', 'http://[::ffff:8.8.8.8]/'])(
    'may be %s',
    (url) => {
      expect(egressOf().nameFault(target(url))).toBeNull();
    },
  );

  it('is a name only if every one of its addresses is public', async () => {
    expect(await verdict(egressOf(['8.8.8.8', '1.1.1.1']), 'http://example.com/')).toEqual(['8.8.8.8', '1.1.1.1']);
    expect(await verdict(egressOf(['8.8.8.8', '10.0.0.1']), 'http://example.com/')).toBe('egress_blocked');
    expect(await verdict(egressOf(['::ffff:127.0.0.1']), 'http://example.com/')).toBe('egress_blocked');
  });

  it('may be a listed private host, by name or address, with its port', async () => {
    const egress = egressOf(['10.0.0.1'], ['wiki.internal', '127.0.0.1:8080', '[::1]:9000']);
    expect(await verdict(egress, 'http://wiki.internal/')).toEqual(['10.0.0.1']);
    expect(await verdict(egress, 'http://127.0.0.1:8080/')).toEqual(['127.0.0.1']);
    expect(await verdict(egress, 'http://[::1]:9000/')).toEqual(['::1']);
    expect(await verdict(egress, 'http://127.0.0.1:8081/')).toBe('egress_blocked');
    expect(await verdict(egress, 'http://other.internal/')).toBe('egress_blocked');
  });

  it('is advised only where it would help', () => {
    const said = (url: string) => egressOf([], [], [80]).nameFault(target(url))?.message;
    expect(said('http://10.0.0.1:81/')).toBe(
      '"10.0.0.1" is not reached: its address is not public. No approval widens this; the operator may list it in web-private-hosts.',
    );
    expect(said('http://169.254.169.254/')).toBe(
      '"169.254.169.254" is not reached: its address is link-local. No approval widens this; nothing permits it.',
    );
    expect(said('http://127.0.0.1/')).toBe(
      '"127.0.0.1" is not reached: this program listens there. No approval widens this; nothing permits it.',
    );
  });

  it('is never link-local and never this program, even if listed', async () => {
    const egress = egressOf(['169.254.1.1'], ['wiki.internal', '169.254.169.254', '127.0.0.1'], [9123]);
    expect(await verdict(egress, 'http://wiki.internal/')).toBe('egress_blocked');
    expect(await verdict(egress, 'http://169.254.169.254/')).toBe('egress_blocked');
    expect(await verdict(egress, 'http://127.0.0.1:9123/')).toBe('egress_blocked');
    expect(await verdict(egress, 'http://127.0.0.1:9124/')).toEqual(['127.0.0.1']);
  });

  it('is not a listener of this program, also at a public address of this machine', async () => {
    const own = egressOf(['8.8.4.4'], [], [4321], ['8.8.4.4', '2a00::1']);
    expect(await verdict(own, 'http://8.8.4.4:4321/')).toBe('egress_blocked');
    expect(await verdict(own, 'http://[::ffff:8.8.4.4]:4321/')).toBe('egress_blocked');
    expect(await verdict(own, 'http://[2a00::1]:4321/')).toBe('egress_blocked');
    expect(await verdict(own, 'http://here.example:4321/')).toBe('egress_blocked');
    expect(await verdict(own, 'http://here.example:4322/')).toEqual(['8.8.4.4']);
    expect(await verdict(own, 'http://8.8.8.8:4321/')).toEqual(['8.8.8.8']);
  });
});
