import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rows } from '../crash/support.ts';
import { addScript, createProject, type World } from './world.ts';

let world: World;
let database: string;
beforeEach(async () => {
  world = await createProject();
  database = join(world.workspace, '.reins/local.db');
});
afterEach(() => world.remove());

/** The fail point of the test build: the file may grow by so many pages of 4 KiB. */
const fill = (pages: number): void => writeFileSync(`${database}.fail-full`, String(pages));

describe('a question that cannot be written down', () => {
  const write = (path: string, size: number) => ({
    tool_calls: [{ name: 'local_fs.write_file', arguments: { path, content: 'line of text\n'.repeat(size) } }],
  });
  /** 300 KB: there is room for the reply that holds the call, and none for the question, which holds it four times. */
  const large = (path: string) => write(path, 23_000);
  const asking = ['--provider', 'scripted', '--model', 'tester', '--policy', 'strict', '--on-ask', 'deny', '--json'];
  const script = async (turns: readonly unknown[]): Promise<void> => {
    await addScript(world, turns);
    expect((await world.run(['model', 'set-context', 'tester', '--context', '1000000'])).code).toBe(0);
  };
  type Result = { readonly error: { readonly class: string; readonly message: string } | null };

  test('denies the call with internal_error, once, and the run goes on', async () => {
    await script([
      { match: { tool: { content: 'internal_error' } }, reply: { text: 'It could not be asked.' } },
      { match: { role: 'user' }, reply: large('new.txt') },
    ]);
    fill(200);
    const { code, stdout } = await world.run([...asking, 'go']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { error: null, result: 'It could not be asked.' }]);
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
    expect(rows(world, 'SELECT id FROM asks')).toEqual([]);
    const [call, ...more] = rows(world, 'SELECT state, result FROM tool_calls');
    expect(more).toEqual([]);
    expect(call?.['state']).toBe('skipped');
    expect(JSON.parse(String(call?.['result']))).toMatchObject({ ok: false, error: 'internal_error' });
  });

  test('fails the run the second time, and the file is sound afterwards', async () => {
    await script([
      { match: { tool: { content: 'internal_error', count: 1 } }, reply: large('other.txt') },
      { match: { role: 'user' }, reply: large('new.txt') },
    ]);
    fill(350);
    const { code, stdout } = await world.run([...asking, 'go']);
    const { error } = JSON.parse(stdout) as Result;
    expect([code, error?.class]).toEqual([1, 'storage']);
    expect(error?.message).toMatch(/local\.db cannot be written: the disk or the file is full \(\d+ bytes free\)/);
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
    expect(rows(world, "SELECT count(*) AS n FROM tool_calls WHERE result LIKE '%internal_error%'")).toEqual([
      { n: 1 },
    ]);
    expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});
