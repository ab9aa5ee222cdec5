import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCli } from '../support/run-cli.ts';
import { json, type Service, startService } from '../support/service.ts';
import { createProject, type World } from './world.ts';

let world: World;
let service: Service;
beforeEach(async () => {
  world = await createProject();
  service = await startService(document({ list: { summary: 'Lists them.' }, other: {} }));
});
afterEach(async () => {
  await service.close();
  world.remove();
});

const document = (operations: Readonly<Record<string, object>>) => ({
  openapi: '3.0.3',
  paths: {
    ...Object.fromEntries(
      Object.entries(operations).map(([name, own]) => [`/${name}`, { get: { operationId: name, ...own } }]),
    ),
    '/healthz': { get: {} },
  },
});
const hook = (...argv: readonly string[]) => world.run(['hook', ...argv]);

test('a hook is registered, shown without its values, changed and removed', async () => {
  const added = await hook(
    'add',
    'svc',
    '--url',
    `${service.url}/`,
    '--header',
    'X-A: value-of-header',
    '--inject',
    'tenant=value=of',
  );
  expect(added).toMatchObject({ code: 0, stdout: 'Registered hook "svc" (2 tools).\n' });
  expect(added.stderr).toContain('127.0.0.1 is a private address; it is reached as you named it');
  const listed = await hook('list');
  expect(listed.stdout).toMatch(/^NAME +URL +TIMEOUT +TOOLS\n/);
  expect(listed.stdout).toMatch(new RegExp(`^svc +${service.url} +10000 ms +2$`, 'm'));

  const shown = await hook('show', 'svc');
  expect(shown.stdout).toMatch(/^Headers: X-A$/m);
  expect(shown.stdout).toMatch(/^Injected: tenant$/m);
  expect(shown.stdout).toMatch(/^ {2}list\n {6}Lists them\.$/m);
  expect(shown.stdout).toMatch(/^ {2}GET \/healthz: it is a check of the service itself$/m);
  const json = await hook('show', 'svc', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    name: 'svc',
    url: service.url,
    headers: ['X-A'],
    inject: ['tenant'],
    timeout_ms: 10_000,
    allow_private: true,
    state: 'ready',
    tools: [{ tool: 'list', state: 'ready' }, { tool: 'other' }],
    drift: [],
  });
  const everything = [
    shown,
    json,
    listed,
    await hook('list', '--json'),
    await world.run(['--trace', 'doctor', '--json']),
  ];
  for (const { stdout, stderr } of everything) expect(stdout + stderr).not.toMatch(/value-of-header|value=of/);

  expect((await hook('update', 'svc', '--header', 'X-B: 2', '--timeout', '300')).stdout).toBe('Updated hook "svc".\n');
  expect(JSON.parse((await hook('show', 'svc', '--json')).stdout)).toMatchObject({
    headers: ['X-B'],
    inject: ['tenant'],
    timeout_ms: 300,
  });
  await hook('update', 'svc', '--header', '', '--inject', '');
  expect(JSON.parse((await hook('show', 'svc', '--json')).stdout)).toMatchObject({ headers: [], inject: [] });
  expect((await world.run(['__complete', 'hook', 'show', ''])).stdout).toBe('svc\n');
  expect((await hook('rm', 'svc')).stdout).toBe('Removed hook "svc".\n');
  expect(await hook('show', 'svc')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no hook named "svc".'),
  });
});

test('the built program reads a description in YAML', async () => {
  const text = 'openapi: 3.1.0\npaths:\n  /list:\n    get: { operationId: list }\n';
  writeFileSync(join(world.workspace, 'api.yaml'), text);
  const added = await hook('add', 'svc', '--url', service.url, '--spec', 'api.yaml');
  expect(added).toMatchObject({ code: 0, stdout: 'Registered hook "svc" (1 tool).\n' });
  // Nobody is asked again, and what is known stays known.
  await service.close();
  expect((await world.run(['doctor', '--skip-probe'])).stdout).toMatch(/^● svc {2}hook .*\n {4}reachable, 1 tool$/m);
});

test('a service that cannot be reached is registered all the same, and --no-probe asks nobody', async () => {
  expect((await hook('add', 'quiet', '--url', service.url, '--no-probe')).stdout).toBe('Registered hook "quiet".\n');
  expect([service.described(), service.arrived.length]).toEqual([0, 0]);
  service.describe('<html>');
  expect((await hook('add', 'page', '--url', service.url)).stdout).toMatch(
    /^Registered hook "page" \(not reachable now: the description is HTML or XML, not OpenAPI \(.*\)\)\.\n$/,
  );
  await service.close();
  const added = await hook('add', 'gone', '--url', service.url);
  expect(added).toMatchObject({ code: 0 });
  expect(added.stdout).toBe(
    'Registered hook "gone" (not reachable now: "127.0.0.1" could not be reached: ECONNREFUSED).\n',
  );
  expect(await hook('refresh', 'gone')).toMatchObject({ code: 7, stdout: '' });
  expect(JSON.parse((await hook('refresh', 'gone', '--json')).stdout)).toEqual({
    error: {
      message: 'hook "gone": "127.0.0.1" could not be reached: ECONNREFUSED.',
      code: 'hook_error',
      hint: 'reins hook show gone',
    },
    exit_code: 7,
  });
  const shown = await hook('show', 'gone');
  expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining('not reachable now:')]);
  const { stdout } = await world.run(['doctor']);
  expect(stdout).toMatch(/^\[warning\] hook_unreachable: The hook gone cannot be used: .*ECONNREFUSED\.$/m);
  expect(stdout).toMatch(/^ {4}Try: reins hook refresh gone$/m);
});

test('what is not given as it should be is refused in one line, and nothing is stored', async () => {
  symlinkSync('round', join(world.workspace, 'round'));
  for (const [argv, message] of [
    [['add', 'x'], 'hook add needs --url'],
    [['add', 'x', '--url', 'ftp://h/x'], 'must begin with http:// or https://'],
    [['add', 'x', '--url', 'http://user:pass@h.example'], 'must not hold a user name or password'],
    [['add', 'x', '--url', 'http://h.example/?a=1'], 'must not hold a query or fragment'],
    [['add', 'x', '--url', 'http://169.254.169.254'], 'its address is link-local'],
    [['add', 'x', '--url', 'http://h.example', '--header', 'nothing'], 'is not of the form "Name: value"'],
    [['add', 'x', '--url', 'http://h.example', '--header', 'Host: other'], 'The header Host cannot be set.'],
    [['add', 'x', '--url', 'http://h.example', '--inject', 'nothing'], '--inject takes key=value'],
    [['add', 'x', '--url', 'http://h.example', '--timeout', '50'], '--timeout'],
    [['add', 'x', '--url', 'http://h.example', '--spec', 'nowhere.json'], '--spec: there is no file'],
    [['add', 'x', '--url', 'http://h.example', '--spec', 'round'], 'cannot be read: too many symbolic links'],
    [['add', 'x', '--url', 'http://h.example', '--spec', '/'], '--spec: / is a directory.'],
    [['add', 'x', '--url', 'http://h.example', '--spec', 'file:///etc/passwd'], '--spec takes an http or https URL'],
    [['add', 'Web', '--url', 'http://h.example'], '"Web" is the name of a built-in tool provider.'],
  ] as const) {
    const { code, stderr } = await hook(...argv);
    expect([argv.join(' '), code]).toEqual([argv.join(' '), 2]);
    expect(stderr).toContain(message);
  }
  expect((await hook('list', '--json')).stdout).toBe('[]\n');
  await hook('add', 'svc', '--url', service.url, '--no-probe');
  const taken = await hook('add', 'svc', '--url', service.url);
  expect([taken.code, taken.stderr]).toEqual([
    2,
    `reins: a hook named "svc" exists\n  reins hook update svc --url ${service.url}\n  reins hook show svc\n`,
  ]);
  // What was meant to be a tool server is no change of a hook.
  expect(await world.run(['mcp', 'add', 'SVC', 'https://a.example/mcp', '--no-probe'])).toMatchObject({
    code: 2,
    stderr: 'reins: a hook named "svc" exists\n  reins hook show svc\n',
  });
});

test('changed definitions are accepted after a look, headless only with --yes', async () => {
  await hook('add', 'svc', '--url', service.url);
  service.describe(document({ list: { summary: 'Lists them.\u202e' }, other: {}, more: {} }));
  expect((await hook('refresh', 'svc')).stdout).toBe('Hook "svc": 3 tools, 2 to be accepted.\n');
  expect((await hook('show', 'svc')).stdout).toContain(
    'To be accepted: 2 (reins hook accept svc)\n  svc.list (changed)\n  @@',
  );
  const looked = await hook('accept', 'svc');
  expect(looked.code).toBe(2);
  expect(looked.stderr).toContain('-  "description": "Lists them.",\n+  "description": "Lists them.⟨U+202E⟩",\n');
  expect(looked.stderr).toContain('svc.more (new)\n');
  expect(await hook('accept', 'svc', '--tool', 'other', '--yes')).toMatchObject({ code: 1 });
  expect((await hook('accept', 'svc', '--tool', 'list', '--yes')).stdout).toBe('Accepted 1 tool of "svc".\n');
  expect((await hook('accept', 'svc', '--yes', '--json')).stdout).toBe('{"accepted":["more"]}\n');
  expect((await hook('accept', 'svc')).stdout).toBe('"svc": nothing waits to be accepted.\n');
});

test('a tool registers, accepts and removes nothing', async () => {
  await hook('add', 'svc', '--url', service.url, '--no-probe');
  for (const argv of [
    ['add', 'y', '--url', service.url],
    ['update', 'svc', '--timeout', '200'],
    ['refresh', 'svc'],
    ['accept', 'svc', '--yes'],
    ['remove', 'svc'],
  ]) {
    const { code } = await world.run(['hook', ...argv], { environment: { REINS_RUN_ID: 'run_0123456789' } });
    expect([argv[0], code]).toEqual([argv[0], 5]);
  }
  expect(service.described()).toBe(0);
});

test('who does not wait for the tools of a new hook is told that it is registered', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const adding = startCli(world, ['hook', 'add', 'slow', '--url', `http://127.0.0.1:${port}`]);
    await once(silent, 'request');
    adding.child.kill('SIGINT');
    const { code, stdout, stderr } = await adding.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toContain('reins: "slow" is registered; reins hook show slow asks it for its tools\n');
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
  expect((await hook('list')).stdout).toMatch(/^slow +/m);
});

test('tools with alike names and a long one have names of their own on the wire, by which the program as it is built calls them', async () => {
  const other = await startService(document({ c: {} }));
  const model = await startService();
  const long = 'x'.repeat(80);
  const named: string[][] = [];
  model.answer(({ url, body }, response) => {
    if (url.endsWith('/models')) return json(response, { data: [{ id: 'm' }] });
    const { messages, tools } = JSON.parse(body) as Asked;
    const names = tools.map((tool) => tool.function.name).filter((name) => /^a_(b_c|x)/.test(name));
    named.push(names);
    const calls = names.map((name, index) => ({ index, id: `c${index}`, function: { name, arguments: '{}' } }));
    const first = messages.at(-1)?.role === 'user';
    const choice = first
      ? { delta: { tool_calls: calls }, finish_reason: 'tool_calls' }
      : { delta: { content: 'done' }, finish_reason: 'stop' };
    response.end(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\ndata: [DONE]\n\n`);
  });
  try {
    service.describe(document({ b_c: {}, [long]: {} }));
    await hook('add', 'a', '--url', service.url);
    await hook('add', 'a_b', '--url', other.url);
    await world.run(['backend', 'add', 'm', '--type', 'openai-compatible', '--url', model.url]);
    const policy = world.write('open.json', '{"default_action":"allow","rules":[]}');
    expect(
      await world.run(['--provider', 'openai-compatible', '--model', 'm', '--policy', policy, 'go']),
    ).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
    expect(named[0]).toEqual([
      expect.stringMatching(/^a_b_c_[0-9a-f]{4}$/),
      expect.stringMatching(/^a_x{53}_[0-9a-f]{8}$/),
      expect.stringMatching(/^a_b_c_[0-9a-f]{4}$/),
    ]);
    expect(new Set(named[0]).size).toBe(3);
    expect([...service.arrived, ...other.arrived].map(({ url }) => url)).toEqual(['/b_c', `/${long}`, '/c']);
  } finally {
    await other.close();
    await model.close();
  }
});

type Asked = {
  readonly messages: readonly { readonly role: string }[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
};
