import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { rows } from '../crash/support.ts';
import { startCli } from '../support/run-cli.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
const opened: CliTerminal[] = [];
beforeEach(async () => {
  world = await createProject();
  await addScript(world, turns);
  await world.run(['session', 'new', 'work']);
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGCONT');
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
  world.remove();
});

const turns = [
  {
    name: 'write',
    match: { role: 'user', last_user: { equals: 'write it' } },
    reply: { tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'one.txt', content: 'x\n' } }] },
  },
  { name: 'written', match: { role: 'tool' }, reply: { text: 'It is written.' } },
  { name: 'other', match: { last_user: { equals: 'and then' } }, reply: { text: 'Then this.' } },
  { name: 'hello', match: { last_user: { equals: 'hello' } }, reply: { text: 'Hello.' } },
  { name: 'summary', reply: { hang: true } },
];

async function open(): Promise<CliTerminal> {
  const terminal = openTerminal(world, ['tui', ...tester], { columns: 120, rows: 30 });
  opened.push(terminal);
  await terminal.until((shown) => shown.some((row) => row.startsWith(' idle')), 'idle');
  return terminal;
}

/** The texts that stand on the screen, in their order. */
const order = (rows: readonly string[], texts: readonly string[]): readonly string[] =>
  rows.flatMap((row) => texts.filter((text) => row.includes(text)));

/** Whether some process is writing just now. */
function isLocked(): boolean {
  const database = new Database(join(world.workspace, '.reins', 'local.db'), { timeout: 0 });
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

/** At a moment at which it does not write: all others would wait for it. */
async function stop(terminal: CliTerminal): Promise<void> {
  for (;;) {
    terminal.kill('SIGSTOP');
    await setTimeout(50);
    if (!isLocked()) return;
    terminal.kill('SIGCONT');
    await setTimeout(50);
  }
}

/** The turn of the first terminal waits for an answer, and the second was stopped while it began. */
async function meanwhile(): Promise<{
  readonly first: CliTerminal;
  readonly second: CliTerminal;
  readonly pid: string;
  readonly run: string;
}> {
  const first = await open();
  const second = await open();
  // A card takes no keys from somebody who writes.
  second.type('and then');
  await second.saw('› and then');
  await stop(second);
  first.type('write it\r');
  await first.saw('card has the keys');
  second.type('\r');
  second.kill('SIGCONT');
  await second.until((shown) => shown.some((row) => /run by pid \d+ \(/.test(row)), 'who drives the turn');
  const { stdout } = await world.run(['state', 'list', '--json']);
  const [run] = JSON.parse(stdout) as readonly { readonly id: string }[];
  const shown = await world.run(['state', 'show', run!.id, '--json']);
  const { run_by } = JSON.parse(shown.stdout) as { readonly run_by: { readonly pid: number } };
  return { first, second, pid: String(run_by.pid), run: run!.id };
}

const giveItUp = (run: string) => world.run(['state', 'cancel', run]);
async function endIt(): Promise<void> {
  const { stdout } = await world.run(['approvals', 'list', '--json']);
  const { asks } = JSON.parse(stdout) as { readonly asks: readonly { readonly id: string }[] };
  await world.run(['approvals', 'respond', asks[0]!.id, '--approve']);
}

describe('a message for a session in which another terminal has just begun a turn', () => {
  test.each([
    ['has ended', endIt, ['write it', 'It is written.', 'and then', 'Then this.']],
    ['was given up', giveItUp, ['write it', 'and then', 'Then this.']],
  ])('is queued, says which process has it, and is sent when that turn %s', async (_how, over, texts) => {
    const { first, second, pid, run } = await meanwhile();
    expect(second.rows().find((row) => row.includes('run by pid'))).toContain(`run by pid ${pid} (`);
    await second.saw('write it');
    await second.until((shown) => shown.some((row) => row.includes('queued')), 'the queue');
    await over(run);
    for (const terminal of [second, first]) {
      await terminal.saw('Then this.');
      await terminal.until((shown) => shown.some((row) => row.startsWith(' idle')), 'idle');
      expect(order(terminal.rows(), texts)).toEqual(texts);
      expect(terminal.screen()).not.toContain('run by pid');
    }
    const { stdout } = await world.run(['session', 'show', 'work', '--json']);
    const { messages } = JSON.parse(stdout) as { readonly messages: readonly { role: string; text: string }[] };
    expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['write it', 'and then']);
  });

  test('is queued and sent behind a summary that another process makes, which nothing has told of', async () => {
    for (const _ of [1, 2, 3]) await world.run(['chat', ...tester, 'hello']);
    const terminal = await open();
    const other = startCli(world, [...tester, 'session', 'compact', '--keep', '1']);
    const made = (): readonly string[] =>
      rows(world, "SELECT id FROM runs WHERE kind = 'compact' AND status = 'running'").map(({ id }) => String(id));
    await expect.poll(made, { timeout: 30_000 }).toHaveLength(1);
    const [run = ''] = made();
    terminal.type('and then\r');
    await terminal.saw(`is busy with pid ${other.child.pid} (`);
    await terminal.until((shown) => shown.some((row) => row.includes('1 queued')), 'the queue');
    expect(terminal.screen()).toContain(`run by pid ${other.child.pid} (`);
    await giveItUp(run);
    await terminal.saw('Then this.');
    await other.ended;
    expect(rows(world, "SELECT 1 FROM messages WHERE role = 'user' AND kind = 'message'")).toHaveLength(4);
  });
});
