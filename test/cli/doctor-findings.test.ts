import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = createWorld();
  expect((await world.run(['init', 'scripted'])).code).toBe(0);
});
afterEach(() => world.remove());

const findings = async (): Promise<readonly string[]> => {
  const { stdout } = await world.run(['doctor']);
  return [...stdout.matchAll(/^(\[.*)\n {4}Try: (.*)$/gm)].map(([, said, command]) => `${said} | ${command}`);
};

test('a default chain that asks for more than the model gives, and one with a warning, are told', async () => {
  const path = join(world.workspace, '.reins', 'default-run-chain.json');
  const chain = JSON.parse(readFileSync(path, 'utf8')) as { tasks: Record<string, unknown>[] };
  for (const task of chain.tasks) {
    if (task['handler'] === 'chat_completion') {
      task['execute_config'] = { ...(task['execute_config'] as object), max_tokens: '9000' };
    }
  }
  const branches = [{ operator: 'default', goto: 'end' }];
  chain.tasks.push({ id: 'lost', handler: 'noop', transition: { branches } });
  writeFileSync(path, JSON.stringify(chain));
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  expect((await world.run(['trust', 'add', path, '--sha256', sha256])).code).toBe(0);
  expect((await world.run(['model', 'add', 'demo', '--max-output', '1000'])).code).toBe(0);
  expect(await findings()).toEqual([
    `[warning] max_output_exceeded: The chain ${path} asks for 9000 tokens; "demo" gives at most 1000. | reins chain show ${path}`,
    `[warning] chain_warnings: The chain ${path} has a warning at /tasks/3. | reins chain vet ${path}`,
  ]);
});

test('a proxy of the web tools is told with what is not checked there, and without its password', async () => {
  expect((await world.run(['config', 'set', 'web-proxy', 'http://u:secret@proxy.example:3128'])).code).toBe(0);
  expect(await findings()).toEqual([
    '[info] web_proxy_set: The web tools go through the proxy proxy.example:3128, which finds the addresses of names itself: of private ones only those in URLs are refused. | reins config unset web-proxy',
  ]);
});

test('a run that rests is told with the list of such runs and with what goes on with one', async () => {
  expect((await world.run(['--on-ask', 'suspend', 'write a note'])).code).toBe(4);
  const [ask] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
  expect((await world.run(['approvals', 'respond', ask.id, '--deny', '--no-resume'])).code).toBe(0);
  const { stdout } = await world.run(['doctor', '--skip-probe']);
  expect(stdout).toContain(
    '1 run rests and can be continued.\n' +
      '    Try: reins state list --status suspended\n' +
      '    Then: reins state resume <run>\n',
  );
});

test('the port of the server is told where another program listens on it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  expect((await world.run(['config', 'set', 'beam-port', String(port)])).code).toBe(0);
  const told = `[info] port_in_use: Another program listens on the port ${port}, on which \`reins beam\` would. | reins beam --port 0`;
  expect(await findings()).toEqual([told]);
  await new Promise((resolve) => other.close(resolve));
  expect(await findings()).toEqual([]);
});

test('a tool server that wants a sign-in is told with what signs in, and one that is not there with what looks again', async () => {
  const cloud = createHttpServer((_request, response) => response.writeHead(401).end()).listen(0, '127.0.0.1');
  await once(cloud, 'listening');
  const url = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}/mcp`;
  expect((await world.run(['mcp', 'add', 'cloud', url, '--auth-type', 'oauth', '--no-probe'])).code).toBe(0);
  const told = '[warning] mcp_auth_required: The MCP server cloud wants you to sign in. | reins mcp auth cloud';
  expect(await findings()).toEqual([told]);
  expect((await world.run(['doctor', '--strict'])).code).toBe(1);
  cloud.closeAllConnections();
  cloud.close();
  await once(cloud, 'close');
  expect((await findings()).map((line) => line.replace(/: The.*\|/, ' |'))).toEqual([
    '[warning] mcp_unreachable | reins mcp test cloud',
  ]);
});

test('the command of a finding about models removes it, one after another, until a run can begin', async () => {
  const list = { object: 'list', data: [{ id: 'm', object: 'model' }] };
  const engine = createHttpServer((_request, response) => response.end(JSON.stringify(list))).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}/v1`;
  for (const key of ['default-model', 'default-provider']) await world.run(['config', 'unset', key]);
  expect((await world.run(['backend', 'add', 'far', '--type', 'openai-compatible', '--url', url])).code).toBe(0);
  type Issue = { readonly code: string; readonly category: string; readonly cliCommand: string };
  const issues = async (): Promise<readonly Issue[]> =>
    JSON.parse((await world.run(['doctor', '--json'])).stdout).issues.filter(({ category }: Issue) =>
      ['defaults', 'registration', 'health'].includes(category),
    );
  /** Runs the command of the first finding until there is none. @returns what was found, with what removed it */
  const mend = async (): Promise<readonly string[]> => {
    const mended: string[] = [];
    for (let found = await issues(); found[0] !== undefined && mended.length < 9; ) {
      const { code, cliCommand } = found[0];
      mended.push(`${code}: ${cliCommand}`);
      expect((await world.run(cliCommand.split(' ').slice(1))).code).toBe(0);
      found = await issues();
      expect(found.map((issue) => issue.code)).not.toContain(code);
    }
    return mended;
  };
  expect(await mend()).toEqual([
    'missing_default_model: reins config set default-model m',
    'missing_default_provider: reins config set default-provider openai-compatible',
  ]);
  await world.run(['config', 'set', 'default-model', 'gone']);
  await world.run(['model', 'add', 'm', '--context', '4k']);
  expect(await mend()).toEqual([
    'default_model_not_available: reins config set default-model m',
    'context_small: reins model set-context m --context 16k',
  ]);
  engine.closeAllConnections();
  engine.close();
});
