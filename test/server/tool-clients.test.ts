import { afterEach, expect, it } from 'vitest';
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
