import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World } from '../../cli/world.ts';
import { rows } from '../../crash/support.ts';
import { startCli } from '../../support/run-cli.ts';
import { openTerminal } from '../../support/terminal.ts';

/**
 * Attacks of `attack-cases.json` on what is stored, through the built program. DUR-002 and DUR-005 are carried out by
 * `test/cli/bad-database.test.ts` and `test/cli/full-disk.test.ts`.
 */

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const database = (): string => join(world.workspace, '.reins/local.db');
type Shown = { readonly role: string; readonly kind: string; readonly text: string; readonly status: string };
const shown = async (): Promise<readonly Shown[]> =>
  JSON.parse((await world.run(['session', 'show', '--tools', '--json'])).stdout).messages;

it('DUR-001: a reply that streams when the program is killed is there as far as it had come, marked', async () => {
  await addScript(world, [
    { match: { last_user: 'again' }, reply: { text: 'Here again.' } },
    {
      match: { role: 'user' },
      reply: { text: 'I look.', tool_calls: [{ name: 'local_fs.stat_file', arguments: { path: '.' } }] },
    },
    // Words for as long as it takes until a part of them is stored.
    { match: { role: 'tool' }, reply: { text: 'partial '.repeat(2_000), chunk: 'word', delay_ms: 20 } },
  ]);
  const flags = ['--policy', 'open', '--input', 'go'];
  const started = startCli(world, ['chat', ...tester, ...flags]);
  const partial = "SELECT 1 FROM messages WHERE role = 'assistant' AND payload LIKE '%partial partial%'";
  await expect.poll(() => rows(world, partial), { timeout: 20_000, interval: 100 }).toHaveLength(1);
  started.child.kill('SIGKILL');
  await started.ended;
  const before = await shown();
  expect(before.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  expect(before.map(({ text }) => text)).toEqual([
    'go',
    'I look.',
    expect.stringContaining('directory'),
    expect.stringMatching(/^(partial ?)+$/),
  ]);
  expect(before.map(({ status }) => status)).toEqual(['complete', 'complete', 'complete', 'partial']);
  expect((await world.run(['session', 'show'])).stdout).toMatch(/assistant: #\d+ \(partial\)/);
  expect(await world.run(['chat', ...tester, 'here', 'again'])).toMatchObject({ code: 0, stdout: 'Here again.\n' });
});

describe('DUR-004: a stored message that is none', () => {
  const spoil = (sql: string, ...values: readonly string[]): void => {
    const handle = new Database(database());
    handle.pragma('ignore_check_constraints = ON');
    expect(handle.prepare(sql).run(...values).changes).toBe(1);
    handle.close();
  };
  const payload = 'UPDATE messages SET payload = ? WHERE seq = 1';

  it.each([
    ['no JSON', (): void => spoil(payload, '{"role":"user","content":"secret-word')],
    ['another shape', (): void => spoil(payload, '{"role":"root","content":["secret-word"]}')],
    [
      'bytes that are no text',
      (): void => spoil("UPDATE messages SET payload = CAST(X'7B22FFFE00' AS TEXT) WHERE seq = 1"),
    ],
  ])('%s: the session opens, and it is in no request', async (_what, damage) => {
    await addScript(world, [
      { match: { any: 'secret-word' }, reply: { text: 'It was sent.' } },
      { reply: { text: 'It was not sent.' } },
    ]);
    expect((await world.run(['chat', ...tester, 'first', 'turn'])).code).toBe(0);
    damage();
    const show = await world.run(['session', 'show']);
    expect([show.code, show.stdout]).toEqual([0, expect.stringContaining('unreadable')]);
    expect((await shown())[0]).toMatchObject({ role: 'user', text: '[unreadable message]' });
    expect(await world.run(['chat', ...tester, 'next', 'turn'])).toMatchObject({
      code: 0,
      stdout: 'It was not sent.\n',
    });
  });

  it.each([
    ['a NUL in its text is text', 'a\u0000b', 'user: #1\n  a␀b'],
    ['50 MB are unreadable', 'x'.repeat(50_000_000), '[unreadable message]'],
  ])('%s: the session opens, and the next turn is answered', async (_what, content, text) => {
    await addScript(world, [{ reply: { text: 'Answered.' } }]);
    expect((await world.run(['chat', ...tester, 'first', 'turn'])).code).toBe(0);
    const [row] = rows(world, 'SELECT payload FROM messages WHERE seq = 1');
    spoil(payload, JSON.stringify({ ...JSON.parse(String(row?.['payload'])), content }));
    const show = openTerminal(world, ['session', 'show']);
    await show.ended;
    expect(show.screen()).toContain(text);
    expect(await world.run(['chat', ...tester, 'next', 'turn'])).toMatchObject({ code: 0, stdout: 'Answered.\n' });
  });
});

it('DUR-008: a bound on tokens holds where the provider reports none', async () => {
  await addScript(world, [
    {
      reply: {
        text: 'word '.repeat(200),
        usage: 'none',
        tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'turns', content: 'x' } }],
      },
    },
  ]);
  world.write('../bound.json', JSON.stringify({ default_action: 'allow', compute: { maxTokens: 20_000 } }));
  const { code, stdout } = await world.run([
    ...tester,
    '--policy',
    '../bound.json',
    '--max-tokens',
    '0',
    '--json',
    'go',
  ]);
  const { usage, num_turns, error } = JSON.parse(stdout);
  expect([code, error.class, usage.estimated]).toEqual([6, 'compute_exhausted', true]);
  // What the last turn brought may lie above; nothing was asked of the model after that.
  expect(num_turns).toBeLessThan(8);
  expect(usage.total_tokens).toBeGreaterThanOrEqual(20_000);
  expect(usage.total_tokens).toBeLessThan(30_000);
  expect(existsSync(join(world.workspace, 'turns'))).toBe(true);
});
