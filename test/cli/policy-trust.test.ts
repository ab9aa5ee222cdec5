import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
let environment: Readonly<Record<string, string>>;
beforeEach(async () => {
  world = await createProject();
  environment = { PATH: `${join(world.dir, 'bin')}:${process.env['PATH']}` };
  mkdirSync(join(world.dir, 'bin'));
});
afterEach(() => world.remove());

/** A program of this system under another name, outside the workspace. */
function program(name: string, source: string): string {
  const path = join(realpathSync(world.dir), 'bin', name);
  copyFileSync(realpathSync(source), path);
  chmodSync(path, 0o755);
  return path;
}
const document = (): string => join(world.home, '.reins', 'hitl-policy.json');
function policy(value: unknown): void {
  writeFileSync(document(), JSON.stringify(value, null, 2), { mode: 0o600 });
}
const granting = {
  default_action: 'approve',
  rules: [
    {
      tools: 'local_shell',
      action: 'allow',
      when: [{ op: 'command_prefix_allowlist', value: 'tool, tool canary' }],
    },
  ],
};
const declared = (): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(document(), 'utf8')).trusted_binaries?.hashes ?? {});
const reins = (...argv: readonly string[]) => world.run(argv, { environment });
const call = async (command: string) => {
  const result = await reins('run', ...tester, '--shell', '--on-ask', 'deny', '--json', command);
  return JSON.parse(result.stdout) as { readonly result: string; readonly permission_denials: readonly unknown[] };
};

describe('policy trust', () => {
  it('declares programs in the policy of the user, lists them and takes them back', async () => {
    const tool = program('tool', '/bin/echo');
    policy(granting);
    const first = await reins('policy', 'trust', 'tool', 'nosuch');
    expect(first).toMatchObject({ code: 1, stdout: expect.stringMatching(/^declared \S+\/bin\/tool [0-9a-f]{64}\n$/) });
    expect(first.stderr).toContain('there is no program nosuch');
    expect(first.stderr).toContain('grant only the programs that it declares');
    expect(await reins('policy', 'trust', 'tool')).toMatchObject({ code: 0, stdout: `unchanged ${tool}\n` });
    const rows = JSON.parse((await reins('policy', 'trust', '--list', '--json')).stdout);
    expect(rows).toMatchObject({ schema_version: 1, programs: [{ path: tool, state: 'ok' }] });
    program('tool', '/usr/bin/touch');
    expect((await reins('policy', 'trust', '--list')).stdout).toMatch(/bin\/tool +[0-9a-f]{64} +mismatch/);
    expect((await reins('doctor')).stdout).toContain(`trusted_binary_drift: The policy ${document()} trusts ${tool}`);
    expect((await reins('policy', 'trust', '--refresh')).stdout).toMatch(
      /^re-declared \S+\/bin\/tool [0-9a-f]{64} -> [0-9a-f]{64}\n$/,
    );
    expect(await reins('policy', 'trust', '--remove', 'tool')).toMatchObject({ code: 0, stdout: `removed ${tool}\n` });
    expect(declared()).toEqual([]);
  });

  it('keeps both entries of two that run at once', async () => {
    const paths = ['a', 'b'].map((name) => program(name, '/bin/echo'));
    policy(granting);
    await Promise.all([reins('policy', 'trust', 'a'), reins('policy', 'trust', 'b')]);
    expect([...declared()].sort()).toEqual(paths);
  });

  it('wants one way and a name, refuses a built-in policy, and is not for tools', async () => {
    expect(await reins('policy', 'trust')).toMatchObject({ code: 2 });
    expect(await reins('policy', 'trust', '--list', '--refresh')).toMatchObject({ code: 2 });
    expect(await reins('policy', 'trust', '--list', 'git')).toMatchObject({ code: 2 });
    const builtin = await reins('policy', 'trust', 'sh');
    expect(builtin).toMatchObject({ code: 1, stdout: '' });
    expect(builtin.stderr).toContain('reins policy show default > ~/.reins/hitl-policy.json');
    const inside = await world.run(['policy', 'trust', 'sh'], {
      environment: { ...environment, REINS_RUN_ID: 'run_1' },
    });
    expect(inside).toMatchObject({ code: 5 });
  });
});

describe('a run under a policy with trusted binaries', () => {
  const canary = (): string => join(world.workspace, 'canary');
  const calling = (command: string) =>
    addScript(world, [
      {
        name: 'ask',
        match: { role: 'user' },
        reply: { text: 'I run it.', tool_calls: [{ name: 'local_shell.local_shell', arguments: { command } }] },
      },
      { name: 'said', match: { tool: { content: '"stdout":"canary' } }, reply: { text: 'It said canary.' } },
      { name: 'other', match: { role: 'tool' }, reply: { text: 'It did not run.' } },
    ]);

  it.each(['tool canary', 'tool'])('starts what was declared, and not what was put in its place', async (command) => {
    // The script says the word itself where it is given none.
    if (command === 'tool') writeFileSync(program('tool', '/bin/echo'), '#!/bin/sh\necho canary\n');
    else program('tool', '/bin/echo');
    await calling(command);
    policy(granting);
    await reins('policy', 'trust', 'tool');
    expect(await call(command)).toMatchObject({ result: 'It said canary.', permission_denials: [] });

    if (command === 'tool') writeFileSync(program('tool', '/bin/echo'), '#!/bin/sh\n: >  canary\n');
    else program('tool', '/usr/bin/touch');
    expect(await call(command)).toMatchObject({ result: 'It did not run.' });
    expect(existsSync(canary())).toBe(false);
  });
});
