import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/server/address.ts';
import { planBind, type Wanted } from '../../src/server/bind.ts';
import { localHost, runningAt } from '../../src/server/running.ts';

const wanted: Wanted = {
  host: '127.0.0.1',
  port: 1,
  allowRemote: false,
  publicOrigins: [],
  tls: false,
  passwordSet: false,
};
const findings = (over: Partial<Wanted>): readonly string[] | string => {
  try {
    return planBind({ ...wanted, ...over }).address.address;
  } catch (error) {
    const { data, message } = error as { data?: { findings: readonly { message: string }[] }; message: string };
    return data?.findings.map((finding) => finding.message) ?? message;
  }
};

describe('an address', () => {
  it('is judged as what it means, in whatever spelling', () => {
    const read = (text: string) => {
      const found = parseAddress(text);
      return found === null
        ? null
        : `${found.address}${found.loopback ? ' loopback' : ''}${found.wildcard ? ' all' : ''}`;
    };
    expect(['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.9.9.9'].map(read)).toEqual([
      '127.0.0.1 loopback',
      '127.0.0.1 loopback',
      '127.0.0.1 loopback',
      '127.0.0.1 loopback',
      '127.0.0.1 loopback',
      '127.9.9.9 loopback',
    ]);
    expect(['', '*', '0.0.0.0', '0', '0x0', '::', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0', '[::]'].map(read)).toEqual([
      '0.0.0.0 all',
      '0.0.0.0 all',
      '0.0.0.0 all',
      '0.0.0.0 all',
      '0.0.0.0 all',
      ':: all',
      ':: all',
      '0.0.0.0 all',
      ':: all',
    ]);
    expect(['::1', '0:0::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '192.168.1.5', '10.1'].map(read)).toEqual([
      '::1 loopback',
      '::1 loopback',
      '127.0.0.1 loopback',
      '10.0.0.1',
      '192.168.1.5',
      '10.0.0.1',
    ]);
    expect(
      [
        'example.org',
        'localhost.evil.test',
        '256.1.1.1',
        '1.2.3.4.5',
        '08.1.1.1',
        '0x',
        'fe80::1%eth0',
        '4294967296',
      ].map(read),
    ).toEqual(Array(8).fill(null));
  });

  it('HTTP-006: beyond this machine needs permission, a password and an origin, and each that is missing is named', () => {
    const all = [
      'it was not permitted: --allow-remote',
      'no password is set: reins beam set-password',
      'nobody has said under which origin it is reached: --public-origin <origin>',
    ];
    for (const host of ['0.0.0.0', '::', '*', '', '0x0', '::ffff:0.0.0.0', '192.168.1.5'])
      expect([host, findings({ host })]).toEqual([host, all]);
    expect(findings({ host: '::', allowRemote: true, passwordSet: true })).toEqual(all.slice(2));
    const open = { host: '0.0.0.0', allowRemote: true, passwordSet: true, publicOrigins: ['http://reins.lan:8787'] };
    expect(planBind({ ...wanted, ...open }).warnings).toHaveLength(1);
    expect(planBind({ ...wanted, ...open, publicOrigins: ['https://reins.example.org'] }).warnings).toEqual([]);
    expect(planBind({ ...wanted, ...open, tls: true }).warnings).toEqual([]);
  });

  it('is never a name that would be looked up, and an origin is never a pattern', () => {
    expect(findings({ host: 'localhost' })).toBe('127.0.0.1');
    expect(findings({ host: 'example.org' })).toMatch(/is not an IP address/);
    for (const origin of [
      'null',
      '*',
      'https://*.example.org',
      'https://a.example/path',
      'ftp://a.example',
      'https://a.example/',
      'https://user@a.example',
    ]) {
      expect([origin, findings({ publicOrigins: [origin] })]).toEqual([
        origin,
        expect.stringMatching(/is not an origin/),
      ]);
    }
  });
});

it('finds a server of this user behind its certificate, and every address of the machine by its own', async () => {
  const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
  const server = createServer({ cert: pem('self-signed-cert'), key: pem('self-signed-key') }, (_request, response) =>
    response.end('{"status":"ok"}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port of the network.
  const { port } = server.address() as AddressInfo;
  expect(await runningAt('127.0.0.1', port)).toBe('https');
  await new Promise((resolve) => server.close(resolve));
  expect(await runningAt('127.0.0.1', port)).toBe(null);
  const hosts = ['0.0.0.0', '::', '*', '127.0.0.2'].map((text) => {
    const address = parseAddress(text);
    return address === null ? null : localHost(address);
  });
  expect(hosts).toEqual(['127.0.0.1', '::1', '127.0.0.1', '127.0.0.2']);
});
