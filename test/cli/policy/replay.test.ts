import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
  await addScript(world, writingTurns);
  // One call that asked and was denied because nobody could be asked.
  await world.run([...tester, '--on-ask', 'deny', 'go']);
});
afterEach(() => world.remove());

const footer = (stdout: string) => stdout.trimEnd().split('\n').at(-1);
const allowing = '{"rules":[{"tools":"local_fs","tool":"write_file","action":"allow"}]}';

describe('policy replay', () => {
  test('shows what another policy would have decided, and what was decided then', async () => {
    const path = world.write('wide.json', allowing);
    const { code, stdout } = await world.run(['policy', 'replay', path]);
    expect(code).toBe(0);
    const [head, row, last] = stdout.trimEnd().split('\n');
    expect(head?.split(/\s{2,}/)).toEqual(['TIME', 'TOOL', 'SUMMARY', 'WAS', 'NOW', 'RULE']);
    expect(row?.split(/\s{2,}/).slice(1)).toEqual([
      'local_fs.write_file',
      'new.txt',
      'approve, denied by system:on-ask-deny',
      'allow',
      '1',
    ]);
    expect(last).toBe('checked 1, tightened 0, widened 1, unchanged 0, not comparable 0');
  });

  test('does not take one of two policies in silence, nor do show and vet', async () => {
    for (const command of ['replay', 'show', 'vet']) {
      expect(await world.run(['policy', command, 'strict', '--policy', 'open'])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^reins: the policy is given twice, as "strict" and as --policy open\n/),
      });
    }
    const environment = { REINS_POLICY: 'open' };
    expect(await world.run(['policy', 'show', 'strict', '--path'], { environment })).toMatchObject({
      code: 0,
      stdout: 'builtin strict\n',
    });
  });

  test('fails on what it is told to fail on', async () => {
    const wide = world.write('wide.json', allowing);
    const narrow = world.write('narrow.json', '{"default_action":"deny"}');
    const codeOf = async (...words: readonly string[]) => (await world.run(['policy', 'replay', ...words])).code;
    expect(await codeOf(wide, '--fail-on', 'widened')).toBe(1);
    expect(await codeOf('--policy', narrow, '--fail-on', 'widened')).toBe(0);
    expect(await codeOf(narrow, '--fail-on', 'changed')).toBe(1);
    expect(await codeOf('default', '--fail-on', 'changed')).toBe(0);
  });

  test('takes only the calls that were meant', async () => {
    const counted = async (...flags: readonly string[]) =>
      footer((await world.run(['policy', 'replay', 'strict', ...flags])).stdout)?.split(',')[0];
    expect(await counted()).toBe('checked 1');
    expect(await counted('--tools', 'local_fs')).toBe('checked 1');
    expect(await counted('--tools', 'web')).toBe('checked 0');
    await world.run(['session', 'new', 'quiet']);
    expect(await counted('--session', 'quiet')).toBe('checked 0');
    expect(
      await world.run(['policy', 'replay', 'strict', '--fail-on', 'widened', '--session', 'nosuch']),
    ).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'reins: There is no session "nosuch".\n  reins session list\n',
    });
    expect(await counted('--since', '2w')).toBe('checked 1');
  });

  test('counts what cannot be compared: secrets that are masked, programs that are gone', async () => {
    await addGone(world);
    const { stdout } = await world.run(['policy', 'replay', 'strict', '--tools', 'local_shell', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ schema_version: 1, checked: 1, not_comparable: 1, changes: [] });
  });

  test('wants a policy, one that is there, and one that is valid', async () => {
    const none = await world.run(['policy', 'replay']);
    expect([none.code, none.stderr]).toEqual([
      2,
      'reins: say which policy the recorded calls are put to\n  reins policy replay strict\n  reins policy list\n',
    ]);
    expect((await world.run(['policy', 'replay', 'nosuch'])).code).toBe(3);
    const path = world.write('bad.json', '{"rules":1}');
    const bad = await world.run(['policy', 'replay', path]);
    expect([bad.code, bad.stderr]).toEqual([
      3,
      `reins: The policy ${path} is not valid: must be a list, not a number at ${path}:$.rules\n  reins policy vet ${path}\n`,
    ]);
  });
});

/** A run with a program of its own, which is removed then. */
async function addGone(here: World): Promise<void> {
  const { chmodSync, rmSync } = await import('node:fs');
  const program = here.write('../bin/gone', '#!/bin/sh\necho hi\n');
  chmodSync(program, 0o755);
  const environment = { PATH: `${here.dir}/bin:${process.env['PATH'] ?? ''}` };
  await here.run(['backend', 'remove', 'script']);
  await addScript(here, [
    {
      name: 'start',
      match: { role: 'user' },
      reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: 'gone' } }] },
    },
    { name: 'after', match: { role: 'tool' }, reply: { text: 'ok' } },
  ]);
  await here.run([...tester, '--shell', '--on-ask', 'deny', 'go'], { environment });
  rmSync(program);
}
