import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cliEnvironment, program, startCli } from '../support/run-cli.ts';
import {
  addScript,
  createProject,
  createWorld,
  echoChain,
  scripted,
  tester,
  type World,
  writingTurns,
} from './world.ts';

const greeting =
  '(scripted demo) Hello. You said: hello there\nI am not a model. Ask what I can do, or say: write a note.\n';

let world: World;
afterEach(() => world.remove());

describe('without a project', () => {
  beforeEach(() => {
    world = createWorld({ apart: true });
  });

  test('a run exits 3 and names init and --chain', async () => {
    const { code, stdout, stderr } = await world.run(['hi']);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('reins init');
    expect(stderr).toContain('--chain');
  });

  test('a run and a chat that have no chain leave nothing behind', async () => {
    for (const words of [['hi'], ['chat', 'hi'], ['run', '--chain', 'gone.json', 'hi']]) {
      expect(await world.run(words)).toMatchObject({ code: 3, stdout: '' });
    }
    expect(existsSync(join(world.home, '.reins'))).toBe(false);
    world.write('.reins/other.json', echoChain);
    expect((await world.run(['hi'])).stderr).toContain(
      `there is no ${join(world.workspace, '.reins')}/default-run-chain.json`,
    );
    expect(existsSync(join(world.workspace, '.reins/local.db'))).toBe(false);
  });

  test('a chain in the user directory does not count', async () => {
    mkdirSync(join(world.home, '.reins'), { mode: 0o700 });
    world.write('../home/.reins/default-run-chain.json', echoChain);
    expect((await world.run(['hi'])).code).toBe(3);
    expect((await world.run(['hi'], { cwd: world.home })).code).toBe(3);
  });

  test('a chain that was named runs', async () => {
    const path = world.write('echo.json', echoChain);
    expect(await world.run(['run', '--chain', path, 'hello'])).toMatchObject({ code: 0, stdout: 'hello\n' });
  });
});

describe('a run in a project', () => {
  beforeEach(async () => {
    world = await createProject({ apart: true });
  });

  test('ends with its code, its row and its output although a thread cannot be ended', async () => {
    const pipe = join(world.dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const stuck = ['--var', 'fail_point=worker_native', '--var', `fail_file=${pipe}`];
    const { code, signal, stdout, stderr } = await world.run([
      ...scripted,
      '--json',
      '--timeout',
      '1s',
      ...stuck,
      'hi',
    ]);
    expect([code, signal, JSON.parse(stdout).exit_code, JSON.parse(stdout).error.class]).toEqual([
      124,
      null,
      124,
      'timeout',
    ]);
    expect(stderr.split('\n')).toHaveLength(2);
    const { stdout: list } = await world.run(['state', 'list', '--json']);
    expect(JSON.parse(list)).toMatchObject([{ status: 'failed' }]);
  });

  test('prints the answer and nothing else to a pipe', async () => {
    expect(await world.run([...scripted, 'hello', 'there'])).toEqual({
      code: 0,
      signal: null,
      stdout: greeting,
      stderr: '',
    });
  });

  test('finds the project from a directory below it', async () => {
    mkdirSync(join(world.workspace, 'a', 'b'), { recursive: true });
    const { code, stdout } = await world.run([...scripted, 'hello there'], { cwd: join(world.workspace, 'a', 'b') });
    expect([code, stdout]).toEqual([0, greeting]);
  });

  test('takes the text from a pipe, joins it with words, and takes words after -- as text', async () => {
    const chain = ['--chain', world.write('echo.json', echoChain)];
    expect((await world.run(chain, { stdin: 'from a pipe\n' })).stdout).toBe('from a pipe\n');
    expect((await world.run([...chain, 'review', 'this'], { stdin: 'diff' })).stdout).toBe('review this\n\ndiff\n');
    expect((await world.run([...chain, '--', 'chat', '--about', 'cats'])).stdout).toBe('chat --about cats\n');
    expect((await world.run([...chain, '--input', '-'], { stdin: 'x' })).stdout).toBe('x\n');
    world.write('in.txt', 'a file');
    expect((await world.run([...chain, 'read', '--input', '@in.txt'])).stdout).toBe('read\n\na file\n');
    expect((await world.run([...chain, '--input', '@@x'])).stdout).toBe('@x\n');
  });

  test('goes on after a while when a pipe stays open and sends nothing', async () => {
    const started = startCli(world, ['run', '--chain', world.write('echo.json', echoChain), 'hello']);
    const { code, stdout, stderr } = await started.ended;
    expect([code, stdout]).toEqual([0, 'hello\n']);
    expect(stderr).toContain('standard input stays open and sends nothing');
  });

  test('input types become values, and wrong ones are refused before the chain is read', async () => {
    const chain = ['run', '--chain', world.write('echo.json', echoChain)];
    expect((await world.run([...chain, '--input-type', 'json', '--input', '{"sum":3}'])).stdout).toBe(
      '{\n  "sum": 3\n}\n',
    );
    expect((await world.run([...chain, '--input-type', 'INT', '--input', ' 42 '])).stdout).toBe('42\n');
    expect((await world.run([...chain, '--input-type', 'bool', '--input', 't'])).stdout).toBe('true\n');
    const missing = ['run', '--chain', 'missing.json', '--input-type', 'int', '--input', 'x'];
    expect(await world.run(missing)).toMatchObject({
      code: 2,
      stderr: 'reins: --input is not an integer: "x"\n  reins help flags\n',
    });
  });

  test('--raw prints the whole value', async () => {
    const chain = ['run', '--raw', '--chain', world.write('echo.json', echoChain)];
    expect((await world.run([...chain, 'hello'])).stdout).toBe('"hello"\n');
    expect((await world.run([...chain, '--input-type', 'json', '--input', 'null'])).stdout).toBe('null\n');
    const history = JSON.parse((await world.run([...scripted, '--raw', 'hello there'])).stdout);
    expect(history.messages.map((message: { role: string }) => message.role)).toEqual(['user', 'assistant']);
    expect(history.model).toBe('demo');
  });

  test('--steps reports on stderr after the result', async () => {
    const { stdout, stderr } = await world.run([...scripted, '--steps', 'hello there']);
    expect(stdout).toBe(greeting);
    expect(stderr).toMatch(/^Steps\n {2}1\. work \(chat_completion\) \d+(\.\d\d)?(µs|ms|s) executed\n$/);
  });

  test('--steps of a chain with debug tells what each step was given and made', async () => {
    const tasks = [
      {
        id: 'a',
        handler: 'noop',
        prompt_template: '{{ input }} b',
        transition: { branches: [{ operator: 'default', goto: 'c' }] },
      },
      { id: 'c', handler: 'raise_error' },
    ];
    const path = world.write('debug.json', JSON.stringify({ id: 'd', debug: true, tasks }));
    const { code, stdout, stderr } = await world.run(['run', '--steps', '--chain', path, 'a\n1']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.replaceAll(/\) \S+(µs|ms|s) /g, ') TIME ')).toBe(
      [
        'Steps',
        '  1. a (noop) TIME noop',
        '',
        '     Input (string)',
        '       a',
        '       1 b',
        '',
        '     Output (string)',
        '       a',
        '       1 b',
        '  2. c (raise_error) TIME - error: raised',
        '',
        '     Input (string)',
        '       a',
        '       1 b',
        'reins: task c failed after 1 attempt: a 1 b (raised)',
        '',
      ].join('\n'),
    );
  });

  test('--trace names what the run uses, one record per line', async () => {
    const { stderr } = await world.run([...scripted, '--trace', 'hello there']);
    const [first = '', ...rest] = stderr.trimEnd().split('\n');
    expect(first).toMatch(/^ts=\S+ level=info msg=run run_id=run_\w+ model=demo provider=scripted /);
    expect(first).toContain(' policy=default ');
    expect(first).toContain('database=');
    expect(rest.every((line) => /^ts=\S+ level=(info|warn) msg=\w+ /.test(line))).toBe(true);
  });

  test('a time limit ends a model that says nothing', async () => {
    await addScript(world, [{ name: 'stuck', reply: { hang: true } }]);
    const { code, stdout, stderr } = await world.run([...tester, '--timeout', '1s', 'hi']);
    expect([code, stdout]).toEqual([124, '']);
    expect(stderr).toContain('(timeout)');
    const { stdout: lines } = await world.run([...tester, '--timeout', '1s', '--output-format', 'stream-json', 'hi']);
    const events = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: 'init', backend: 'script' });
    expect(events.find(({ type }) => type === 'step_failed')).toMatchObject({ error: { class: 'timeout' } });
  });

  test('a time limit longer than a timer holds is a limit, not the end', async () => {
    await addScript(world, [{ name: 'hi', reply: { text: 'hello' } }]);
    const timeout = '1000h';
    const task = { handler: 'prompt_to_string', execute_config: { model: 'tester' }, timeout };
    const tools = { name: 'echo', args: { input: 'done' } };
    const tasks = [
      { id: 'a', ...task, transition: { branches: [{ operator: 'default', goto: 'b' }] } },
      { id: 'b', handler: 'tools', tools, timeout },
    ];
    world.write('long.json', JSON.stringify({ id: 'long', tasks }));
    const ended = await world.run([...tester, '--chain', 'long.json', '--timeout', timeout, 'hi']);
    expect(ended).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
  });

  test('an unreachable server exits 7 and says how to mend it', async () => {
    const { code, stdout, stderr } = await world.run(['--provider', 'ollama', '--ollama', 'http://127.0.0.1:1', 'hi']);
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toMatch(/^reins: .+/);
    expect(stderr).not.toContain('    at ');
  });

  test('text of a model reaches a pipe byte for byte', async () => {
    const text = 'a\u001b]0;x\u0007b \u202e \u2028 c';
    await addScript(world, [{ name: 'raw', reply: { text } }]);
    expect((await world.run([...tester, 'hi'])).stdout).toBe(`${text}\n`);
  });

  test.each([
    ['a listing', 'config list'],
    ['an object', 'config list --json'],
    ['the lines of a run', `${tester.join(' ')} --output-format stream-json hi`],
    ['help', '--help'],
  ])('a disk that is full under stdout is a failure, said in one line: %s', async (_what, words) => {
    await addScript(world, [{ name: 'hi', reply: { text: 'hello' } }]);
    const argv = [process.execPath, program, ...words.split(' ')];
    const child = spawn('sh', ['-c', '"$@" > /dev/full', 'sh', ...argv], {
      cwd: world.workspace,
      env: { ...cliEnvironment(world) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += String(piece);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, stderr]).toEqual([1, 'reins: standard output cannot be written (ENOSPC)\n']);
  });

  test('a reader that leaves early is no failure', async () => {
    const child = spawn('sh', ['-c', '"$@" | head -n 1; exit 0', 'sh', process.execPath, program, 'config', 'list'], {
      cwd: world.workspace,
      env: { ...cliEnvironment(world) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += String(piece);
    });
    let stdout = '';
    for await (const piece of child.stdout) stdout += String(piece);
    expect([stdout.startsWith('KEY '), stdout.trimEnd().split('\n').length, stderr]).toEqual([true, 1, '']);
  });

  test('every byte of a long answer arrives through a slow pipe', async () => {
    await addScript(world, [{ name: 'long', reply: { text: 'x'.repeat(3_000_000), chunk: 'none' } }]);
    const child = spawn(process.execPath, [program, ...tester, 'hi'], {
      cwd: world.workspace,
      env: { ...cliEnvironment(world) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const code = new Promise((resolve) => child.on('exit', resolve));
    let size = 0;
    for await (const chunk of child.stdout) {
      size += (chunk as Buffer).length;
      // The writer has to wait for us after every piece.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([await code, size]).toEqual([0, 3_000_001]);
  });
});

describe('signals', () => {
  beforeEach(async () => {
    world = await createProject({ apart: true });
    await addScript(world, [{ name: 'stuck', reply: { hang: true } }]);
  });

  test.each([
    ['SIGINT', 130, 'the run was cancelled'],
    ['SIGTERM', 143, 'the run stopped at its last checkpoint'],
    ['SIGHUP', 143, 'the run stopped at its last checkpoint'],
  ] as const)('%s exits %i', async (signal, exit, text) => {
    const started = startCli(world, [...tester, '--trace', '--input', 'hi']);
    await started.saw('msg=step_started');
    started.child.kill(signal);
    const { code, stdout, stderr } = await started.ended;
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(text);
  });
});

describe('calls that need approval, without a terminal', () => {
  beforeEach(async () => {
    world = await createProject({ apart: true });
    await addScript(world, writingTurns);
  });
  const written = () => existsSync(join(world.workspace, 'new.txt'));

  test('let the run rest: exit 4, nothing on stdout, and how to answer', async () => {
    const { code, stdout, stderr } = await world.run([...tester, 'write']);
    expect([code, stdout, written()]).toEqual([4, '', false]);
    const [, id] = /waiting for approval (ask_\w+): local_fs\.write_file new\.txt\n/.exec(stderr) ?? [];
    expect(stderr).toContain(`reins: answer with: reins approvals respond ${id} --approve|--deny\n`);
    const answered = await world.run(['approvals', 'respond', String(id), '--approve']);
    expect(answered).toMatchObject({ code: 0, stdout: 'It is written.\n', stderr: `approved ${id}\n` });
    expect(written()).toBe(true);
  });

  test('are denied with --on-ask deny, which is said once; exit 5 when no tool ran', async () => {
    const { code, stdout, stderr } = await world.run([...tester, '--on-ask', 'deny', 'write']);
    expect([code, stdout, written()]).toEqual([5, 'It was denied.\n', false]);
    expect(stderr.match(/^reins: denied local_fs\.write_file new\.txt \(--on-ask deny\)$/gm)).toHaveLength(1);
  });

  test('wait for an answer from another process with --on-ask wait', async () => {
    const started = startCli(world, [...tester, '--on-ask', 'wait', '--input', 'write']);
    await started.saw('reins: answer with: reins approvals respond');
    const listed = await world.run(['approvals', 'list', '--json']);
    const { asks, total } = JSON.parse(listed.stdout);
    expect([total, asks[0].tools, asks[0].tool, asks[0].state]).toEqual([1, 'local_fs', 'write_file', 'pending']);
    const card = await world.run(['approvals', 'show', asks[0].id.slice(-6)]);
    expect(card.stdout).toContain('local_fs.write_file');
    expect(card.stdout).toContain('+hello');

    const answered = await world.run(['approvals', 'respond', asks[0].id, '--approve']);
    expect(answered).toMatchObject({ code: 0, stdout: `approved ${asks[0].id}\n` });
    const { code, stdout } = await started.ended;
    expect([code, stdout, written()]).toEqual([0, 'It is written.\n', true]);

    const over = await world.run(['approvals', 'show', asks[0].id]);
    expect(over.stdout).toContain(`(approved)\n`);
    expect(over.stdout).toMatch(
      new RegExp(
        `\\n {2}audit {4}\\S+Z {2}ask: asked ${asks[0].id}.*\\n {2}audit {4}\\S+Z {2}verdict: approved ${asks[0].id} by operator:cli\\n`,
      ),
    );
    const { history } = JSON.parse((await world.run(['approvals', 'show', asks[0].id, '--json'])).stdout);
    expect(history.map(({ type }: { type: string }) => type)).toEqual(['ask', 'verdict']);

    const late = await world.run(['approvals', 'respond', asks[0].id, '--deny']);
    expect([late.code, late.stdout]).toEqual([1, '']);
    expect(late.stderr).toContain('operator:cli');
    // Who looks for the answers of somebody need not know that they are not pending.
    const reviewed = await world.run(['approvals', 'list', '--by', 'operator']);
    expect(reviewed.stdout.split('\n')[1]).toMatch(/ approved +operator:cli$/);
    expect((await world.run(['approvals', 'list', '--by', 'agent'])).stderr).toBe('no such asks\n');
    const mission = (part: string) => world.run(['approvals', 'list', '--by', 'operator', '--mission', part]);
    expect(await mission(asks[0].run_id.slice(-6))).toMatchObject({ code: 0, stdout: reviewed.stdout });
    expect(await mission('nowhere')).toMatchObject({
      code: 1,
      stderr: 'reins: no such run: nowhere\n  reins state list\n',
    });
    expect(await world.run(['approvals', 'list', '--session', 'nowhere'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'reins: There is no session "nowhere".\n  reins session list\n',
    });
  });

  test('end as cancelled asks when the run is cancelled', async () => {
    const started = startCli(world, [...tester, '--on-ask', 'wait', '--input', 'write']);
    await started.saw('reins: answer with: reins approvals respond');
    started.child.kill('SIGINT');
    expect((await started.ended).code).toBe(130);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks.map((ask: { state: string }) => ask.state)).toEqual(['cancelled']);
  });

  test('go on with what was answered when a later one of several is refused', async () => {
    const askOf = async () => {
      await world.run([...tester, 'write']);
      return JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks[0].id as string;
    };
    const before = await askOf();
    expect((await world.run(['approvals', 'respond', before, '--deny'])).code).toBe(0);
    const id = await askOf();
    const given = ['approvals', 'respond', id, before, '--deny', '--feedback', 'later'];
    const { code, stdout, stderr } = await world.run(given);
    expect([code, stdout]).toEqual([1, 'It was denied.\n']);
    expect(stderr).toMatch(new RegExp(`^denied ${id}\nreins: .*${before}.*already`));
  });

  test('answer none of several where a word names no ask, as a reason without --feedback', async () => {
    await world.run([...tester, 'write']);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    const refused = await world.run(['approvals', 'respond', asks[0].id, '--deny', 'never']);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no such ask: never\n') });
    expect(JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks).toHaveLength(1);
  });

  test('that a changed policy denies by now say how their run goes on', async () => {
    const policy = (action: string) => world.write('../policy.json', `{"default_action":"${action}","rules":[]}`);
    await world.run([...tester, '--policy', policy('approve'), 'write']);
    policy('deny');
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    const [{ id, run_id }] = asks;
    const refused = await world.run(['approvals', 'respond', id, '--approve']);
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`reins state resume ${run_id}\n`),
    });
    expect(await world.run(['state', 'resume', run_id])).toMatchObject({ code: 0, stdout: 'It was denied.\n' });
  });

  test('an answer is one verdict, and an unknown id is not found', async () => {
    expect((await world.run(['approvals', 'respond', 'nosuch', '--approve'])).code).toBe(1);
    expect(await world.run(['approvals', 'respond', 'nosuch'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('give exactly one of --approve, --deny'),
    });
    expect(await world.run(['approvals', 'list'])).toMatchObject({ code: 0, stdout: '', stderr: 'no pending asks\n' });
  });
});

describe('JSON formats', () => {
  const keys =
    'schema_version type subtype is_error result output_type output run_id session_id session_name plan chain model provider backend policy num_turns num_tool_calls duration_ms duration_api_ms waited_ms usage asks permission_denials steps warnings error exit_code'.split(
      ' ',
    );
  beforeEach(async () => {
    world = await createProject({ apart: true });
  });

  test('json is one object with all keys, whatever happened', async () => {
    await addScript(world, [
      { name: 'stuck', match: { last_user: 'stuck' }, reply: { hang: true } },
      { name: 'broken', match: { last_user: 'broken' }, reply: { error: { class: 'auth', status: 401 } } },
      ...writingTurns,
    ]);
    const outcomes: [string, readonly string[], number][] = [
      ['success', [...scripted, 'hello there'], 0],
      ['error_denied', [...tester, '--on-ask', 'deny', 'write'], 5],
      ['suspended', [...tester, 'write'], 4],
      ['error_provider', [...tester, 'broken'], 7],
      ['error_timeout', [...tester, '--timeout', '500ms', 'stuck'], 124],
      ['error_invalid', ['run', '--chain', 'nosuch.json', 'hi'], 3],
      ['error_invalid', ['run', '--input', '@nosuch', 'hi'], 2],
    ];
    for (const [subtype, argv, exit] of outcomes) {
      const { code, stdout } = await world.run(['--json', ...argv]);
      const object = JSON.parse(stdout);
      expect([argv, Object.keys(object)]).toEqual([argv, keys]);
      expect([argv, code, object.exit_code, object.subtype, object.is_error]).toEqual([
        argv,
        exit,
        exit,
        subtype,
        exit !== 0 && exit !== 4,
      ]);
      expect(stdout.endsWith('}\n') && stdout.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('the denied call is listed with its rule', async () => {
    await addScript(world, writingTurns);
    const { stdout } = await world.run(['--json', ...tester, '--on-ask', 'deny', 'write']);
    const object = JSON.parse(stdout);
    expect(object.result).toBe('It was denied.');
    expect(object.asks).toMatchObject([{ state: 'denied', by: 'system:on-ask-deny', summary: 'new.txt' }]);
    expect(object.error).toEqual({ class: 'denied', message: 'what needed approval was denied and no tool call ran' });
  });

  test('stream-json begins with init, ends with result, and counts its lines', async () => {
    await addScript(world, [{ name: 'text', reply: { text: 'one\u2028two' } }]);
    const { stdout } = await world.run(['--output-format', 'stream-json', ...tester, 'hi']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index + 1));
    expect([lines[0].type, lines.at(-1).type, lines.at(-1).result]).toEqual(['init', 'result', 'one\u2028two']);
    expect(stdout).not.toContain('\u2028');
    const types = new Set(lines.map((line) => line.type));
    for (const type of [
      'chain_started',
      'step_started',
      'step_chunk',
      'message',
      'step_completed',
      'chain_completed',
    ]) {
      expect([type, types.has(type)]).toEqual([type, true]);
    }
  });

  test('a chain that names its own model says so from the first line on, also where the first turn fails', async () => {
    await addScript(world, [{ name: 'hi', reply: { text: 'hello' } }]);
    const config = { model: 'tester', provider: 'scripted', temperature: 0 };
    const tasks = [{ id: 'a', handler: 'chat_completion', execute_config: config }];
    const names = { model: 'tester', provider: 'scripted' };
    for (const [limit, backend, code] of [
      [0, 'script', 0],
      [10, null, 1],
    ] as const) {
      world.write('own.json', JSON.stringify({ id: 'own', token_limit: limit, tasks }));
      const ended = await world.run(['--output-format', 'stream-json', '--chain', 'own.json', 'hi '.repeat(40)]);
      const lines = ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string });
      expect(ended.code).toBe(code);
      expect(lines[0]).toMatchObject({ type: 'init', ...names, backend: 'script' });
      expect(lines[1]).toMatchObject({ type: 'chain_started', ...names });
      expect(lines.at(-1)).toMatchObject({ type: 'result', ...names, backend });
    }
  });

  test('stream-json has its first and last line when nothing could start', async () => {
    const { code, stdout } = await world.run(['--output-format', 'stream-json', 'run', '--chain', 'nosuch.json', 'hi']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual(['init', 'result']);
    expect([code, lines[1].exit_code, lines[1].error.class]).toEqual([3, 3, 'chain_not_found']);
  });
});

describe('trust', () => {
  beforeEach(async () => {
    world = await createProject({ apart: true });
  });

  test('an edited chain is inert until its hash is accepted', async () => {
    const path = join(world.workspace, '.reins', 'default-run-chain.json');
    world.write('.reins/default-run-chain.json', `${readFileSync(path, 'utf8')} `);
    const refused = await world.run([...scripted, 'hello there']);
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    const hash = /sha256 ([0-9a-f]{64})/.exec(refused.stderr)?.[1] ?? '';
    // Either line can be pasted whole.
    expect(refused.stderr).toBe(
      `reins: the chain ${path} is not trusted (sha256 ${hash})\n` +
        `  reins trust add ${path} --sha256 ${hash}\n` +
        `  reins --trust ${hash} --provider scripted 'hello there'\n`,
    );
    expect(await world.run([...scripted, '--trust', hash, 'hello there'])).toMatchObject({ code: 0, stdout: greeting });
    expect((await world.run([...scripted, '--trust', 'a'.repeat(64), 'hello there'])).code).toBe(3);
    expect((await world.run(['trust', 'add', path])).code).toBe(3);
    expect((await world.run(['trust', 'add', path, '--sha256', 'a'.repeat(64)])).code).toBe(3);
    expect((await world.run(['trust', 'add', path, '--sha256', hash])).stdout).toBe(`Trusted ${path} (${hash}).\n`);
    const again = await world.run(['trust', 'add', path, '--json']);
    expect(JSON.parse(again.stdout)).toEqual([{ kind: 'chain', path, sha256: hash, bytes: expect.any(Number) }]);
    expect(await world.run([...scripted, 'hello there'])).toMatchObject({ code: 0, stdout: greeting });
  });

  test('what waits is listed where there are no chains too, those of plans included', async () => {
    const empty = createWorld({ apart: true });
    try {
      const nothing = { code: 0, stdout: '', stderr: 'nothing waits for trust\n' };
      expect(await empty.run(['trust'])).toMatchObject(nothing);
      mkdirSync(join(empty.workspace, '.reins'), { mode: 0o700 });
      expect(await empty.run(['trust'])).toMatchObject(nothing);
      const policy = empty.write('.reins/hitl-policy.json', '{"rules":[]}');
      const planner = empty.write('.reins/chain-planner.json', echoChain);
      const agent = empty.write('AGENTS.md', 'Use tabs.');
      const { code, stdout } = await empty.run(['trust', '--json']);
      expect([code, JSON.parse(stdout)]).toMatchObject([
        3,
        [
          { kind: 'policy', path: policy },
          { kind: 'chain', path: planner },
          { kind: 'agent', path: agent },
        ],
      ]);
      const { issues } = JSON.parse((await empty.run(['doctor', '--skip-probe', '--json'])).stdout);
      const untrusted = issues.filter(({ code }: { code: string }) => code === 'content_untrusted');
      expect(untrusted).toMatchObject([
        { severity: 'warning', cliCommand: `reins trust add ${planner}` },
        { severity: 'error', cliCommand: `reins trust add ${policy}` },
      ]);
      // No run starts, so it is not ready.
      expect((await empty.run([...scripted, 'hello'])).code).toBe(3);
      expect((await empty.run(['doctor', '--skip-probe'])).code).toBe(1);
      const broken = empty.write('.reins/hitl-policy.json', '{"rules":[');
      const shown = JSON.parse((await empty.run(['trust', 'show', broken, '--json'])).stdout);
      const added = await empty.run(['trust', 'add', broken, '--sha256', shown.sha256]);
      expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining(`${broken} does not load: `) });
    } finally {
      empty.remove();
    }
  });

  test('decisions are listed, shown and taken back', async () => {
    const path = join(world.workspace, '.reins', 'default-run-chain.json');
    const { stdout } = await world.run(['trust', 'list']);
    expect(stdout.split('\n')[0]).toMatch(/^KIND +PATH +SHA256 +TRUSTED$/);
    expect(stdout).toMatch(new RegExp(`^chain +${path} +[0-9a-f]{64} +\\d{4}-\\d\\d-\\d\\dT\\S+Z$`, 'm'));
    expect(JSON.parse((await world.run(['trust', 'list', '--json'])).stdout)).toHaveLength(2);
    expect((await world.run(['trust', 'show', path])).stdout).toMatch(/\n {2}trusted \S+Z, by init\n$/);
    world.write('.reins/default-run-chain.json', readFileSync(path, 'utf8').replace('chain-run', 'chain-mine'));
    const changed = await world.run(['trust', 'show', '.reins/default-run-chain.json']);
    expect(changed.stdout).toMatch(/\n {2}changed: sha256 [0-9a-f]{64} was trusted \S+Z\n--- a/);
    expect(changed.stdout).toContain('\n-  "id": "chain-run",\n+  "id": "chain-mine",\n');
    expect(JSON.parse((await world.run(['trust', 'show', path, '--json'])).stdout)).toMatchObject({
      kind: 'chain',
      state: 'changed',
      trusted: null,
    });
    const removed = await world.run(['trust', 'remove', '.reins/default-run-chain.json']);
    expect(removed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^Removed trust in ${path} \\([0-9a-f]{64}\\)\\.\n$`),
    });
    expect((await world.run(['trust', 'show', path])).stdout).toContain('\n  untrusted: nothing at this place');
    expect(await world.run(['trust', 'remove', path])).toMatchObject({
      code: 1,
      stderr: `reins: nothing is trusted under ${path}\n  reins trust list\n`,
    });
  });
});
