import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cliEnvironment, program } from '../support/run-cli.ts';
import { createProject, scripted, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

/** Whether a process may have mounts of its own here. */
const mounts = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** Runs the program where the user's directory lies on a file system that takes no writes. */
const readOnly = (...argv: readonly string[]) => {
  const home = join(world.home, '.reins');
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  return spawnSync('unshare', ['-m', 'sh', '-c', script, home, process.execPath, program, ...argv], {
    cwd: world.workspace,
    env: { ...cliEnvironment(world) },
    encoding: 'utf8',
    input: '',
  });
};

test.skipIf(!mounts)(
  'where the home takes no writes, lists are shown, and what would write there says so',
  async () => {
    expect((await world.run([...scripted, 'hello'])).code).toBe(0);
    for (const argv of [
      ['session', 'list'],
      ['state', 'list'],
      ['policy', 'list'],
      ['chain', 'list'],
      ['backend', 'list'],
      ['approvals', 'list'],
      ['config', 'list'],
      ['plan', 'list'],
      ['trust', 'list'],
    ]) {
      const { status, stderr } = readOnly(...argv);
      expect([argv.join(' '), status, stderr]).toEqual([argv.join(' '), 0, expect.not.stringContaining('reins: ')]);
    }
    for (const argv of [
      ['trust', 'add', '.reins/default-chain.json'],
      ['config', 'set', 'shell', 'true'],
    ]) {
      const { status, stderr } = readOnly(...argv);
      expect([argv.join(' '), status, stderr]).toEqual([
        argv.join(' '),
        3,
        expect.stringContaining(join(world.home, '.reins')),
      ]);
    }
  },
);
