import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFrames, type Frames, frame } from '../../src/server/frames.ts';

const large = frame('message', 1, JSON.stringify('x'.repeat(64 * 1024)));
const never = 3_600_000;

let frames: Frames;
let response: ServerResponse;
let client: Socket;
const server: Server = createServer((_request, given) => {
  response = given;
  frames = createFrames(given, never, 50);
});
beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  // Nobody reads what comes.
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(server, 'request');
});
afterEach(() => {
  client.destroy();
  server.close();
  server.closeAllConnections();
});

it('ends a stream that nobody reads, keeps no more of it than is said, and lets go of its connection', async () => {
  const closed = once(response, 'close');
  // What the system takes for the client is not kept here: turn after turn, until it takes no more.
  while (frames.send(large)) await setImmediate();
  expect(frames.isOpen()).toBe(false);
  expect(response.writableLength).toBeLessThan(2 * 1024 * 1024);
  expect(response.writableFinished).toBe(false);
  await closed;
});
