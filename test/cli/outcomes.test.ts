import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program, startCli } from '../support/run-cli.ts';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
const read = { name: 'local_fs.read_file', arguments: { path: 'a.txt' } };
const write = { name: 'local_fs.write_file', arguments: { path: 'new.txt', content: 'hello\n' } };
const shell = (command: string, ...args: string[]) => ({
  name: 'local_shell.local_shell',
  arguments: { command, args },
});
const inside = [program, 'config', 'set', 'default-model', 'other'];
const turn = (name: string, tool_calls: readonly unknown[]) => ({
  name,
  match: { role: 'user', last_user: { equals: name } },
  reply: { text: 'I will.', tool_calls },
});

beforeAll(async () => {
  world = await createProject();
  world.write('a.txt', 'hello\n');
  chmodSync(
    world.write('script', `#!/bin/sh\n"${process.execPath}" ${inside.map((word) => `"${word}"`).join(' ')}\n`),
    0o755,
  );
  chmodSync(
    world.write(
      'unmarked',
      `#!/bin/sh\nenv -u REINS_RUN_ID "${process.execPath}" "${program}" init --force\necho "exit $?"\n`,
    ),
    0o755,
  );
  await addScript(world, [
    turn('one', [read]),
    turn('two', [read, read]),
    turn('mixed', [read, write]),
    turn('write', [write]),
    // What a script does is not seen by the gate.
    turn('inside', [shell('./script')]),
    turn('unmarked', [shell('./unmarked')]),
    turn('plain', [shell(process.execPath, ...inside)]),
    { name: 'boom', match: { last_user: { equals: 'boom' } }, reply: { error: { class: 'auth', message: 'no' } } },
    ...(['timeout', 'no_tool_support', 'content_filter', 'quota'] as const).map((name) => ({
      name,
      match: { last_user: { equals: name } },
      reply: { error: { class: name, message: 'no' } },
    })),
    {
      name: 'forged',
      match: { last_user: { equals: 'forged' } },
      reply: { error: { class: 'auth', message: 'no\r\n  reins: all is well' } },
    },
    { name: 'long', match: { last_user: { equals: 'long' } }, reply: { text: 'It was', finish: 'length' } },
    { name: 'end', match: { role: 'tool' }, reply: { text: 'done' } },
  ]);
});
afterAll(() => world.remove());

const run = (...argv: string[]) => world.run([...tester, ...argv]);
const object = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout);

describe('bounds', () => {
  test('a second call beyond --max-tool-calls 1 ends the run with exit 6, where nobody can be asked for more', async () => {
    const { code, stdout, stderr } = await run('--on-ask', 'deny', '--max-tool-calls', '1', 'two');
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(
      /^reins: denied engine\.extend_budget .*\nreins: task run_tools: compute bound exhausted: maxToolCalls 1\/1 \(compute_exhausted\)\n$/,
    );
    expect((await run('--max-tool-calls', '2', 'two')).code).toBe(0);
  });

  test('a bound that leaves the model a last word gives it, and says what ended the run all the same', async () => {
    const argv = ['--policy', 'open', '--max-tool-calls', '1', 'two'];
    expect(await run(...argv)).toMatchObject({
      code: 6,
      stdout: 'done\n',
      stderr: "reins: compute bound exhausted: maxToolCalls; the answer is the model's last word (compute_exhausted)\n",
    });
    expect(await object(...argv)).toMatchObject({
      subtype: 'error_bound',
      result: 'done',
      num_tool_calls: 1,
      error: { class: 'compute_exhausted' },
      exit_code: 6,
    });
  });

  test('a flag never widens the bound of the policy', async () => {
    world.write('p.json', '{"default_action": "allow", "rules": [], "compute": {"maxToolCalls": 1}}');
    const { code, stderr } = await run('--policy', './p.json', '--max-tool-calls', '100', 'two');
    expect([code, stderr]).toEqual([
      6,
      'reins: task run_tools: compute bound exhausted: maxToolCalls 1/1 (compute_exhausted)\n',
    ]);
  });

  test('--max-turns counts turns of the model', async () => {
    expect(await object('--on-ask', 'deny', '--max-turns', '1', 'one')).toMatchObject({
      subtype: 'error_max_turns',
      exit_code: 6,
    });
    expect((await run('--max-turns', '2', 'one')).code).toBe(0);
  });
});

describe('denials', () => {
  test('one that the model is told about leaves exit 0 when a tool ran, and 5 with --fail-on-denial', async () => {
    expect(await run('--on-ask', 'deny', 'mixed')).toMatchObject({ code: 0, stdout: 'done\n' });
    const { code, stdout, stderr } = await run('--on-ask', 'deny', '--fail-on-denial', 'mixed');
    expect([code, stdout]).toEqual([5, 'done\n']);
    expect(stderr).toContain('reins: a tool call was denied (--fail-on-denial) (denied)\n');
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
  });

  test('a failure of the provider is exit 7 whatever was denied before', async () => {
    const { code, stderr } = await run('--fail-on-denial', 'boom');
    expect([code, stderr]).toEqual([
      7,
      'reins: task work failed after 1 attempt: no (model tester, backend script) (auth)\n' +
        '  reins backend update script --api-key-env <NAME>\n',
    ]);
  });
});

test.each([
  ['timeout', '1 attempt and 3 retries', 7, 'reins backend test script'],
  ['no_tool_support', '1 attempt', 1, 'reins model list'],
])('a model call that fails with %s says what to do next', async (name, tries, code, hint) => {
  const ended = await run(name);
  expect([ended.code, ended.stderr.split('\n')]).toEqual([
    code,
    [`reins: task work failed after ${tries}: no (model tester, backend script) (${name})`, `  ${hint}`, ''],
  ]);
  const result = await object(name);
  expect(result).toMatchObject({
    exit_code: code,
    error: { class: name },
    steps: [{ error: { class: name } }],
  });
  const shown = await world.run(['state', 'show', result.run_id, '--json']);
  expect(JSON.parse(shown.stdout).error.class).toBe(name);
});

test.each(['content_filter', 'quota'])(
  'a model call that fails with %s advises no test, which would pass',
  async (name) => {
    expect(await run(name)).toMatchObject({
      code: 7,
      stderr: 'reins: task work failed after 1 attempt: no (model tester, backend script) (permanent)\n',
    });
  },
);

test('what a server says of a failure stays in the one line', async () => {
  expect((await run('forged')).stderr).toBe(
    'reins: task work failed after 1 attempt: no reins: all is well (model tester, backend script) (auth)\n' +
      '  reins backend update script --api-key-env <NAME>\n',
  );
});

test('the object has the warnings that stderr has', async () => {
  const { stdout, stderr } = await run('long', '--json');
  const { warnings } = JSON.parse(stdout);
  expect(warnings).toEqual(['The answer was cut by the output limit; raise max_tokens for a longer one.']);
  expect(stderr).toBe(`reins: warning: ${warnings[0]}\n`);
});

test('a run that failed once more reports both failures, the first one first', async () => {
  const model = { handler: 'chat_completion', execute_config: { model: 'tester' } };
  world.write(
    'twice.json',
    JSON.stringify({
      id: 'c',
      tasks: [
        { id: 'first', ...model, transition: { on_failure: 'second' } },
        { id: 'second', ...model },
      ],
    }),
  );
  const message = (task: string) => `task ${task} failed after 1 attempt: no (model tester, backend script)`;
  const both = `${message('first')}; then ${message('second')}`;
  expect((await run('--chain', 'twice.json', 'boom')).stderr.split('\n')[0]).toBe(`reins: ${both} (auth)`);
  expect((await object('--chain', 'twice.json', 'boom')).error).toMatchObject({ class: 'auth', message: both });
});

describe('policies', () => {
  test('a broken one makes even reading ask, and names file, place and defect', async () => {
    const path = world.write('broken.json', '{"default_action": "alow", "rules": []}');
    const { code, stderr } = await run('--on-ask', 'deny', '--policy', './broken.json', 'one');
    expect(code).toBe(5);
    expect(stderr).toContain(
      `reins: warning: policy ${path}: $.default_action: is "alow"; write allow, deny or approve [bad_action]\n` +
        `reins: warning: this policy is not used: every tool call will ask until it is fixed (reins policy vet ${path})\n`,
    );
    expect(stderr).toContain('reins: denied local_fs.read_file a.txt');
    expect(await object('--on-ask', 'deny', '--policy', './broken.json', 'one')).toMatchObject({
      policy: { path, state: 'invalid', sha256: null },
      permission_denials: [{ tool: 'read_file' }],
    });
  });

  test('a name that is found nowhere stops every run, wherever it was given', async () => {
    const names = 'available: ask-always, auto-edit, default, open, read-only, strict';
    const line = `reins: no policy named "nosuch"; ${names}\n`;
    const hint = '  reins policy list\n';
    expect(await run('--policy', 'nosuch', 'hi')).toMatchObject({ code: 3, stdout: '', stderr: `${line}${hint}` });
    const environment = { REINS_POLICY: 'nosuch' };
    const stderr = `${line}  unset REINS_POLICY\n${hint}`;
    expect(await world.run(['hi'], { environment })).toMatchObject({ code: 3, stdout: '', stderr });
    const looked = await world.run(['doctor', '--skip-probe', '--json'], { environment });
    expect(JSON.parse(looked.stdout)).toMatchObject({
      hitlPolicyName: 'nosuch',
      issues: expect.arrayContaining([
        expect.objectContaining({ code: 'policy_missing', cliCommand: 'reins policy list' }),
      ]),
    });
    await world.run(['config', 'set', 'hitl-policy-name', 'nosuch']);
    const configured = await world.run(['hi']);
    expect([configured.code, configured.stderr]).toEqual([3, `${line}  reins config unset hitl-policy-name\n`]);
    const doctor = JSON.parse((await world.run(['doctor', '--skip-probe', '--json'])).stdout);
    expect(doctor.issues).toContainEqual(
      expect.objectContaining({ code: 'policy_missing', severity: 'error', subject: 'nosuch' }),
    );
    await world.run(['config', 'unset', 'hitl-policy-name']);
  });
});

test('a tool child that calls the program is refused with exit 5 and changes nothing, approved or not', async () => {
  const started = startCli(world, [...tester, '--on-ask', 'wait', '--shell', '--json', 'inside']);
  started.child.stdin.end();
  await started.saw('waiting for approval ');
  const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
  expect((await world.run(['approvals', 'respond', asks[0].id, '--approve'])).code).toBe(0);
  const { code, stdout } = await started.ended;
  expect(code).toBe(0);
  const answer = JSON.parse(stdout).output.messages.find((message: { role: string }) => message.role === 'tool');
  expect(JSON.parse(answer.content)).toMatchObject({
    exit_code: 5,
    stderr: 'reins: refused: "config set" was called from inside a tool run\n',
  });
  expect((await world.run(['config', 'get', 'default-model'])).stdout).toBe('demo\n');
});

test('so is one that opens no database and has taken the marker out of its environment', async () => {
  const chain = join(world.workspace, '.reins/default-run-chain.json');
  const before = readFileSync(chain, 'utf8');
  const policy = world.write('allow.json', '{"default_action":"allow","rules":[]}');
  const { output } = await object('--policy', policy, '--shell', 'unmarked');
  const answer = output.messages.find((message: { role: string }) => message.role === 'tool');
  expect(JSON.parse(answer.content)).toMatchObject({
    stdout: 'exit 5\n',
    stderr: 'reins: refused: "init" was called from inside a tool run\n',
  });
  expect([readFileSync(chain, 'utf8'), existsSync(`${chain}.bak`)]).toEqual([before, false]);
  const { stdout } = await world.run(['audit', 'list', '--type', 'self_approval_attempt', '--json']);
  expect(stdout).toContain('"command":"init"');
});

test('a call that is such a command is denied, and nobody is asked', async () => {
  const { code, stdout } = await run('--policy', 'open', '--shell', '--json', 'plain');
  const { output, asks } = JSON.parse(stdout);
  const answer = output.messages.find((message: { role: string }) => message.role === 'tool');
  expect([code, asks, JSON.parse(answer.content)]).toMatchObject([
    0,
    [],
    { ok: false, error: 'denied', by: 'policy', reason: 'control_plane' },
  ]);
});
