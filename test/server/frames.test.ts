import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFrames, type Frames, frame } from '../../src/server/frames.ts';

const large = frame('message', 1, JSON.stringify('x'.repeat(64 * 1024)));
const never = 3_600_000;
let drainMs = 50;

let frames: Frames;
let response: ServerResponse;
let client: Socket;
const server: Server = createServer((_request, given) => {
  response = given;
  frames = createFrames(given, never, drainMs);
});
beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  drainMs = 50;
  await begin();
});
async function begin(): Promise<void> {
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  // Nobody reads what comes.
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(server, 'request');
}
afterEach(() => {
  client.destroy();
  server.close();
  server.closeAllConnections();
});

it('ends the stream of who takes nothing of what can be sent later, and waits for who reads', async () => {
  const { signal } = new AbortController();
  let sent = 0;
  // More than the system takes for the client and is kept for one that is slow; so much is never kept here.
  const send = async () => {
    for (; sent < 200 && (await frames.room(signal)); sent += 1) {
      expect(frames.send(large)).toBe(true);
      expect(response.writableLength).toBeLessThan(1.5 * 1024 * 1024);
    }
  };
  await send();
  expect(sent).toBeLessThan(200);
  expect(frames.isOpen()).toBe(false);
  client.destroy();
  drainMs = 30_000;
  await begin();
  client.resume();
  sent = 0;
  await send();
  expect(sent).toBe(200);
  expect(frames.isOpen()).toBe(true);
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
