import { describe, expect, it } from 'vitest';
import { covers, hostsOf, parseHosts } from '../../src/policy/hosts.ts';

const covered = (list: string, url: string): boolean => {
  const parsed = parseHosts(list);
  if (!parsed.ok) throw new Error(parsed.message);
  return hostsOf(url).some((host) => parsed.entries.some((entry) => covers(entry, host)));
};

describe('a host list', () => {
  it.each([
    ['example.com', 'https://example.com/x', true],
    ['example.com', 'https://a.b.example.com:8443', true],
    ['example.com', 'https://notexample.com', false],
    ['example.com', 'https://example.com.evil.io', false],
    ['example.com', 'https://example.com@evil.test', false],
    ['*.example.com', 'https://example.com', false],
    ['*.example.com', 'https://a.example.com', true],
    ['EXAMPLE.com.', 'https://example.COM.', true],
    ['bücher.de', 'https://xn--bcher-kva.de', true],
    ['example.com', 'https://ex%61mple.com', true],
    ['example.com', 'http:/example.com', true],
    ['example.com', 'http:\\\\example.com', true],
    ['example.com', 'foo://EXAMPLE.com/', true],
    ['127.0.0.1', 'http://127.1/', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
    ['127.0.0.1', 'http://017700000001/', true],
    ['127.0.0.1', '2130706433', true],
    ['127.0.0.1', 'http://[::ffff:7f00:1]/', true],
    ['127.0.0.1', 'http://x.127.0.0.1.test/', false],
    ['0.0.0.1', 'http://127.0.0.1/', false],
    ['::1', 'http://[0:0::0:1]:80/', true],
    ['[::1]', 'http://[::1]/', true],
    ['::ffff:10.0.0.1', 'http://10.0.0.1/', true],
    ['localhost', 'localhost:8080/x', true],
  ])('%s covers %s: %s', (list, url, expected) => {
    expect(covered(list, url)).toBe(expected);
  });

  it.each([
    '',
    'a.com,',
    'a.com, b.com',
    'https://a.com',
    'a.com:443',
    'a.com/x',
    'u@a.com',
    '*',
    'a.*.com',
    '*.*.com',
    '*.127.0.0.1',
    'a b',
    ':::',
    '[x]',
    '.example.com',
    'example.com..',
    '*..example.com',
  ])('refuses %j', (list) => {
    expect(parseHosts(list)).toMatchObject({ ok: false });
  });
});

describe('hostsOf', () => {
  it('tells a stated scheme from a guessed one', () => {
    expect(hostsOf('https://a.test/')).toEqual([{ host: 'a.test', address: false, explicit: true }]);
    // The URL parser takes blanks around an address away.
    expect(hostsOf(' https://a.test/ ')).toEqual([{ host: 'a.test', address: false, explicit: true }]);
    expect(hostsOf('a.test/x')).toEqual([{ host: 'a.test', address: false, explicit: false }]);
  });

  it.each(['', 'http://', 'http://a b/', '//a.test', 'http://[::1', 'a.test//x'])('finds no host in %j', (value) => {
    expect(hostsOf(value)).toEqual([]);
  });

  it('finds the host of a Latin address in the ten thousandth call as in the first', () => {
    const first = hostsOf('https://bücher.example/');
    expect(first).toEqual([{ host: 'xn--bcher-kva.example', address: false, explicit: true }]);
    const others = new Set<string>();
    for (let asked = 0; asked < 20_000; asked += 1) others.add(JSON.stringify(hostsOf('https://bücher.example/')));
    expect([...others]).toEqual([JSON.stringify(first)]);
  });
});
