import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { program, startCli } from '../support/run-cli.ts';
import { createProject, echoChain, resultMembers, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
  world.write('echo.json', echoChain);
  mkdirSync(join(world.workspace, 'folder'));
});
afterAll(() => world.remove());

const task = (more: object) => JSON.stringify({ id: 'c', tasks: [{ id: 'a', handler: 'noop', ...more }] });

/** The text for a person, exactly; then the same as one JSON object with all its members. */
async function refused(argv: readonly string[], exit: number, code: string, stderr: string): Promise<void> {
  const text = await world.run(argv);
  expect([text.code, text.stdout, text.stderr]).toEqual([exit, '', stderr]);
  const json = await world.run([...argv, '--json']);
  const object = JSON.parse(json.stdout);
  expect(Object.keys(object)).toEqual(resultMembers);
  expect([json.code, object.exit_code, object.is_error, object.error.class]).toEqual([exit, exit, true, code]);
  expect(json.stderr).toBe(stderr);
}

/** The same of a command that runs nothing. */
async function refusedCommand(argv: readonly string[], exit: number, code: string, stderr: string): Promise<void> {
  const text = await world.run(argv);
  expect([text.code, text.stdout, text.stderr]).toEqual([exit, '', stderr]);
  const json = await world.run([...argv, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ error: { code }, exit_code: exit });
  expect([json.code, json.stderr]).toEqual([exit, stderr]);
}

describe('chains', () => {
  const handlers =
    'chat_completion, execute_tool_calls, tools, route, prompt_to_string, prompt_to_int, prompt_to_float, prompt_to_range, prompt_to_condition, noop, raise_error';
  const toNowhere = { branches: [{ operator: 'default', goto: 'nowhere' }] };
  const macro = { handler: 'chat_completion', system_instruction: '{{var:}}' };
  test.each<[string, string, string, string]>([
    ['broken JSON', '{"id": "c", "tasks": [', 'the text ends where a value is expected', '1:23'],
    ['an empty file', '', 'the file is empty; a chain is one JSON object with id and tasks', '1:1'],
    ['bytes that are no text', '\u0000\u0001', 'this is no JSON; a chain is one JSON object with id and tasks', '1:1'],
    [
      'an unknown handler',
      task({ handler: 'teleport' }),
      `there is no handler "teleport"; the handlers are ${handlers}`,
      '/tasks/0/handler',
    ],
    [
      'a goto to nowhere',
      task({ transition: toNowhere }),
      'there is no task "nowhere"',
      '/tasks/0/transition/branches/0/goto',
    ],
    [
      'a macro without its name',
      task(macro),
      'a variable macro names no variable: write {{var:name}}',
      '/tasks/0/system_instruction',
    ],
    ['no tasks', '{"id":"c","tasks":[]}', 'a chain needs at least one task', '/tasks'],
  ])('%s is one line with the place, and the next step', async (_name, content, what, place) => {
    const path = world.write('bad.json', content);
    const line = `reins: The chain is not valid: ${what} at ${path}:${place}\n  reins chain vet ${path}\n`;
    await refused(['run', '--chain', 'bad.json', 'hi'], 3, 'chain_invalid', line);
  });

  test('a macro that is none stays as it is, which one warning says with the place', async () => {
    const path = world.write(
      'odd.json',
      task({
        handler: 'chat_completion',
        system_instruction: '{{nosuch:x}}',
        execute_config: { model: '{{var:model}}' },
      }),
    );
    const { code, stderr } = await world.run(['run', '--chain', 'odd.json', 'hi']);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `reins: warning: {{nosuch:x}} is no macro and stays as it is at ${path}:/tasks/0/system_instruction (reins chain vet ${path})\n`,
    );
  });

  test('all defects of a document are listed, one per line, before the summary', async () => {
    const tasks = [
      { id: 'a', handler: 'teleport' },
      { id: 'b', handler: 'noop', transition: toNowhere },
    ];
    const path = world.write('bad.json', JSON.stringify({ id: 'c', tasks }));
    const line =
      `  /tasks/0/handler: there is no handler "teleport"; the handlers are ${handlers} (line 1)\n` +
      '  /tasks/1/transition/branches/0/goto: there is no task "nowhere" (line 1)\n' +
      `reins: The chain ${path} is not valid: 2 defects.\n  reins chain vet ${path}\n`;
    await refused(['run', '--chain', 'bad.json', 'hi'], 3, 'chain_invalid', line);
  });

  test.each(['nosuch.json', 'echo.json/below'])('a chain that is not there: %s', async (name) => {
    const path = join(world.workspace, name);
    const line =
      `reins: There is no chain ${path}, which --chain names.\n` +
      `  reins chain list\n  reins chain show default-run-chain > ${path}\n`;
    await refused(['run', '--chain', name, 'hi'], 3, 'chain_not_found', line);
  });

  test('a chain that is there under a longer name is what the first hint runs', async () => {
    const path = join(world.workspace, 'echo');
    const line =
      `reins: There is no chain ${path}, which --chain names.\n  reins run --chain ${path}.json\n` +
      `  reins chain list\n  reins chain show default-run-chain > ${path}\n`;
    await refused(['run', '--chain', 'echo', 'hi'], 3, 'chain_not_found', line);
  });

  test.each([
    ['tool.js', 'console.log(1);\n', 'this is no JSON; a chain is one JSON object with id and tasks'],
    ['tool.sh', '#!/bin/sh\nls\n', 'this is no JSON; a chain is one JSON object with id and tasks'],
    ['empty.json', '', 'the file is empty; a chain is one JSON object with id and tasks'],
    ['noted.json', '// mine\n{}', 'comments are not allowed; use a member _comment'],
    [
      'play.json',
      '{ "script": 1, "models": [], "turns": [] }',
      'this is a script of the scripted provider, not a chain; reins backend add <name> --type scripted --url <file>',
    ],
    ['rules.json', '{ "default_action": "deny" }', 'this is a policy, not a chain; reins policy vet <file>'],
  ])('vet says of %s what it is instead of a chain', async (name, text, message) => {
    const path = world.write(name, text);
    const { code, stdout, stderr } = await world.run(['chain', 'vet', name]);
    expect([code, stderr]).toEqual([3, '']);
    expect(stdout).toMatch(/^.*: error (?:not_json|missing_member) at \/: .*\n.*: 1 error\n$/);
    expect(stdout).toContain(`${path}:1:1: error `);
    expect(stdout).toContain(` at /: ${message}\n`);
  });

  test('a name of nothing is told as file and as name, with the nearest chain', async () => {
    const missing = join(world.workspace, 'nosuch.json');
    await refusedCommand(
      ['chain', 'vet', 'nosuch.json'],
      3,
      'chain_not_found',
      `reins: There is no chain "nosuch.json": no file ${missing}.\n  reins chain list\n`,
    );
    await refusedCommand(
      ['chain', 'show', 'default-run-chan'],
      3,
      'chain_not_found',
      'reins: There is no chain "default-run-chan".\n  reins chain show default-run-chain\n  reins chain list\n',
    );
  });

  test('a policy file that is not there can be begun, and one that is no name is told how to be named', async () => {
    const missing = join(world.workspace, 'nosuch.json');
    const names = 'ask-always, auto-edit, default, open, read-only, strict';
    await refusedCommand(
      ['policy', 'vet', 'nosuch.json'],
      3,
      'policy_not_found',
      `reins: there is no policy file ${missing}; available: ${names}\n` +
        `  reins policy list\n  reins policy show default > ${missing}\n`,
    );
    await refusedCommand(
      ['policy', 'vet', 'strct'],
      3,
      'policy_not_found',
      `reins: no policy named "strct"; available: ${names}\n  reins policy show strict\n  reins policy list\n`,
    );
    await refusedCommand(
      ['policy', 'vet', 'tool.js'],
      2,
      'usage',
      'reins: "tool.js" is no policy name: small letters, digits, "_" and "-", at most 64; a path has a slash or ends in .json: ./tool.js\n' +
        '  reins policy vet --help\n',
    );
  });

  test('a directory is not a chain', async () => {
    const path = join(world.workspace, 'folder');
    const line = `reins: The chain ${path} cannot be used: it is a directory.\n  ls -ld ${path}\n  reins chain list\n`;
    await refused(['run', '--chain', 'folder', 'hi'], 3, 'chain_invalid', line);
  });

  test('--trace adds where it came from, and nothing else does', async () => {
    const { stderr } = await world.run(['run', '--trace', '--chain', 'nosuch.json', 'hi']);
    expect(stderr).toMatch(/\n {4}at /);
  });
});

describe('scripts of the scripted provider', () => {
  const add = (file: string) => ['backend', 'add', 's', '--type', 'scripted', '--url', file];
  const turn = { last_user: { regex: '(?=x)' } };
  const script = (more: object) => JSON.stringify({ script: 1, models: [{ name: 'm' }], turns: [], ...more });

  test.each<[string, string, string, string]>([
    ['a chain', '{ "id": "c", "tasks": [] }', 'this is a chain, not a script of the scripted provider', '/'],
    ['a policy', '{ "rules": [] }', 'this is a policy, not a script of the scripted provider', '/'],
    ['a broken text', '{', 'not JSON at line 1, column 2', '/'],
    ['a list', '[]', 'expected an object', '/'],
    ['another version', script({ script: 2 }), 'expected the literal `1`', '/script'],
    ['an unknown member', script({ turn: [] }), 'unknown field "turn"', '/turn'],
    [
      'a lookahead',
      script({ turns: [{ match: turn, reply: { text: 'a' } }] }),
      'the regular expression (?=x) is not valid: invalid or unsupported Perl syntax: `(?=`',
      '/turns/0/match/last_user/regex',
    ],
  ])('%s is refused when it is registered, and nothing is', async (_name, text, problem, pointer) => {
    const path = world.write('no-script.json', text);
    const kind = /a (chain|policy), not/.exec(problem)?.[1];
    const hint = kind === undefined ? '' : `  reins ${kind} vet ${path}\n`;
    const line = `reins: The script does not load: ${problem} at ${path}:${pointer}\n${hint}`;
    await refusedCommand(add('no-script.json'), 3, 'config_invalid', line);
    expect((await world.run(['backend', 'show', 's'])).code).toBe(1);
  });

  test('a URL is no file, for a script, a directory of models, a chain and a policy', async () => {
    const url = `file://${world.write('there.json', echoChain)}`;
    const line = (what: string) => `reins: "${url}" is a URL; --url of a ${what}.\n  reins backend add --help\n`;
    await refusedCommand(add(url), 2, 'usage', line('scripted backend is the path of a file'));
    const local = ['backend', 'add', 's', '--type', 'local', '--url', url];
    await refusedCommand(local, 2, 'usage', line('local backend is the path of a directory'));
    for (const flag of ['--chain', '--policy']) {
      const { code, stderr } = await world.run(['run', flag, url, 'hi']);
      expect([code, stderr.split('\n')[0]]).toEqual([2, `reins: ${flag}: "${url}" is a URL, and a path is needed`]);
    }
  });

  test('a directory is refused too', async () => {
    const path = join(world.workspace, 'folder');
    const line = `reins: The script ${path} cannot be read: it is not a regular file.\n`;
    await refusedCommand(add('folder'), 3, 'config_invalid', line);
  });

  test('one that is not there yet is taken, and told', async () => {
    const path = join(world.workspace, 'later.json');
    expect(await world.run(add('later.json'))).toMatchObject({
      code: 0,
      stdout: 'Backend "s" added (scripted → later.json).\n',
      stderr: `reins: warning: The script ${path} cannot be read: it does not exist; it is read when the backend is used\n`,
    });
    world.write('no-script.json', '{ "tasks": [] }');
    expect((await world.run(['backend', 'update', 's', '--url', 'no-script.json'])).code).toBe(3);
    expect((await world.run(['backend', 'show', 's', '--json'])).stdout).toContain('"baseUrl":"later.json"');
    expect((await world.run(['backend', 'remove', 's'])).code).toBe(0);
  });
});

describe('policies', () => {
  test.each([
    ['{ "id": "c", "tasks": [] }', 'this is a chain, not a policy; reins chain vet <file>'],
    [
      '{ "script": 1, "models": [], "turns": [] }',
      'this is a script of the scripted provider, not a policy; reins backend add <name> --type scripted --url <file>',
    ],
  ])('vet says of %s in one line what it is', async (text, message) => {
    const path = world.write('no-policy.json', text);
    const { code, stdout, stderr } = await world.run(['policy', 'vet', 'no-policy.json']);
    expect([code, stdout, stderr]).toEqual([3, `FAIL ${path}\n  error $: ${message} [unknown_member]\n`, '']);
  });
});

describe('backends', () => {
  const answers = { status: 200, body: '' };
  let server: Server;
  let url = '';
  let fresh: World;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const list = request.url === '/v1/models';
      response.writeHead(list ? 200 : answers.status, { 'content-type': 'application/json' });
      response.end(list ? '{"object":"list","data":[{"id":"m","object":"model"}]}' : answers.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fresh = await createProject();
    await fresh.run(['backend', 'add', 'far', '--type', 'vllm', '--url', url]);
    await fresh.run([
      'backend',
      'add',
      'gone',
      '--type',
      'openai',
      '--url',
      'http://127.0.0.1:1',
      '--api-key',
      'k-123456',
    ]);
    await fresh.run(['config', 'set', 'default-provider', 'vllm']);
  });
  afterAll(() => {
    fresh.remove();
    server.close();
  });

  test('a wrong key exits 7 and names model and backend', async () => {
    answers.status = 401;
    answers.body =
      '{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}';
    const { code, stdout, stderr } = await fresh.run(['--model', 'm', 'hi']);
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toBe(
      'reins: task work failed after 1 attempt: backend "far" answered 401: Incorrect API key provided (model m, backend far) (auth)\n' +
        '  reins backend update far --api-key-env <NAME>\n',
    );
    const json = await fresh.run(['--model', 'm', '--json', 'hi']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      subtype: 'error_provider',
      exit_code: 7,
      error: { class: 'auth' },
    });
  });

  test('an unknown model exits 7 and names those that are served', async () => {
    const { code, stdout, stderr } = await fresh.run(['--model', 'nosuch', 'hi']);
    expect([code, stdout, stderr]).toEqual([
      7,
      '',
      'reins: No backend of type vllm serves "nosuch"; served: far/m\n  reins model list\n',
    ]);
  });

  test('an unreachable server exits 7 and is named with its address', async () => {
    const { code, stdout, stderr } = await fresh.run(['--provider', 'openai', '--model', 'm', 'hi']);
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toBe(
      'reins: No backend can serve "m": cannot reach backend "gone" at http://127.0.0.1:1: connection refused\n  reins backend test gone\n',
    );
  });
});

describe('input', () => {
  const echo = ['run', '--chain', 'echo.json'];

  test.each<[string, readonly string[], RegExp]>([
    ['a missing file', [...echo, '--input', '@nosuch'], /--input: nosuch cannot be read \(no such file\)/],
    ['a directory', [...echo, '--input', '@folder'], /--input: folder is a directory/],
    ['an empty text', [...echo, '--input', ''], /--input is empty/],
    ['nothing at all', echo, /no input\n {2}reins run <text>\n {2}reins run --input @file\n/],
    ['blanks alone', [...echo, ' '], /the input is empty\n {2}reins run <text>\n/],
    ['a plan without a goal', ['plan', 'new'], /no goal\n {2}reins plan new <text>\n/],
    ['an unknown type', [...echo, '--input-type', 'xml', 'x'], /--input-type: "xml" is not one of string, chat, json/],
    ['text that is no image', [...echo, '--image', 'echo.json', 'x'], /--image: echo\.json is not a PNG/],
    ['an image without a name', [...echo, '--image', '', 'x'], /--image needs a path\n/],
    ['a directory of steps', ['plan', 'new', 'x', '--from', 'folder'], /--from: \S+\/folder is a directory\n/],
    [
      'a file without steps',
      ['plan', 'new', 'x', '--from', 'echo.json'],
      /^reins: --from: \S+\/echo\.json: The steps cannot be read: [^\n]+\. It takes a Markdown list or a JSON array\.\n {2}reins plan new --help\n$/,
    ],
    ['a missing image', [...echo, '--image', 'nosuch.png', 'x'], /--image: nosuch\.png cannot be read/],
  ])('%s exits 2', async (_name, argv, text) => {
    const { code, stdout, stderr } = await world.run(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(text);
  });

  test('invalid UTF-8 is replaced, with one warning', async () => {
    const bytes = Uint8Array.from([0x61, 0xff, 0xfe, 0x62]);
    const { code, stdout, stderr } = await world.run(echo, { stdin: bytes });
    expect([code, stdout]).toEqual([0, 'a\ufffd\ufffdb\n']);
    expect(stderr).toBe(
      'reins: warning: standard input is not UTF-8 throughout: invalid bytes were replaced by U+FFFD\n',
    );
  });

  test('a NUL byte is no text', async () => {
    expect(await world.run(echo, { stdin: 'a\u0000b' })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'reins: the input holds a NUL byte: it is not text\n  reins run --help\n',
    });
  });

  test('50 MB on a pipe are refused without being read to the end', async () => {
    const { code, stderr } = await world.run(echo, { stdin: Buffer.alloc(50_000_000, 'x') });
    expect([code, stderr]).toEqual([
      2,
      'reins: standard input is more than the limit of 10485760 bytes (10 MiB)\n  reins run --help\n',
    ]);
  });

  test('an endless pipe is refused too', async () => {
    const started = startCli(world, echo);
    const piece = Buffer.alloc(1_000_000, 'x');
    const feed = () => {
      if (started.child.stdin.writable) started.child.stdin.write(piece, feed);
    };
    feed();
    expect((await started.ended).code).toBe(2);
  });

  test('a file that is too large is refused with its size', async () => {
    world.write('large.txt', Buffer.alloc(11_000_000, 'x'));
    expect((await world.run([...echo, '--input', '@large.txt'])).stderr).toBe(
      'reins: --input: large.txt is 11000000 bytes, more than the limit of 10485760 bytes (10 MiB)\n  reins help flags\n',
    );
  });
});

describe('a settings file of the user that cannot be used', () => {
  const path = () => join(world.home, '.reins/config.json');
  const says = () => `The settings file ${path()} is not used: it is not JSON (line 1, column 15)`;
  const mend = () => `mv ${path()} ${path()}.bak`;
  const run = ['run', '--chain', 'echo.json', 'hi'];
  beforeEach(() => writeFileSync(path(), '{"shell": true', { mode: 0o600 }));
  afterEach(() => rmSync(path()));

  test('is one line of a run, which goes on without it, and a warning of its result', async () => {
    const warning = `${says()} (${mend()})`;
    const text = await world.run(run);
    expect(text).toMatchObject({ code: 0, stdout: 'hi\n', stderr: `reins: warning: ${warning}\n` });
    expect(JSON.parse((await world.run([...run, '--json'])).stdout).warnings).toEqual([warning]);
  });

  test('is nothing to a run that is told by a flag what would stand in it', async () => {
    expect(await world.run([...run, '--shell'])).toMatchObject({ code: 0, stdout: 'hi\n', stderr: '' });
  });

  test('is named by doctor, with the next step, in both forms', async () => {
    const message = `${says()}. The defaults count for its keys: shell.`;
    const { stdout } = await world.run(['doctor', '--skip-probe']);
    expect(stdout).toContain(`[warning] config_unreadable: ${message}\n    Try: ${mend()}\n`);
    const { issues } = JSON.parse((await world.run(['doctor', '--skip-probe', '--json'])).stdout);
    expect(issues).toContainEqual(
      expect.objectContaining({ code: 'config_unreadable', message, cliCommand: mend(), subject: path() }),
    );
  });
});

describe('a working directory that cannot be used', () => {
  async function from(prepare: string, ...argv: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const script = `cd ${world.home} && ${prepare} && exec "$0" "$@"`;
    const child = spawn('sh', ['-c', script, process.execPath, program, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (piece) => {
      said.stdout += piece;
    });
    child.stderr.on('data', (piece) => {
      said.stderr += piece;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, ...said };
  }
  const gone = 'mkdir gone && cd gone && rmdir ../gone';

  test('is said in one line when it is gone', async () => {
    const stderr = 'reins: the working directory is gone; change to one that is there\n';
    expect(await from(gone, 'hi')).toEqual({ code: 1, stdout: '', stderr });
    // Words of an input, which a run in some other directory would be given.
    expect(await from(gone, '--', 'what', 'is', '-h')).toEqual({ code: 1, stdout: '', stderr });
    expect(await from(gone, 'run', '--input', '-h')).toEqual({ code: 1, stdout: '', stderr });
  });

  test('is not missed by what looks at no directory, and a completion does not fail', async () => {
    expect(await from(gone, '__complete', 'se')).toEqual({ code: 0, stdout: '', stderr: '' });
    const script = await from(gone, 'completion', 'bash');
    expect([script.code, script.stdout.split('\n')[0], script.stderr]).toEqual([0, '_reins() {', '']);
    expect(await from(gone, 'help', 'run')).toMatchObject({ code: 0, stderr: '' });
    expect(await from(gone, 'run', '-h')).toMatchObject({ code: 0, stderr: '' });
  });

  test('is not taken for another one when its name is no text', async () => {
    const prepare = `d=$(printf 'bad\\377') && mkdir "$d" && cd "$d"`;
    const stderr = 'reins: the name of the working directory is not UTF-8; give it another\n';
    expect(await from(prepare, 'init')).toEqual({ code: 1, stdout: '', stderr });
    expect(readdirSync(world.home).filter((name) => name.startsWith('bad'))).toEqual(['bad\uFFFD']);
  });
});

describe('a place that was named on the command line', () => {
  const elsewhere = () => ({ cwd: world.home });
  const at = () => ['--data-dir', join(world.workspace, '.reins')];

  test('is part of the command that answers, so that it works where it is pasted', async () => {
    const { code, stderr } = await world.run([...at(), 'write', 'a', 'note'], elsewhere());
    expect(code).toBe(4);
    const command = /answer with: (reins .*) --approve\|--deny\n/.exec(stderr)?.[1] ?? '';
    expect(command).toMatch(/^reins --data-dir \S+ approvals respond ask_\w+$/);
    const argv = [...command.split(' ').slice(1), '--deny'];
    expect(await world.run(argv, elsewhere())).toMatchObject({ code: 0 });
  });

  test('is part of what doctor advises', async () => {
    const directory = join(world.home, 'nowhere', '.reins');
    const { stdout } = await world.run(['--data-dir', directory, 'doctor', '--skip-probe'], elsewhere());
    expect(stdout).toContain(`    Try: reins --data-dir ${directory} init\n`);
  });

  test('is part of what is advised after a failure, in JSON too, but not of help', async () => {
    const { stderr } = await world.run([...at(), 'session', 'show', 'nosuch'], elsewhere());
    expect(stderr).toBe(`reins: There is no session "nosuch".\n  reins ${at().join(' ')} session list\n`);
    const { stdout } = await world.run([...at(), 'session', 'show', 'nosuch', '--json'], elsewhere());
    expect(JSON.parse(stdout).error.hint).toBe(`reins ${at().join(' ')} session list`);
    const wrong = await world.run([...at(), 'session', 'show', '--tail', '0'], elsewhere());
    expect(wrong.stderr).toContain('\n  reins session show --help\n');
  });
});

test('an input that can never end is no success: the program says that it ended too early', async () => {
  // Of a stream that nothing feeds, Node sees only that nobody is left who could.
  world.write(
    'dry-stdin.cjs',
    "const { Readable } = require('node:stream');\nObject.defineProperty(process, 'stdin', { value: new Readable({ read() {} }) });\n",
  );
  const environment = { NODE_OPTIONS: `--require=${join(world.workspace, 'dry-stdin.cjs')}` };
  expect(await world.run(['run', '--chain', 'echo.json', '-'], { environment, stdin: '' })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'reins: the command ended before it was done; that is a fault of reins\n',
  });
});

describe('names', () => {
  test.each<[string, readonly string[], number, RegExp]>([
    [
      'an unknown config key',
      ['config', 'set', 'defualt-model', 'x'],
      2,
      /unknown config key "defualt-model" \(did you mean default-model\?\)/,
    ],
    ['a bad config value', ['config', 'set', 'approval-ceiling', '1d'], 2, /approval-ceiling/],
    // As of a variable of the shell that is not set.
    ...(
      [
        ['session delete', 'name'],
        ['session show', 'name'],
        ['state show', 'run'],
        ['policy test', 'path'],
        ['trust show', 'path'],
        ['chain vet', 'path'],
        ['backend update', 'name'],
      ] as const
    ).map(([name, argument]): [string, readonly string[], number, RegExp] => [
      `an empty word for ${name}`,
      [...name.split(' '), ''],
      2,
      new RegExp(`^reins: "${name}" needs <${argument}>, and was given an empty word\\n {2}reins ${name} --help\\n$`),
    ]),
    ['an unknown session', ['session', 'switch', 'nosuch'], 1, /nosuch/],
    [
      'an unknown hook',
      ['hook', 'show', 'nosuch'],
      1,
      /^reins: There is no hook named "nosuch"\.\n {2}reins hook list\n$/,
    ],
    ['an empty model to pull', ['model', 'pull', ''], 2, /^reins: The name of a model is 1 to 512 characters/],
    ...(
      [
        [['hook', 'add', 'x', '--url', 'http://127.0.0.1:9', '--header', 'A: 1', '--header', 'a: 2'], '--header: "a"'],
        [['hook', 'add', 'x', '--url', 'http://127.0.0.1:9', '--inject', 'a=1', '--inject', 'a=2'], '--inject: "a"'],
        [['mcp', 'add', 'x', '--command', 'cat', '--env', 'A', '--env', 'A=1', '--no-probe'], '--env: "A"'],
      ] as const
    ).map(([argv, what]): [string, readonly string[], number, RegExp] => [
      `a name twice in ${argv[0]} ${what}`,
      argv,
      2,
      new RegExp(`^reins: ${what} is given twice\\n`),
    ]),
    [
      'a capability and its opposite',
      ['model', 'add', 'x', '--capability', 'chat', '--capability', 'no-chat'],
      2,
      /^reins: "chat" and "no-chat" exclude each other\.\n/,
    ],
    ['an unknown backend', ['backend', 'show', 'nosuch'], 1, /nosuch/],
    ['a backend name with a blank', ['backend', 'add', 'my server'], 2, /my server/],
    ['a backend without its URL', ['backend', 'add', 'far', '--type', 'vllm'], 2, /--url/],
    ['an unknown backend type', ['backend', 'add', 'far', '--type', 'magic'], 2, /--type: "magic" is not one of/],
    [
      'two ways to give a key',
      ['backend', 'add', 'x', '--api-key', 'a', '--api-key-env', 'B'],
      2,
      /exclude each other/,
    ],
    [
      'waiting for a run that shall stay at rest',
      ['approvals', 'respond', 'ask_x', '--approve', '--wait', '--no-resume'],
      2,
      /exclude each other/,
    ],
    ['an unknown policy', ['--policy', 'nosuch', '--chain', 'echo.json', 'hi'], 3, /nosuch/],
    ['an unknown model', ['model', 'remove', 'nosuch'], 1, /nosuch/],
    [
      'an unknown provider',
      ['init', 'nosuch'],
      2,
      /unknown provider "nosuch" \(ollama, openai, vllm, gemini, anthropic, openai-compatible, local, scripted\)/,
    ],
    [
      'a data directory that is missing',
      ['--data-dir', '/nonexistent/reins', 'hi'],
      3,
      /^reins: The data directory \/nonexistent\/reins does not exist\.\n {2}reins --data-dir \/nonexistent\/reins init\n$/,
    ],
    ['a file for a data directory', ['--data-dir', 'echo.json', 'hi'], 3, /echo\.json is not a directory\.\n/],
    ['a policy below a file', ['--policy', 'echo.json/x.json', '--chain', 'echo.json', 'hi'], 3, /no policy file /],
    ['trust for a directory', ['trust', 'add', 'folder'], 1, /^reins: folder cannot be read: it is a directory\n/],
    ['trust for nothing', ['trust', 'add', 'none'], 1, /^reins: none cannot be read: there is no such file\n/],
  ])('%s', async (_name, argv, exit, text) => {
    const { code, stdout, stderr } = await world.run(argv);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(text);
    expect(stderr).not.toContain('    at ');
  });
});
