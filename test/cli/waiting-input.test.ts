import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { program } from '../support/run-cli.ts';
import { openTerminal } from '../support/terminal.ts';
import { createProject, echoChain, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
  world.write('echo.json', echoChain);
  execFileSync('mkfifo', [join(world.workspace, 'fifo')]);
});
afterEach(() => world.remove());

const echo = ['run', '--chain', 'echo.json'] as const;
const waits = 'waiting for somebody to write to fifo';

test('a pipe that nobody writes to is named while it is waited for, and Ctrl-C ends the wait', async () => {
  const terminal = openTerminal(world, [...echo, '--input', '@fifo']);
  await terminal.saw(waits);
  terminal.type('\u0003');
  expect(await terminal.ended).toEqual({ code: 130, signal: 0 });
  expect(terminal.screen()).toBe('reins: interrupted while the input was read');
});

test('what is written to it in the end is the input', async () => {
  const terminal = openTerminal(world, [...echo, '--input', '@fifo']);
  await terminal.saw(waits);
  writeFileSync(join(world.workspace, 'fifo'), 'it came\n');
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.screen()).toContain('it came');
  expect(terminal.screen()).not.toContain(waits);
});

test('a dumb terminal gets one line, --quiet none', async () => {
  for (const [flags, environment, times] of [
    [[], { TERM: 'dumb' }, 1],
    [['--quiet'], {}, 0],
  ] as const) {
    const terminal = openTerminal(world, [...echo, ...flags, '--input', '@fifo'], { environment });
    if (times === 1) await terminal.saw(waits);
    writeFileSync(join(world.workspace, 'fifo'), 'it came\n');
    await terminal.ended;
    expect([flags, terminal.screen().split(waits).length - 1]).toEqual([flags, times]);
  }
});

test('Ctrl-C while it is waited for is a result with --json', async () => {
  const command = ['sh', '-c', `"$0" "$@" > out.json`, process.execPath, program];
  const terminal = openTerminal(world, [...echo, '--json', '--input', '@fifo'], { command });
  await terminal.saw(waits);
  terminal.type('\u0003');
  await terminal.ended;
  const result = JSON.parse(readFileSync(join(world.workspace, 'out.json'), 'utf8'));
  expect(result).toMatchObject({ type: 'result', subtype: 'cancelled', is_error: true, exit_code: 130 });
});

test('standard input that sends nothing is named too, and Ctrl-C starts no run with a part of it', async () => {
  // Whoever writes to it gets the Ctrl-C too.
  const command = ['sh', '-c', `(echo a part; cat fifo) | "$0" "$@"`, process.execPath, program];
  const terminal = openTerminal(world, [...echo], { command });
  await terminal.saw('waiting for the end of standard input');
  terminal.type('\u0003');
  await terminal.ended;
  expect(terminal.screen()).not.toContain('a part');
  expect((await world.run(['state', 'list'])).stderr).toBe('no runs yet\n');
});

test('the Ctrl-C that ended the writer is heard, also where it comes behind the end of the input', async () => {
  const writer = '(echo a part; cat fifo; exec >&-; sleep 0.05; kill -INT 0)';
  const command = ['sh', '-c', `${writer} | "$0" "$@"`, process.execPath, program];
  const terminal = openTerminal(world, [...echo], { command });
  await terminal.saw('waiting for the end of standard input');
  writeFileSync(join(world.workspace, 'fifo'), '');
  await terminal.ended;
  expect(terminal.screen()).toContain('reins: interrupted while the input was read');
  expect((await world.run(['state', 'list'])).stderr).toBe('no runs yet\n');
});
