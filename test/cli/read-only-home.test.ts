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

/** Runs the program where a file or a directory lies on a file system that takes no writes. */
const withReadOnly = (path: string, ...argv: readonly string[]) => {
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  return spawnSync('unshare', ['-m', 'sh', '-c', script, path, process.execPath, program, ...argv], {
    cwd: world.workspace,
    env: { ...cliEnvironment(world) },
    encoding: 'utf8',
    input: '',
  });
};
const readOnly = (...argv: readonly string[]) => withReadOnly(join(world.home, '.reins'), ...argv);

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

test.skipIf(!mounts)(
  'doctor says of tools what a database that takes no writes does to them, and all the rest',
  async () => {
    const server = join(import.meta.dirname, '../support/bad-mcp-server.mjs');
    const command = ['--command', process.execPath, '--arg', server, '--arg', 'plain'];
    expect((await world.run(['mcp', 'add', 'good', ...command])).code).toBe(0);
    const spec = world.write(
      'spec.json',
      JSON.stringify({ openapi: '3.0.0', info: { title: 'a', version: '1' }, paths: {} }),
    );
    expect((await world.run(['hook', 'add', 'service', '--url', 'http://127.0.0.1:9', '--spec', spec])).code).toBe(0);
    const { status, stdout, stderr } = withReadOnly(join(world.workspace, '.reins/local.db'), 'doctor', '--json');
    expect([status, stderr]).toEqual([1, '']);
    const { toolSources } = JSON.parse(stdout);
    const error = expect.stringContaining('local.db cannot be opened for writing');
    expect(toolSources).toMatchObject([
      { name: 'service', state: 'error', error },
      { name: 'good', state: 'error', error },
    ]);
  },
);
