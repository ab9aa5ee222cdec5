import { expect, it } from 'vitest';
import { isLoopbackHost } from '../../src/text/loopback.ts';

it.each(['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]', '[::ffff:7f00:1]'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

it.each(['localhost.example.com', '127.example.com', '128.0.0.1', 'x127.0.0.1', '[::2]', '10.0.0.1'])(
  '%s is another one',
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);
