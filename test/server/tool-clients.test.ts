import { execFile } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { createToolClients } from '../../src/server/tool-clients.ts';
import { ownAddress } from '../support/own-address.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';
import { type ServerWorld, startServer } from './world.ts';

let app: ScriptedApp | undefined;
let world: ServerWorld | undefined;
afterEach(async () => {
  await world?.close();
  await app?.close();
});

const places = ['127.0.0.1', ...(ownAddress === undefined ? [] : [ownAddress])];

it.each(places)('serves nothing to what a tool call has started, and writes the attempt down (over %s)', async (at) => {
  // The command knows the credential: what it may do is not a matter of secrets.
  const command = 'sleep 0.5; curl -s -H @head $(cat url)/api/version; curl -s -d "{}" $(cat url)/api/health';
  app = await scriptedApp({
    turns: [calls([call('local_shell.local_shell', { command })], { role: 'user' }), says('done', { role: 'tool' })],
  });
  const ground = await app.ground();
  const address = { address: at, family: 4, loopback: at === '127.0.0.1', wildcard: false } as const;
  world = await startServer({ ground, bind: { address, port: 0, alsoSix: false, publicOrigins: [], warnings: [] } });
  const { writeFileSync } = await import('node:fs');
  const head = `Authorization: Bearer ${ground.token.ensure().trim()}\n`;
  writeFileSync(`${app.place.workspace}/head`, head);
  writeFileSync(`${app.place.workspace}/url`, world.url);
  await app.run();
  const [{ result }] = app.rows('SELECT result FROM tool_calls') as [{ result: string }];
  expect(result).toContain('not_allowed');
  expect(result).not.toContain('instance_id');
  const headers = { authorization: head.trim().replace('Authorization: ', '') };
  expect((await fetch(`${world.url}/api/version`, { headers })).status).toBe(200);
  const [attempt] = app.rows("SELECT body FROM audit WHERE type = 'self_approval_attempt'");
  expect(JSON.parse(String(attempt?.['body']))).toMatchObject({ command: 'beam request', by: 'connection' });
});

it('does nothing for what another program’s tool or a tool server has started, while no call of its own runs', async () => {
  app = await scriptedApp({ turns: [] });
  const ground = await app.ground();
  const address = { address: '127.0.0.1', family: 4, loopback: true, wildcard: false } as const;
  world = await startServer({ ground, bind: { address, port: 0, alsoSix: false, publicOrigins: [], warnings: [] } });
  const head = `Authorization: Bearer ${ground.token.ensure().trim()}`;
  const post = async (environment: Readonly<Record<string, string>>, command: string): Promise<string> => {
    const run = promisify(execFile)('/bin/sh', ['-c', command], {
      env: { PATH: process.env['PATH'], HEAD: head, URL: world?.url, ...environment },
    });
    return (await run).stdout;
  };
  const change = 'curl -s -X POST -H "$HEAD" "$URL/api/logout"';
  expect(await post({ REINS_RUN_ID: 'mcp:files' }, change)).toContain('not_allowed');
  // One that takes the marker out of its environment is known by who has started it.
  expect(await post({ REINS_RUN_ID: 'run_elsewhere' }, `env -u REINS_RUN_ID ${change}; true`)).toContain('not_allowed');
  expect(await post({}, change)).not.toContain('not_allowed');
  // It closes before anybody can look whose connection it was.
  const { hostname, port } = new URL(world.url);
  const text = `POST /api/stop-nothing HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${head}\r\nContent-Length: 0\r\n\r\n`;
  const seen: boolean[] = [];
  const { comesFromTool } = ground;
  ground.comesFromTool = (...given) => {
    seen.push(comesFromTool(...given));
    return seen.at(-1) === true;
  };
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.end(text).destroy());
    socket.on('close', () => resolve());
  });
  await vi.waitFor(() => expect(seen).toEqual([true]), 20_000);
  const attempts = app.rows("SELECT run_id, body FROM audit WHERE type = 'self_approval_attempt' ORDER BY seq");
  expect(attempts.map(({ run_id }) => run_id)).toEqual(['mcp:files', 'run_elsewhere']);
  expect(JSON.parse(String(attempts[0]?.['body']))).toEqual({ command: 'beam request', by: 'connection' });
});

it('believes a no for a second and not for the first change, and a yes for good', () => {
  let now = 0;
  let isTool = false;
  const asked: boolean[] = [];
  const comesFromTool = (_ports: unknown, changes: boolean) => {
    asked.push(changes);
    return isTool;
  };
  const isToolClient = createToolClients({ comesFromTool }, () => now);
  const socket = new Socket();
  // Only what is read of a request is there.
  const request = (method: string) => isToolClient({ socket, method } as IncomingMessage);
  expect([request('GET'), request('GET'), request('POST'), request('GET'), request('POST')]).toEqual(
    Array<boolean>(5).fill(false),
  );
  expect(asked).toEqual([false, true]);
  now = 1000;
  isTool = true;
  expect(request('GET')).toBe(true);
  isTool = false;
  now = 5000;
  expect([request('GET'), request('POST')]).toEqual([true, true]);
  expect(asked).toEqual([false, true, false]);
});
