import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendFileSync, chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explorer } from '../plans/support.ts';
import { addScript, createProject, tester, type World, writingTurns } from './world.ts';

let world: World;
let server: Server | null = null;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
  world.remove();
});

async function serve(answer: RequestListener): Promise<string> {
  const made = createServer(answer);
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}
const first = (text: string): string | undefined => text.split('\n')[0];

test('--first-byte-timeout ends the wait for a silent server, and has its bounds', async () => {
  const url = await serve((request, response) => {
    if (request.method === 'GET') response.end('{"data":[{"id":"m1"}]}');
  });
  const add = (time: string) =>
    world.run(['backend', 'add', 'mute', '--type', 'vllm', '--url', url, '--first-byte-timeout', time]);
  for (const time of ['900ms', '3601s']) {
    const refused = await add(time);
    expect([refused.code, first(refused.stderr)]).toEqual([
      2,
      'reins: --first-byte-timeout takes a time from 1s to 3600s.',
    ]);
  }
  expect((await add('1s')).code).toBe(0);
  expect(JSON.parse((await world.run(['backend', 'show', 'mute', '--json'])).stdout).timeouts).toEqual({
    connect: null,
    firstByte: 1000,
    idle: null,
  });
  // One attempt: without a policy of retries.
  const text = JSON.stringify({ id: 'say', tasks: [{ id: 'say', handler: 'prompt_to_string' }] });
  const sha256 = createHash('sha256').update(text).digest('hex');
  const chain = ['--chain', world.write('say.json', text), '--trust', sha256];
  const run = await world.run(['run', '--provider', 'vllm', '--model', 'm1', ...chain, 'hi']);
  expect(run.stderr).toContain('first byte');
  expect(run.code).toBe(7);
});

test('model add --pull declares a model and downloads it', async () => {
  let pulled = '';
  const url = await serve((request, response) => {
    if (request.url !== '/api/pull') return response.end('{"models":[]}');
    request.on('data', (piece) => {
      pulled += String(piece);
    });
    request.on('end', () => {
      response.write('{"status":"pulling a","digest":"a","total":2000000,"completed":0}\n');
      response.end('{"status":"pulling a","digest":"a","total":2000000,"completed":2000000}\n{"status":"success"}\n');
    });
  });
  await world.run(['backend', 'add', 'local', '--type', 'ollama', '--url', url]);
  const added = await world.run(['model', 'add', 'tiny:1b', '--backend', 'local', '--context', '4k', '--pull']);
  expect([added.code, added.stdout]).toEqual([0, 'Declared model "tiny:1b".\nPulled tiny:1b (2.0 MB).\n']);
  expect(JSON.parse(pulled)).toEqual({ model: 'tiny:1b', stream: true });
  expect((await world.run(['model', 'list'])).stdout).toMatch(/^local +tiny:1b .* 4000$/m);
});

test('a list of models is kept for its time and its address, and --refresh asks anew', async () => {
  let asked = 0;
  const url = await serve((_request, response) => {
    asked += 1;
    response.end(`{"data":[{"id":"m${asked}"}]}`);
  });
  await world.run(['backend', 'add', 'v', '--type', 'vllm', '--url', url]);
  const names = async (...more: readonly string[]) =>
    (await world.run(['model', 'list', ...more])).stdout.match(/\bm\d\b/g);
  const known = await names();
  expect(await names()).toEqual(known);
  const refreshed = await names('--refresh');
  expect(refreshed).not.toEqual(known);
  expect(await names()).toEqual(refreshed);
  await world.run(['backend', 'update', 'v', '--url', `${url}/other`]);
  expect(await names()).not.toEqual(refreshed);
});

test('approvals list --kind shows asks of one kind', async () => {
  await addScript(world, writingTurns);
  expect((await world.run(['run', ...tester, '--on-ask', 'suspend', 'go'])).code).toBe(4);
  const listed = async (kind: string) =>
    JSON.parse((await world.run(['approvals', 'list', '--kind', kind, '--json'])).stdout);
  expect(await listed('permission')).toMatchObject({ total: 1, asks: [{ kind: 'permission', tool: 'write_file' }] });
  expect(await listed('question')).toEqual({ total: 0, asks: [] });
  const wrong = await world.run(['approvals', 'list', '--kind', 'bogus']);
  expect([wrong.code, first(wrong.stderr)]).toEqual([
    2,
    'reins: --kind: "bogus" is not one of permission, question, budget, unknown_outcome',
  ]);
});

test('plan new --explore looks at the project, and the planner reads what was found', async () => {
  await addScript(world, [
    { match: explorer, reply: { text: '{"schema_version":1,"repo_root":".","test_commands":["make check"]}' } },
    { match: { system: 'make check' }, reply: { text: '["run make check"]' } },
    { reply: { text: '["found nothing"]' } },
  ]);
  const plan = ['plan', 'new', ...tester];
  expect((await world.run([...plan, '--explore', 'test it'])).stdout).toMatch(/^1\. \[ \] run make check$/m);
  expect((await world.run([...plan, 'test it again'])).stdout).toMatch(/^1\. \[ \] found nothing$/m);
});

describe('mcp', () => {
  test('--oauth-client-id and the name of the variable of its secret are kept, and --logout says that nobody was signed in', async () => {
    const add = (name: string) => [
      ...['mcp', 'add', 'docs', 'https://127.0.0.1:9/mcp', '--no-probe'],
      ...['--oauth-client-id', 'my-id', '--oauth-client-secret-env', name],
    ];
    const wrong = await world.run(add('s3cret value'));
    expect([wrong.code, first(wrong.stderr)]).toEqual([
      2,
      'reins: --oauth-client-secret-env takes the name of a variable, not the secret',
    ]);
    expect((await world.run(add('DOCS_SECRET'))).code).toBe(0);
    expect(JSON.parse((await world.run(['mcp', 'show', 'docs', '--json'])).stdout)).toMatchObject({
      auth_type: 'oauth',
      oauth_client_id: 'my-id',
      oauth_client_secret_env: 'DOCS_SECRET',
      signed_in: false,
    });
    const auth = await world.run(['mcp', 'auth', 'docs', '--no-browser']);
    expect([auth.code, first(auth.stderr)]).toEqual([
      2,
      "reins: the variable DOCS_SECRET with the client's secret is not set",
    ]);
    expect(await world.run(['mcp', 'auth', 'docs', '--logout'])).toMatchObject({
      code: 0,
      stdout: 'Nobody was signed in to "docs".\n',
    });
  });

  test('--pin-command does not start a program that was exchanged, and is for programs', async () => {
    const program = world.write('server.sh', '#!/bin/sh\ntouch "$(dirname "$0")/started"\n');
    chmodSync(program, 0o755);
    const add = ['mcp', 'add', 'own', '--transport', 'stdio', '--command', program, '--pin-command', '--no-probe'];
    expect((await world.run(add)).code).toBe(0);
    appendFileSync(program, '# changed\n');
    const refused = await world.run(['mcp', 'test', 'own']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('its program is another one than when it was registered');
    expect(existsSync(join(world.workspace, 'started'))).toBe(false);
    const remote = await world.run(['mcp', 'add', 'far', 'https://127.0.0.1:9/mcp', '--pin-command', '--no-probe']);
    expect([remote.code, first(remote.stderr)]).toEqual([2, 'reins: --cwd and --pin-command are for stdio servers']);
  });
});
