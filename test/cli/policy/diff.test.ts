import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const diff = async (...words: readonly string[]) => world.run(['policy', 'diff', ...words]);

describe('policy diff', () => {
  test('claims no more than that it saw no difference', async () => {
    const { code, stdout } = await diff('default', 'default', '--fail-on-widening');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^no difference on \d+ calls\n$/);
    world.write('copy.json', (await world.run(['policy', 'show', 'default'])).stdout);
    expect((await diff('default', './copy.json')).stdout).toMatch(/^no difference on \d+ calls\n$/);
  });

  test('lists what the second permits beyond the first, first, with both rules', async () => {
    const { code, stdout } = await diff('default', 'open', '--fail-on-widening');
    expect(code).toBe(1);
    const rows = stdout.split('\n').filter((line) => /^(widened|tightened) +\S+\./.test(line));
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.every((row) => row.startsWith('widened'))).toBe(true);
    expect(rows.find((row) => row.includes('local_fs.write_file src/a.ts'))).toMatch(
      /^widened +local_fs\.write_file src\/a\.ts +example +approve \(rule 63\) +allow \(default\)$/,
    );
    expect((await diff('open', 'default', '--fail-on-widening')).code).toBe(0);
  });

  test('makes a call of each glob, entry, host and plain operand of both documents', async () => {
    const rules = [
      {
        tools: 'local_fs',
        tool: 'read_file',
        action: 'deny',
        when: [{ key: 'path', op: 'glob', value: 'a/{b,c}/*.x' }],
      },
      { tools: 'hook', tool: 'send', action: 'deny', when: [{ key: '/to/name', op: 'eq', value: 'eve' }] },
      { tools: 'web', action: 'deny', when: [{ key: 'url', op: 'host', value: 'h.test,*.g.test' }] },
      {
        tools: 'local_shell',
        action: 'deny',
        when: [{ key: 'command', op: 'command_prefix_allowlist', value: 'frob run' }],
      },
    ];
    world.write('a.json', JSON.stringify({ default_action: 'approve' }));
    world.write('b.json', JSON.stringify({ default_action: 'approve', rules }));
    const { stdout } = await diff('./a.json', './b.json', '--json');
    const { schema_version: version, differences, structure } = JSON.parse(stdout);
    expect(version).toBe(1);
    expect(structure.added).toHaveLength(4);
    type Call = { from: string; tools: string; args: unknown; change: string; b: { rule: number } };
    const made = differences.filter(({ from }: Call) => from === 'rule');
    expect(made.map(({ args, b }: Call) => [b.rule, args])).toEqual([
      [0, { path: 'a/b/example.x' }],
      [0, { path: 'a/c/example.x' }],
      [1, { to: { name: 'eve' } }],
      [2, { url: 'https://h.test/' }],
      [2, { url: 'https://sub.g.test/' }],
      [3, { command: 'frob run' }],
      [3, { command: 'frob run example' }],
    ]);
    expect(differences.every(({ change }: Call) => change === 'tightened')).toBe(true);
  });

  test('asks about the calls of the past too', async () => {
    await addScript(world, writingTurns);
    await world.run([...tester, '--on-ask', 'deny', 'go']);
    const { stdout } = await diff('default', 'auto-edit');
    expect(stdout).toMatch(
      /\nwidened +local_fs\.write_file new\.txt +recorded +approve \(rule 63\) +allow \(rule 63\)\n/,
    );
  });

  test('refuses a missing word and a document that does not load', async () => {
    const { code, stderr } = await diff('default');
    expect([code, stderr]).toEqual([2, 'reins: "policy diff" needs <b>\n  reins policy diff --help\n']);
    world.write('bad.json', '{');
    expect((await diff('default', './bad.json')).code).toBe(3);
  });
});
