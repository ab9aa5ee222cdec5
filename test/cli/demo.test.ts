import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTerminal } from '../support/terminal.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let kept: string | undefined;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => {
  world.remove();
  if (kept !== undefined) rmSync(dirname(kept), { recursive: true, force: true });
});

const placeOf = (text: string): string => /Workspace \(kept\): (\S+)/.exec(text)?.[1] ?? '';

test('without a terminal the tour says that it denies, shows every decision and keeps its directory', async () => {
  const { code, stdout, stderr } = await world.run(['demo'], { environment: { TMPDIR: world.dir } });
  kept = placeOf(stdout);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('internal')]);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe(
    'The model of this tour is a script. Everything around it is real: policy, gate, tools, record.',
  );
  expect(stdout).toContain('so what asks is denied: --on-ask deny');
  expect(stdout).toMatch(/^ {2}1\. local_fs\.read_file note\.txt · allowed \(rule \d+ of default/m);
  expect(stdout).toMatch(/^ {2}2\. local_shell\.local_shell ls · allowed \(rule \d+ of default/m);
  expect(stdout).toMatch(/^ {2}3\. local_fs\.read_file \.aws\/credentials · denied \(rule \d+ of default/m);
  expect(stdout).toMatch(/^ {2}4\. local_fs\.write_file reins-demo\.txt · asks \(rule \d+ of default/m);
  expect(stdout).toContain('4. local_fs.write_file reins-demo.txt · denied by system:on-ask-deny');
  expect(stdout).toMatch(/^Decisions\n# {2}CALL +POLICY +BY +OUTCOME\n1 {2}/m);
  expect(existsSync(join(kept, '.aws', 'credentials'))).toBe(true);
  expect(existsSync(join(kept, 'reins-demo.txt'))).toBe(false);
  expect(existsSync(join(world.home, '.reins'))).toBe(false);
});

test('what waits at its end is answered by the command that it names, wherever that is typed', async () => {
  const { code, stdout, stderr } = await world.run(['demo', '--on-ask', 'suspend'], {
    environment: { TMPDIR: world.dir },
  });
  kept = placeOf(stdout);
  expect(code).toBe(4);
  const [, home = '', words = ''] = /answer with: REINS_HOME=(\S+) reins (.*)\|--deny\n/.exec(stderr) ?? [];
  const answered = await world.run(words.split(' '), { environment: { REINS_HOME: home } });
  expect([answered.code, existsSync(join(kept, 'reins-demo.txt'))]).toEqual([0, true]);
});

test('on a terminal the question is real', async () => {
  const terminal = openTerminal(world, ['demo'], { environment: { TMPDIR: world.dir } });
  await terminal.saw('[y] once');
  await terminal.press('y', 'approved ask_');
  expect((await terminal.ended).code).toBe(0);
  kept = placeOf(terminal.screen());
  expect(readFileSync(join(kept, 'reins-demo.txt'), 'utf8')).toContain('after somebody said yes');
  expect(terminal.screen()).toContain('because somebody said yes');
});
