import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtAt } from '../support/built-at.ts';
import { startService } from '../support/service.ts';
import { addScript, createProject, scripted, tester, type World } from './world.ts';

// Amendment 6: what a command loads is what its start-up costs, so a package more is a decision and not an accident.
describe('the packages that a command loads', () => {
  let world: World;
  beforeAll(async () => {
    world = await createProject();
  });
  afterAll(() => world.remove());

  /** Of the main thread: the environment of a pool thread is empty, so nothing is listed there. */
  const packagesOf = async (...argv: readonly string[]) => {
    const list = world.write(`../loaded-${argv[0]}-${argv.length}`, '');
    const hook = fileURLToPath(new URL('../support/list-code.cjs', import.meta.url));
    const { code } = await world.run(argv, {
      environment: { NODE_OPTIONS: `--require=${hook}`, LOADED_CODE: list },
    });
    expect(code).toBe(0);
    const held: Record<string, readonly string[]> = JSON.parse(readFileSync(join(builtAt, 'packages.json'), 'utf8'));
    const files = readFileSync(list, 'utf8')
      .trim()
      .split('\n')
      .filter((file) => !file.startsWith('node:'));
    const outside = files.map((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
    const inside = files.filter((file) => file.startsWith(builtAt)).flatMap((file) => held[basename(file)] ?? []);
    return { files: files.length, packages: [...new Set([...outside, ...inside])].filter(Boolean).sort() };
  };

  it('are none for version and help, which read nothing but the entry point', async () => {
    expect(await packagesOf('version')).toEqual({ files: 1, packages: [] });
    expect(await packagesOf('--version')).toEqual({ files: 1, packages: [] });
    expect(await packagesOf('--help')).toEqual({ files: 1, packages: [] });
  });

  it('are few for a listing', async () => {
    expect((await packagesOf('session', 'list')).packages).toEqual(['@noble/hashes', 'better-sqlite3', 'superstruct']);
  });

  it('are the same few where tool servers are registered', async () => {
    await world.run(['mcp', 'add', 'quiet', '--command', 'true', '--no-probe']);
    expect((await packagesOf('session', 'list')).packages).toEqual(['@noble/hashes', 'better-sqlite3', 'superstruct']);
    await world.run(['mcp', 'remove', 'quiet']);
  });

  it('are those of the run for a run', async () => {
    const withoutFlags = ['@noble/hashes', 'better-sqlite3', 'eventsource-parser', 'piscina', 'superstruct'];
    expect((await packagesOf('run', 'hello')).packages).toEqual(withoutFlags);
    expect((await packagesOf('run', 'hello', ...scripted)).packages).toEqual([...withoutFlags, 'meow'].sort());
  });

  it('are no more when a service is registered, as long as none of its tools is called', async () => {
    const service = await startService({ openapi: '3.0.3', paths: { '/it': { get: {} } } });
    try {
      await world.run(['hook', 'add', 'svc', '--url', service.url]);
      const withoutCalls = ['@noble/hashes', 'better-sqlite3', 'eventsource-parser', 'piscina', 'superstruct'];
      expect((await packagesOf('run', 'hello')).packages).toEqual(withoutCalls);
      await world.run(['hook', 'remove', 'svc']);
    } finally {
      await service.close();
    }
  });

  it('hold the grammar of the shell only once a line needs it', async () => {
    const turn = (name: string, command: string) => ({
      name,
      match: { role: 'user', last_user: { equals: name } },
      reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command } }] },
    });
    const end = { name: 'end', match: { role: 'tool' }, reply: { text: 'done' } };
    await addScript(world, [turn('simple', 'ls -la'), turn('joined', 'ls && ls'), end]);
    const run = async (text: string) => (await packagesOf('run', text, '--shell', ...tester)).packages;
    expect(await run('simple')).not.toContain('unbash');
    expect(await run('joined')).toContain('unbash');
  });
});
