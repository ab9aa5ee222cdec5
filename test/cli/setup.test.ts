import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProject, createWorld, scripted, type World } from './world.ts';

let world: World;
afterEach(() => world.remove());

describe('init', () => {
  beforeEach(() => {
    world = createWorld();
  });
  const place = (name: string) => join(world.workspace, '.reins', name);

  test('prints one line per file, and changes nothing the second time', async () => {
    expect(await world.run(['init'])).toMatchObject({
      code: 0,
      stdout: `Created ${place('default-chain.json')}\nCreated ${place('default-run-chain.json')}\nCreated ${place('.gitignore')}\nDone: 3 created, 0 kept.\n`,
    });
    expect(statSync(place('.')).mode & 0o777).toBe(0o700);
    const before = readFileSync(place('default-chain.json'), 'utf8');
    const again = await world.run(['init']);
    expect([again.code, again.stdout.match(/^Kept /gm)?.length, again.stdout.split('\n').at(-2)]).toEqual([
      0,
      3,
      'Done: 0 created, 3 kept.',
    ]);
    expect(readFileSync(place('default-chain.json'), 'utf8')).toBe(before);
  });

  test('--force keeps the old content beside the new one', async () => {
    await world.run(['init']);
    world.write('.reins/default-chain.json', '{}');
    const forced = await world.run(['init', '--force']);
    expect(forced.stdout).toContain(`Replaced ${place('default-chain.json')}\n`);
    expect(readFileSync(place('default-chain.json.bak'), 'utf8')).toBe('{}');
  });

  test('a provider is set up, and an unknown one refused with the known ones', async () => {
    const made = await world.run(['init', 'scripted']);
    expect(made.stdout).toContain('Set default-provider = scripted\n');
    expect(made.stdout).toContain('Set default-model = demo\n');
    // No flag replaces a database, so none is offered.
    const forced = await world.run(['init', 'scripted', '--force']);
    expect(forced.stdout.split('\n')[3]).toBe(`Kept ${place('local.db')} (exists)`);
    expect((await world.run(['config', 'get', 'default-model'])).stdout).toBe('demo\n');
    // The built-in one serves the same model, and would not be asked.
    const lines = (await world.run(['doctor'])).stdout.split('\n');
    expect(lines.filter((line) => line.endsWith('[default]'))).toEqual([
      '● scripted  scripted  builtin:demo  [default]',
    ]);
    expect(lines.filter((line) => line.trim() === 'demo *')).toHaveLength(1);
    // Twice changes nothing (06 §14.5), so nothing is said or recorded to be set.
    const audit = () => world.run(['audit', 'list', '--json']);
    const before = (await audit()).stdout;
    const again = await world.run(['init', 'scripted']);
    expect([again.code, again.stdout.split('\n').slice(3)]).toEqual([
      0,
      [`Kept ${place('local.db')} (exists)`, 'Done: 0 created, 4 kept.', ''],
    ]);
    expect((await audit()).stdout).toBe(before);
    const json = JSON.parse((await world.run(['init', '--json'])).stdout);
    expect(json.files.map((file: { action: string }) => file.action)).toContain('kept');
  });
});

describe('config', () => {
  beforeEach(async () => {
    world = await createProject();
  });

  test('set, get, unset and list agree', async () => {
    expect((await world.run(['config', 'set', 'default-model', 'qwen2.5:7b'])).stdout).toBe(
      'default-model = qwen2.5:7b\n',
    );
    expect((await world.run(['config', 'get', 'default-model'])).stdout).toBe('qwen2.5:7b\n');
    expect((await world.run(['config', 'get', 'approval-ceiling'])).stdout).toBe('168h\n');
    const entries: { key: string; value: string; source: string }[] = JSON.parse(
      (await world.run(['config', 'list', '--json'])).stdout,
    );
    expect(entries.map((entry) => entry.key)).toEqual(entries.map((entry) => entry.key).sort());
    expect(entries.find((entry) => entry.key === 'default-model')).toEqual({
      key: 'default-model',
      value: 'qwen2.5:7b',
      source: 'set',
    });
    await world.run(['config', 'unset', 'default-model']);
    expect((await world.run(['config', 'unset', 'default-provider'])).stdout).toBe('default-provider is not set\n');
    expect((await world.run(['config', 'get', 'default-model', '--json'])).stdout).toContain('"source":"default"');
  });

  test.each(['30', '1.5s', '0', '8d', '169h'])('approval-ceiling refuses %s', async (value) => {
    expect(await world.run(['config', 'set', 'approval-ceiling', value])).toMatchObject({ code: 2, stdout: '' });
  });

  test('a model has a name that can be seen, whoever gives it', async () => {
    expect(await world.run(['config', 'set', 'default-model', ' '])).toMatchObject({ code: 2, stdout: '' });
    expect(await world.run(['--model', ' ', 'hi'])).toMatchObject({
      code: 2,
      stderr: 'reins: --model needs a value\n  reins help flags\n',
    });
  });
});

describe('session', () => {
  beforeEach(async () => {
    world = await createProject();
  });

  test('new, switch, list, show and delete', async () => {
    expect((await world.run(['session', 'new', 'work'])).stdout).toBe('Created session "work". Now active.\n');
    expect((await world.run(['session', 'new', 'other'])).stdout).toBe('Created session "other". Now active.\n');
    expect((await world.run(['session', 'new', 'work'])).code).toBe(2);
    expect((await world.run(['session', 'switch', 'work'])).stdout).toBe('Switched to session "work".\n');
    const chat = await world.run([...scripted, 'chat', 'hello there']);
    expect(chat.stdout).toMatch(/^\(scripted demo\) Hello\. You said: hello there\n/);
    const list = await world.run(['session', 'list']);
    expect(list.stdout).toMatch(/^\* work {3}\(2 messages\) {2}\S+\n {2}other {2}\(0 messages\) {2}\S+\n$/);
    const shown = await world.run(['session', 'show', '--tail', '1']);
    expect(shown.stdout).toMatch(
      /^Session: work \(1 of 2 messages\)\n\[\S+\] assistant: #2\n {2}\(scripted demo\) Hello/,
    );
    const json = JSON.parse((await world.run(['session', 'show', 'work', '--json'])).stdout);
    expect(json.messages.map((message: { role: string }) => message.role)).toEqual(['user', 'assistant']);
    expect((await world.run(['session', 'delete', 'work'])).stdout).toBe(
      'Deleted session "work" (2 messages). It was active; no session is active now.\n',
    );
    expect((await world.run(['session', 'show'])).code).toBe(1);
  });

  test('chat keeps the history, --trim cuts it, --last prints turns on stderr', async () => {
    await world.run(['session', 'new', 'work']);
    await world.run([...scripted, 'chat', 'hello one']);
    const second = await world.run([...scripted, 'chat', '--last', '2', '--trim', '1', 'hello two']);
    expect(second.stdout).toContain('You said: hello two');
    expect(second.stderr).toMatch(
      /^\[\d\d:\d\d:\d\d\] user:\n {2}hello one\n\[.*\] assistant:\n[\s\S]*\] user:\n {2}hello two\n\[.*\] assistant:\n/,
    );
    const json = JSON.parse((await world.run([...scripted, 'chat', '--json', '--last', '1', 'hello three'])).stdout);
    expect([json.session_name, json.turns.length, json.turns[0].user]).toEqual(['work', 1, 'hello three']);
  });

  test('--session and REINS_SESSION do not move the active pointer', async () => {
    await world.run(['session', 'new', 'a']);
    await world.run(['session', 'new', 'b']);
    await world.run([...scripted, 'chat', '--session', 'a', 'hello there']);
    await world.run([...scripted, 'chat', 'hello there'], { environment: { REINS_SESSION: 'a' } });
    const sessions: { name: string; active: boolean; message_count: number }[] = JSON.parse(
      (await world.run(['session', 'list', '--json'])).stdout,
    );
    expect(sessions.map(({ name, active, message_count }) => [name, active, message_count])).toEqual([
      ['a', false, 4],
      ['b', true, 0],
    ]);
  });

  test('an empty list is empty, with a hint; a broken pipe is no error', async () => {
    expect(await world.run(['session', 'list'])).toMatchObject({ code: 0, stdout: '' });
    expect((await world.run(['session', 'list', '--json'])).stdout).toBe('[]\n');
  });
});

describe('backend', () => {
  beforeEach(async () => {
    world = await createProject();
  });

  test('add, list, show, update and remove, with no secret anywhere', async () => {
    const secret = 'sk-very-secret-literal-value';
    const added = await world.run(['backend', 'add', 'far', '--type', 'openai', '--api-key', '-'], { stdin: secret });
    expect(added.stdout).toBe('Backend "far" added (openai → https://api.openai.com/v1).\n');
    await world.run(['backend', 'update', 'far', '--header', 'X-Team: hidden-team-value']);
    const texts = [];
    for (const argv of [
      ['backend', 'list'],
      ['backend', 'list', '--json'],
      ['backend', 'show', 'far'],
      ['doctor', '--skip-probe'],
      ['doctor', '--skip-probe', '--json'],
      ['--trace', 'backend', 'show', 'far'],
    ]) {
      const { stdout, stderr } = await world.run(argv);
      texts.push(stdout, stderr);
    }
    expect(texts.join('\n')).not.toContain('very-secret');
    expect(texts.join('\n')).not.toContain('hidden-team-value');
    expect(texts[0]).toMatch(/^NAME +TYPE +URL +KEY\n/);
    expect(texts[0]).toMatch(/^far +openai +https:\/\/api\.openai\.com\/v1 +stored$/m);
    expect(texts[0]).toMatch(/^demo \(built-in\) +scripted /m);
    const shown = JSON.parse((await world.run(['backend', 'show', 'far'])).stdout);
    expect([shown.keySource, shown.headers]).toEqual(['stored', ['X-Team']]);
    expect((await world.run(['backend', 'add', 'far', '--type', 'openai'])).code).toBe(2);
    expect((await world.run(['backend', 'rm', 'far'])).stdout).toBe('Removed backend "far".\n');
    expect((await world.run(['backend', 'show', 'far'])).code).toBe(1);
  });
});

describe('with a model server', () => {
  let server: Server;
  let url: string;
  let deleted: string[];
  beforeEach(async () => {
    world = await createProject();
    deleted = [];
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/api/delete') {
        request.on('data', (body) => deleted.push(String(body)));
        request.on('end', () => response.end('{}'));
        return;
      }
      if (request.url === '/api/tags') response.end(JSON.stringify({ models: [{ name: 'tiny:1b', size: 1_000_000 }] }));
      else if (request.url === '/api/show') {
        response.end(
          JSON.stringify({
            capabilities: ['completion', 'tools'],
            model_info: { 'general.architecture': 'x', 'x.context_length': 4096 },
          }),
        );
      } else if (request.url === '/api/pull') response.write('{"status":"pulling manifest"}\n');
      else response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await world.run(['backend', 'add', 'local', '--url', url]);
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  test('a download ends with the time that it was given', async () => {
    expect(await world.run(['model', 'pull', 'big', '--timeout', '300ms'])).toMatchObject({
      code: 124,
      stdout: '',
      stderr: expect.stringContaining(
        'the download was not done within --timeout (0.3 s); what the server has of it stays',
      ),
    });
  });

  test('backend test and model list ask it', async () => {
    expect((await world.run(['backend', 'test', 'local'])).stdout).toMatch(/^reachable; 1 chat model; \d+ ms\n$/);
    const { code, stdout } = await world.run(['model', 'list']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^BACKEND +MODEL +CHAT +TOOLS +THINK +VISION +EMBED +CTX\n/);
    expect(stdout).toMatch(/^local +tiny:1b +✓ +✓ +- +- +- +4096$/m);
  });

  test('declared models are listed, changed and removed', async () => {
    expect((await world.run(['model', 'add', 'later:3b', '--backend', 'local'])).stdout).toBe(
      'Declared model "later:3b".\n',
    );
    expect(
      (await world.run(['model', 'set-context', 'later:3b', '--backend', 'local', '--context', '32k'])).stdout,
    ).toBe('Context of later:3b = 32000.\n');
    expect((await world.run(['model', 'list'])).stdout).toContain('later:3b (declared, not available)');
    expect((await world.run(['model', 'add', 'later:3b', '--backend', 'local'])).code).toBe(2);
    expect((await world.run(['model', 'rm', 'later:3b', '--backend', 'local'])).stdout).toBe(
      'Removed model "later:3b".\n',
    );
  });

  test('prune deletes what nobody has declared, only when it may, and lists it first', async () => {
    const prune = (...more: string[]) => world.run(['model', 'prune', ...more]);
    expect(await prune()).toMatchObject({ code: 2, stdout: '' });
    expect(await prune('--delete-models')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('local  tiny:1b'),
    });
    expect(deleted).toEqual([]);
    expect((await prune('--delete-models', '--yes')).stdout).toBe('Deleted 1 model.\n');
    expect(deleted.map((body) => JSON.parse(body))).toEqual([{ model: 'tiny:1b' }]);
    await world.run(['model', 'add', 'tiny:1b', '--backend', 'local']);
    expect((await prune('--delete-models', '--yes')).stdout).toBe('Nothing to prune.\n');
    expect(deleted).toHaveLength(1);
  });

  test('doctor names what is missing and how to mend it', async () => {
    const { stdout } = await world.run(['doctor']);
    expect(stdout).toMatch(/^Default model: demo \(config\)\nDefault provider: scripted\n/);
    expect(stdout).toContain('\n● local  ollama  ');
    await new Promise((resolve) => server.close(resolve));
    const { code, stdout: failing } = await world.run(['doctor', '--model', 'tiny:1b', '--json', '--strict']);
    expect(code).toBe(1);
    expect(JSON.parse(failing).issues.length).toBeGreaterThan(0);
  });
});

describe('chain', () => {
  beforeEach(async () => {
    world = await createProject();
  });

  test('graph draws the tasks and the ways between them', async () => {
    const { code, stdout } = await world.run(['chain', 'graph', 'default-chain']);
    expect([code, stdout]).toEqual([
      0,
      [
        'chat (chat_completion)  [start]  tools: * !plan_manager',
        '    equals executed -> end',
        '    default -> run_tools',
        'run_tools (execute_tool_calls)',
        '    default -> chat  (back)',
        '',
      ].join('\n'),
    ]);
    expect((await world.run(['chain', 'graph', 'nowhere'])).code).toBe(3);
  });

  test('list, show and vet', async () => {
    const list = await world.run(['chain', 'list']);
    expect(list.stdout).toMatch(/^NAME +ID +SOURCE +TRUST +SHA256 +PATH\n/);
    expect(list.stdout).toMatch(/^default-run-chain +chain-run +project +trusted /m);
    const shown = await world.run(['chain', 'show', 'default-run-chain']);
    expect(JSON.parse(shown.stdout).id).toBe('chain-run');
    expect((await world.run(['chain', 'vet', '--strict'])).code).toBe(0);
    world.write('bad.json', '{"id":"c","tasks":[{"id":"a","handler":"teleport"}]}');
    const bad = await world.run(['chain', 'vet', 'bad.json']);
    expect(bad.code).toBe(3);
    expect(bad.stdout).toMatch(/bad\.json:\d+:\d+: error unknown_handler at \/tasks\/0\/handler: /);
    expect(existsSync(join(world.workspace, 'bad.json'))).toBe(true);
    const tools = '{"tools":["local_fs","nowhere"]}';
    world.write('far.json', `{"id":"c","tasks":[{"id":"a","handler":"chat_completion","execute_config":${tools}}]}`);
    const far = await world.run(['chain', 'vet', 'far.json']);
    expect([far.code, far.stdout]).toEqual([0, expect.stringMatching(/ warning unknown_provider at .*"nowhere"/)]);
  });
});

test.each([
  ['tui-theme', 'nosuch', 'there is no theme "nosuch"'],
  ['attention-chain', 'nosuch', 'The chain of config attention-chain is missing: "nosuch".'],
  ['default-chain', '/nosuch.json', 'The chain of config default-chain is missing: /nosuch.json.'],
  ['hitl-policy-name', 'nosuch', 'no policy named "nosuch"'],
])('config set warns of a name that leads nowhere: %s', async (key, name, why) => {
  world = await createProject();
  expect(await world.run(['config', 'set', key, name])).toEqual({
    code: 0,
    signal: null,
    stdout: `${key} = ${name}\n`,
    stderr: expect.stringMatching(new RegExp(`^reins: warning: ${why.replaceAll('.', '\\.')}.*\n$`)),
  });
});

test.each([
  ['tui-theme', 'mine'],
  ['attention-chain', 'default-run-chain'],
  ['default-chain', 'default-chain.json'],
  ['hitl-policy-name', 'strict'],
])('config set does not warn of a name that leads somewhere: %s', async (key, name) => {
  world = await createProject();
  mkdirSync(join(world.home, '.reins/themes'), { recursive: true });
  writeFileSync(join(world.home, '.reins/themes/mine.json'), '{"version":1,"base":"dark","tokens":{}}');
  expect(await world.run(['config', 'set', key, name])).toMatchObject({ code: 0, stderr: '' });
});

test('config set warns of a variable that looks like a secret, beside the answer', async () => {
  world = createWorld();
  expect(await world.run(['config', 'set', 'shell-env', 'FOO,GITHUB_TOKEN'])).toMatchObject({
    code: 0,
    stdout: 'shell-env = FOO,GITHUB_TOKEN\n',
    stderr: 'reins: warning: GITHUB_TOKEN looks like a secret; every program that a tool starts will see it\n',
  });
});

test('doctor tells of a database that it has just made what is in it', async () => {
  world = createWorld();
  const bytes = async () => JSON.parse((await world.run(['doctor', '--json'])).stdout).database.bytes;
  const first = await bytes();
  expect(first).toBeGreaterThan(100_000);
  expect(await bytes()).toBe(first);
});

test('doctor and backend test say of a server without a list that it has none, and count nothing', async () => {
  world = createWorld();
  const server = createServer((_request, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await world.run(['init']);
  await world.run(['backend', 'add', 'far', '--type', 'vllm', '--url', url]);
  const lines = (await world.run(['doctor'])).stdout.split('\n');
  expect(lines[lines.findIndex((line) => line.startsWith('● far')) + 1]).toMatch(
    /^ {4}reachable, lists no models, \d+ ms$/,
  );
  expect((await world.run(['backend', 'test', 'far'])).stdout).toMatch(/^reachable; lists no chat models; \d+ ms\n$/);
  server.close();
});

test('doctor without a probe says of a backend what was seen of it, and no number that nobody counted', async () => {
  world = createWorld();
  await world.run(['init', 'scripted']);
  const told = async (...flags: readonly string[]) => {
    const lines = (await world.run(['doctor', ...flags])).stdout.split('\n');
    return lines[lines.findIndex((line) => line.startsWith('● ')) + 1];
  };
  expect(await told('--skip-probe')).toBe('    not asked yet');
  expect((await world.run([...scripted, 'hi'])).code).toBe(0);
  expect(await told('--skip-probe')).toBe('    reachable when it was last used; not asked for its models');
  expect(await told()).toMatch(/^ {4}reachable, 1 chat model of 1, \d+ ms$/);
});
