import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = createWorld();
  await world.run(['init']);
});
afterEach(() => world.remove());

const policy = JSON.stringify({
  rules: [
    { tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: 'private/**' }] },
    { tools: 'local_fs', tool: 'read_file', action: 'allow' },
    { tools: 'echo', action: 'allow' },
  ],
});
const read = (path: string) => ({ tools: 'local_fs', tool: 'read_file', args: { path } });
const cases = (...list: readonly unknown[]) => JSON.stringify({ policy: './mine.json', cases: list });

describe('policy test', () => {
  test('says which cases hold, what came instead, and which rules nobody matched', async () => {
    world.write('policies/mine.json', policy);
    const path = world.write(
      'policies/mine.policy-test.json',
      cases(
        { name: 'reads a note', call: read('a.md'), expect: { action: 'allow', rule: 1 } },
        { name: 'keeps out', call: read('private/x'), expect: { action: 'deny', rule: 0, detail_contains: 'private' } },
        { name: 'writes', call: { tools: 'local_fs', tool: 'sed' }, expect: { action: 'approve', rule: 'default' } },
        { name: 'is wrong', call: read('private/x'), expect: { action: 'allow', rule: 1 } },
      ),
    );
    const { code, stdout } = await world.run(['policy', 'test']);
    expect([code, stdout]).toEqual([
      1,
      [
        path,
        '  ok reads a note',
        '  ok keeps out',
        '  ok writes',
        '  FAIL is wrong: expected allow by rule 2, got deny by rule 1 (path private/x matches private/**)',
        '3 passed, 1 failed',
        `${world.workspace}/policies/mine.json: no case matched 1 of 3 rules: 3`,
        '',
      ].join('\n'),
    ]);
    const json = await world.run(['policy', 'test', path, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      schema_version: 1,
      passed: 3,
      failed: 1,
      coverage: [{ rules: 3, uncovered: [2] }],
    });
  });

  test('judges on the host that a case describes', async () => {
    const file = {
      policy: 'default',
      cases: [
        {
          name: 'a program of that host',
          call: { tools: 'local_shell', args: { command: 'tail' } },
          host: { workspace: '/w', home: '/h', programs: ['tail'], programs_dir: '/usr/bin' },
          expect: { action: 'allow', detail_contains: 'tail' },
        },
        {
          name: 'a program that it does not have',
          call: { tools: 'local_shell', args: { command: 'tail' } },
          host: { workspace: '/w', programs: [] },
          expect: { action: 'approve', detail_contains: 'does not resolve' },
        },
        {
          name: 'a folding file system',
          call: { tools: 'local_fs', tool: 'read_file', args: { path: '/h/.SSH/x' } },
          host: { case_insensitive_paths: true },
          expect: { action: 'deny', rule: 0 },
        },
      ],
    };
    world.write('host.policy-test.json', JSON.stringify(file));
    const { stdout } = await world.run(['policy', 'test', 'host.policy-test.json']);
    expect(stdout).toContain('3 passed, 0 failed\n');
  });

  test('reports every defect of a file with its place, and exits 3', async () => {
    const path = world.write(
      'bad.policy-test.json',
      JSON.stringify({
        polcy: 'x',
        cases: [
          { name: 'a', call: { tools: 'echo', arg: {} }, expect: { action: 'alow', rule: -1 } },
          { name: 'b', expect: { action: 'allow' } },
        ],
      }),
    );
    const { code, stdout } = await world.run(['policy', 'test', path]);
    expect([code, stdout]).toEqual([
      3,
      [
        `FAIL ${path}`,
        '  error $.polcy: is not a member here; known are policy, cases [unknown_member]',
        '  error $.cases[0].call.arg: is not a member here; known are tools, tool, args, cwd [unknown_member]',
        '  error $.cases[0].expect.action: is "alow"; write allow, deny or approve [bad_action]',
        '  error $.cases[0].expect.rule: must be an index from 0, or "default" [wrong_type]',
        '  error $.cases[1].call: is missing [missing_member]',
        '0 passed, 0 failed',
        '',
      ].join('\n'),
    ]);
  });

  test('a policy that would not be used fails the file, and the others are run', async () => {
    world.write('mine.json', '{"rules":1}');
    world.write('a.policy-test.json', cases());
    world.write('sub/b.policy-test.json', JSON.stringify({ policy: 'nosuch', cases: [] }));
    world.write('sub/c.policy-test.json', JSON.stringify({ policy: 'open', cases: [] }));
    world.write('node_modules/d.policy-test.json', '{');
    world.write('1/2/3/4/5/e.policy-test.json', '{');
    const { code, stdout } = await world.run(['policy', 'test']);
    expect(code).toBe(3);
    expect(stdout).toContain(`$.policy: The policy ${world.workspace}/mine.json is not valid: must be a list`);
    expect(stdout).toContain('$.policy: no policy named "nosuch"');
    expect(stdout).toContain('open: no case matched 47 of 47 rules: 1-47');
    expect(stdout).not.toContain('e.policy-test.json');
    expect(stdout).not.toContain('node_modules');
  });

  test('says when there is nothing to test, and when a named file is not there', async () => {
    const none = await world.run(['policy', 'test']);
    expect([none.code, none.stdout, none.stderr]).toEqual([
      0,
      '0 passed, 0 failed\n',
      'no *.policy-test.json in the overlay or the project\n',
    ]);
    const missing = await world.run(['policy', 'test', 'x.policy-test.json']);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      `reins: there is no test file ${world.workspace}/x.policy-test.json\n  reins policy test\n`,
    ]);
  });
});
