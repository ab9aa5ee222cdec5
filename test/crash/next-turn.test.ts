import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tester, type World } from '../cli/world.ts';
import { openTerminal } from '../support/terminal.ts';
import { createCrashWorld, expectSound, madeCalls, rows, startLoop } from './support.ts';

/** What the next turn makes of one whose process was killed (07 §2.7). */

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

const killed = async (point: string) => {
  expect((await startLoop(world, 'chat', 'allow', point).ended).signal).toBe('SIGKILL');
};
const next = (...flags: readonly string[]) => world.run(['chat', ...tester, ...flags, 'here', 'again']);
const told = async (): Promise<readonly string[]> => {
  const { messages } = JSON.parse((await world.run(['session', 'show', '--tools', '--json'])).stdout);
  return messages.map(({ kind, role, text }: Record<string, string>) =>
    kind === 'note' || role === 'tool' ? `${kind === 'note' ? kind : role}: ${text}` : text,
  );
};
const statuses = () => rows(world, 'SELECT status FROM runs ORDER BY created_at').map(({ status }) => status);
const asks = () => rows(world, 'SELECT id, kind, state FROM asks ORDER BY created_at');

describe('a call that had started, without a terminal', () => {
  test('is asked about: the message is not sent, and the command that answers is named', async () => {
    await killed('after tool_call_started');
    const refused = await next();
    const [ask] = asks();
    expect(ask).toMatchObject({ kind: 'unknown_outcome', state: 'pending' });
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.stderr).toMatch(
      /waiting for a decision about a call of unknown outcome ask_\w+: local_shell\.local_shell \.\/add 1\n/,
    );
    expect(refused.stderr).toMatch(/answer with: reins approvals respond \S+ --treat-as run-again\|done\|skip\n/);
    expect(await told()).toEqual(['go', 'Call 1.']);
    expect(statuses()).toEqual(['suspended']);
    const again = await next();
    expect(again).toMatchObject({ code: 4 });
    expect(again.stderr).toContain(`reins approvals respond ${ask?.['id']} --treat-as skip`);
    // Answered, the run goes on and ends; then the session is free.
    const answered = await world.run(['approvals', 'respond', String(ask?.['id']), '--treat-as', 'skip']);
    expect(answered).toMatchObject({ code: 0, stdout: 'All three are made.\n' });
    expect(madeCalls(world)).not.toContain('1');
    expect(await next()).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    expectSound(world);
  });

  test('with --json: the result of the turn that waits', async () => {
    await killed('after tool_call_started');
    const { code, stdout } = await next('--json');
    const result = JSON.parse(stdout);
    expect([code, result.subtype, result.asks.length]).toEqual([4, 'suspended', 1]);
    expect(result.asks[0].respond).toContain('--treat-as skip');
  });

  test('is told to the model as unknown with --on-ask deny, and the new turn is made', async () => {
    await killed('after tool_call_started');
    expect(await next('--on-ask', 'deny')).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    const lines = await told();
    expect(lines.map((line) => line.slice(0, 50))).toEqual([
      'go',
      'Call 1.',
      expect.stringContaining('tool: {"ok":false,"error":"outcome_unknown"'),
      'note: interrupted',
      'here again',
      'Here again.',
    ]);
    expect(statuses()).toEqual(['cancelled', 'completed']);
    expect(madeCalls(world)).toEqual([]);
    expectSound(world);
  });

  test('is given up without a question by --abandon', async () => {
    await killed('after tool_call_started');
    expect(await next('--abandon')).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    expect(asks()).toEqual([]);
    expect((await told())[2]).toContain('"error":"interrupted"');
  });

  test('waits with --on-ask wait, and the new turn is made when somebody has answered', async () => {
    await killed('after tool_call_started');
    const { startCli } = await import('../support/run-cli.ts');
    const waiting = startCli(world, ['chat', ...tester, '--on-ask', 'wait', 'here', 'again']);
    await waiting.saw('answer with: reins approvals respond');
    const [ask] = asks();
    const verdict = ['--treat-as', 'done', '--text', 'added by hand'];
    expect((await world.run(['approvals', 'respond', String(ask?.['id']), ...verdict])).code).toBe(0);
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    expect((await told()).slice(1, 4)).toEqual(['Call 1.', 'tool: added by hand', 'note: interrupted']);
    expectSound(world);
  });

  test('that is let run again runs once more, and nothing behind it', async () => {
    await killed('after tool_call_started');
    const { startCli } = await import('../support/run-cli.ts');
    const waiting = startCli(world, ['chat', ...tester, '--on-ask', 'wait', 'here', 'again']);
    await waiting.saw('answer with: reins approvals respond');
    const [ask] = asks();
    await world.run(['approvals', 'respond', String(ask?.['id']), '--treat-as', 'run-again']);
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    expect(madeCalls(world)).toEqual(['1']);
    expectSound(world);
  });
});

describe('on a terminal', () => {
  test('the end of the old turn is offered; no leaves it as it is', async () => {
    await killed('after tool_call');
    const terminal = openTerminal(world, ['chat', ...tester, 'here', 'again']);
    await terminal.press('n', 'nothing was sent');
    expect((await terminal.ended).code).toBe(1);
    expect(terminal.screen()).toContain('nothing was sent');
    expect(statuses()).toEqual([expect.stringMatching('running|interrupted')]);
    expect(rows(world, "SELECT seq FROM messages WHERE role = 'user'")).toHaveLength(1);
  });

  test('a call of unknown outcome is a question of the old turn, then the new one begins', async () => {
    await killed('after tool_call_started');
    const terminal = openTerminal(world, ['chat', ...tester, 'here', 'again']);
    await terminal.press('y', 'its outcome is unknown');
    expect(terminal.screen()).toContain('what became of a call of local_shell.local_shell is unknown');
    await terminal.press('k', 'Here again.');
    expect((await terminal.ended).code).toBe(0);
    expect(statuses()).toEqual(['cancelled', 'completed']);
    expect(madeCalls(world)).toEqual([]);
  });
});

describe('in the full-screen terminal', () => {
  const opened = async () => {
    const terminal = openTerminal(world, ['tui', ...tester, '--shell'], { columns: 80, rows: 24 });
    await terminal.until((shown) => shown.some((row) => row.startsWith(' ! interrupted')), 'the turn that rests');
    terminal.type('here again\r');
    await terminal.saw('A turn was stopped');
    return terminal;
  };

  test('the end of the old turn is offered; Esc leaves it as it is, and the message comes back', async () => {
    await killed('after tool_call_started');
    const terminal = await opened();
    terminal.type('\u001b');
    await terminal.saw('nothing was sent');
    expect(terminal.rows()).toContain('› here again');
    expect(statuses()).toEqual([expect.stringMatching('running|interrupted')]);
    terminal.kill('SIGKILL');
    await terminal.ended;
  });

  test('a call of unknown outcome is a card of the old turn, then the new one begins', async () => {
    await killed('after tool_call_started');
    const terminal = await opened();
    expect(terminal.screen()).toContain('What became of local_shell.local_shell is unknown: that is asked first.');
    terminal.type('y');
    await terminal.press('\u000e', 'k skip');
    // Letters that come in a burst answer nothing.
    const pressing = setInterval(() => {
      if (terminal.screen().includes('k skip')) terminal.type('k');
    }, 700);
    await terminal.saw('Here again.').finally(() => clearInterval(pressing));
    expect(statuses()).toEqual(['cancelled', 'completed']);
    expect(madeCalls(world)).toEqual([]);
    terminal.kill('SIGKILL');
    await terminal.ended;
  });
});
