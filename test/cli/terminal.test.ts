import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { program } from '../support/run-cli.ts';
import { loopChain } from '../support/scripted-app.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';
import { addScript, createProject, scripted, tester, type World, writingTurns } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const question = '[y] once';
const count = (text: string, part: string) => text.split(part).length - 1;

describe('listings on a terminal', () => {
  test('show the line ends of a command as a card does, and tell times', async () => {
    const command = 'touch a\ntouch b';
    const call = { name: 'local_shell.local_shell', arguments: { command } };
    await addScript(world, [{ name: 'two', match: { role: 'user' }, reply: { tool_calls: [call] } }]);
    expect((await world.run([...tester, '--shell', '--on-ask', 'suspend', 'go'])).code).toBe(4);
    const listed = openTerminal(world, ['approvals', 'list'], { columns: 160 });
    await listed.ended;
    expect(listed.screen()).toContain('touch a⏎touch b');
    const doctor = openTerminal(world, ['doctor', '--skip-probe'], { columns: 160 });
    await doctor.ended;
    expect(doctor.screen()).toMatch(/asks_pending: 1 ask waits for an answer, the oldest from (?:just now|\d+s ago)\./);
    const { issues } = JSON.parse((await world.run(['doctor', '--skip-probe', '--json'])).stdout);
    expect(issues.find(({ code }: { code: string }) => code === 'asks_pending').message).toMatch(
      /from 20[-\dT:.]+Z\.$/,
    );
  });
});

test('the newest run, which undo takes, has its short id on a terminal', async () => {
  await addScript(world, writingTurns);
  await world.run([...tester, '--policy', 'open', 'go']);
  const terminal = openTerminal(world, ['state', 'undo', '--dry-run'], { columns: 160 });
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.screen()).toMatch(/^the newest run, run_[0-9a-z]{6}: go$/m);
});

test('what hides in a call is shown as on its card, wherever an ask is one line', async () => {
  const call = { name: 'local_fs.write_file', arguments: { path: 'a\u202eb.txt', content: 'x' } };
  await addScript(world, [{ name: 'one', match: { role: 'user' }, reply: { tool_calls: [call] } }]);
  const shown = 'a⟨U+202E⟩b.txt';
  const run = openTerminal(world, ['run', ...tester, '--on-ask', 'suspend', 'go'], { columns: 160 });
  expect((await run.ended).code).toBe(4);
  expect(run.screen()).toContain(`local_fs.write_file ${shown}`);
  const [{ id, run_id, summary }] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
  expect(summary).toBe('a\\u202eb.txt');
  const watch = openTerminal(world, ['approvals', 'watch'], { columns: 160 });
  await watch.saw('pending');
  await watch.saw('left)');
  watch.type('\u0003');
  await watch.ended;
  for (const args of [
    ['approvals', 'list'],
    ['approvals', 'show', id],
  ]) {
    const terminal = openTerminal(world, args, { columns: 160 });
    await terminal.ended;
    expect(terminal.screen()).toContain(shown);
  }
  expect(watch.screen()).toContain(`local_fs.write_file ${shown}`);
  const state = openTerminal(world, ['state', 'show', run_id], { columns: 160 });
  await state.ended;
  expect(state.screen()).toContain(`local_fs.write_file ${shown}`);
  // Where no escape is drawn, that of the summary stands.
  expect((await world.run(['approvals', 'list'])).stdout).toContain(` ${summary} `);
});

describe('the answer on a terminal', () => {
  test('appears once, after the progress lines', async () => {
    const terminal = openTerminal(world, [...scripted, 'hello there']);
    expect((await terminal.ended).code).toBe(0);
    expect(count(terminal.screen(), 'I am not a model.')).toBe(1);
    expect(terminal.screen()).toContain('[step 1] work (chat_completion)');
  });

  test('shows escape sequences of a model and sends none of them', async () => {
    await addScript(world, [{ name: 'raw', reply: { text: 'a\u001b]0;owned\u0007b\u001b[2Jc \u202e d' } }]);
    const terminal = openTerminal(world, [...tester, 'hi']);
    await terminal.ended;
    expect(terminal.screen()).toContain('a␛]0;owned␇b␛[2Jc ⟨U+202E⟩ d');
    expect(terminal.bytes()).not.toContain('\u001b]0;');
    expect(terminal.bytes()).not.toContain('\u001b[2J');
    expect(terminal.bytes()).not.toContain('\u001b[3J');
  });

  test.each([[{ NO_COLOR: '1' }], [{ TERM: 'dumb' }], [{ CI: '1' }]])(
    'has no escape byte with %j',
    async (environment) => {
      const terminal = openTerminal(world, [...scripted, 'hello there'], { environment });
      expect((await terminal.ended).code).toBe(0);
      expect(terminal.bytes()).not.toContain('\u001b');
    },
  );

  test('a pipe gets the answer, and the terminal on stderr a copy of it', async () => {
    const command = ['sh', '-c', `"$0" "$@" > answer.txt`, process.execPath, program];
    const terminal = openTerminal(world, [...scripted, 'hello there'], { command });
    expect((await terminal.ended).code).toBe(0);
    expect(count(terminal.screen(), 'I am not a model.')).toBe(1);
    expect(readFileSync(join(world.workspace, 'answer.txt'), 'utf8')).toBe(
      '(scripted demo) Hello. You said: hello there\nI am not a model. Ask what I can do, or say: write a note.\n',
    );
  });

  test('comes after the reasoning that --think prints', async () => {
    await addScript(world, [{ name: 'think', reply: { thinking: 'Let me see.', text: 'It is seven.' } }]);
    const terminal = openTerminal(world, [...tester, '--think', 'how many?']);
    await terminal.ended;
    expect(terminal.screen()).toMatch(/\nthinking: Let me see\.\nIt is seven\.$/);
  });

  test('--quiet leaves the answer alone', async () => {
    const terminal = openTerminal(world, [...scripted, '--quiet', 'hello there']);
    await terminal.ended;
    expect(terminal.screen()).toBe(
      '(scripted demo) Hello. You said: hello there\nI am not a model. Ask what I can do, or say: write a note.',
    );
  });

  test('a listing is relative in time', async () => {
    await world.run(['session', 'new', 'work']);
    const terminal = openTerminal(world, ['session', 'list']);
    await terminal.ended;
    expect(terminal.screen()).toMatch(/^\* work {2}\(0 messages\) {2}(just now|\ds ago)$/);
  });
});

test('a word that is nearly a command is asked about: y runs the command, Enter does nothing', async () => {
  const wanted = '"sesion" is not a command. Did you mean "session"? [y] run it  [p] send as a prompt  [Enter] quit';
  await world.run(['session', 'new', 'work']);
  const [run, quit] = [0, 1].map(() => openTerminal(world, ['sesion', 'list'], { columns: 120 })) as [
    CliTerminal,
    CliTerminal,
  ];
  await Promise.all([run.saw(wanted), quit.saw(wanted)]);
  await run.press('y', '* work');
  expect((await run.ended).code).toBe(0);
  // Its program ends with the key, and nothing more is said.
  await expect(quit.press('\r', 'more')).rejects.toThrow('never saw');
  expect((await quit.ended).code).toBe(2);
  expect(quit.screen()).toBe(wanted);
});

describe('a question on a terminal', () => {
  const path = () => join(world.workspace, 'new.txt');
  const ask = async (): Promise<CliTerminal> => {
    await addScript(world, writingTurns);
    const terminal = openTerminal(world, [...tester, 'write']);
    await terminal.saw(question);
    return terminal;
  };

  test('shows the call, its diff and the rule, and y lets it run', async () => {
    const terminal = await ask();
    const card = terminal.screen();
    for (const part of [
      'local_fs.write_file',
      '1 +hello⏎',
      'new.txt (in the workspace)',
      'rule   default ',
      ' (builtin) · rule ',
      'binds',
    ]) {
      expect([part, card.includes(part)]).toEqual([part, true]);
    }
    await terminal.press('y', 'approved ask_');
    expect((await terminal.ended).code).toBe(0);
    expect(readFileSync(path(), 'utf8')).toBe('hello\n');
    expect(terminal.screen()).toContain('It is written.');
  });

  test('n denies, and the model is told', async () => {
    const terminal = await ask();
    await terminal.press('n', 'denied ask_');
    await terminal.ended;
    expect(existsSync(path())).toBe(false);
    expect(terminal.screen()).toContain('It was denied.');
  });

  test('of a model in words is answered by the number of a choice', async () => {
    const asked = { question: 'Which?', choices: ['the left one', 'the right one'] };
    await addScript(world, [
      { name: 'told', match: { role: 'tool' }, reply: { text: 'Then so.' } },
      { name: 'ask', reply: { tool_calls: [{ name: 'engine.ask_human', arguments: asked }] } },
    ]);
    const chain = JSON.stringify(loopChain).replace('["*"]', '["engine"]');
    const terminal = openTerminal(world, ['run', ...tester, '--chain', world.write('asks.json', chain), 'go']);
    await terminal.saw('[a] answer');
    // One key behind the guard: a second one would stand in the answer.
    await pause(500);
    terminal.type('a');
    await terminal.saw('answer, or the number of one');
    terminal.type('2\r');
    await terminal.ended;
    expect(terminal.screen()).toContain('Then so.');
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks[0].verdict.text).toBe('the right one');
  });

  test('f denies with words', async () => {
    const terminal = await ask();
    await terminal.press('f', 'why');
    terminal.type('use another name\r');
    await terminal.ended;
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks[0].verdict).toMatchObject({
      outcome: 'deny',
      feedback: expect.stringMatching(/^f*use another name$/),
      by: 'operator:cli',
    });
  });

  test('Enter, other keys, pastes and keys typed ahead answer nothing', async () => {
    await addScript(world, writingTurns);
    const terminal = openTerminal(world, [...tester, 'write']);
    terminal.type('y');
    await terminal.saw(question);
    await terminal.press('\r', (screen) => count(screen, question) >= 2);
    terminal.type('yes please\r');
    terminal.type('Y');
    // The question that follows has come after those keys were read.
    const asked = count(terminal.screen(), question);
    await terminal.press('\r', (screen) => count(screen, question) > asked + 1);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    expect(asks).toHaveLength(1);
    expect(existsSync(path())).toBe(false);
    terminal.type('n');
    await terminal.ended;
  });

  test('x says why, v shows all', async () => {
    const terminal = await ask();
    await terminal.press('x', 'approve  rule 63 of hitl-policy.json');
    await terminal.press('v', (screen) => count(screen, 'ASK ') >= 2);
    await terminal.press('n', 'denied ask_');
    await terminal.ended;
  });

  test('what was not shown is not approved', async () => {
    const content = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');
    await addScript(world, [
      {
        name: 'ask',
        match: { role: 'user' },
        reply: { tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'new.txt', content } }] },
      },
      ...writingTurns.slice(1),
    ]);
    const terminal = openTerminal(world, [...tester, 'write']);
    await terminal.saw(question);
    expect(terminal.screen()).toContain('lines hidden)');
    await terminal.press('y', 'press v first');
    expect(existsSync(path())).toBe(false);
    await terminal.press('v', 'line 59');
    await terminal.press('y', 'approved ask_');
    expect((await terminal.ended).code).toBe(0);
    expect(readFileSync(path(), 'utf8')).toBe(content);
  });

  const touch = (name: string) => ({ name: 'local_shell.local_shell', arguments: { command: `touch ${name}` } });
  /** A model that makes these calls one after another. */
  const calling = (...list: readonly object[]) => [
    { name: 'done', match: { tool: { count: list.length } }, reply: { text: 'All done.' } },
    ...list.map((call, index) => ({
      name: `call ${index}`,
      match: index === 0 ? { role: 'user' } : { tool: { count: index } },
      reply: { tool_calls: [call] },
    })),
  ];

  test('s approves the same call for the session, and another call is asked about', async () => {
    await addScript(world, calling(touch('one'), touch('one'), touch('two')));
    const terminal = openTerminal(world, [...tester, '--shell', 'go']);
    await terminal.saw('[s] this session');
    await terminal.press('s', (screen) => count(screen, 'ASK ') === 2);
    expect(terminal.screen()).toContain('the same call passes without a question until this run ends');
    expect(terminal.screen()).toContain('→ local_shell.local_shell touch one · remembered');
    await terminal.press('n', 'denied ask_');
    await terminal.ended;
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks.map((one: { verdict: object }) => one.verdict)).toMatchObject([
      { outcome: 'deny' },
      { outcome: 'approve', remember: 'session' },
    ]);
  });

  test('r shows the rules, their file and what else they would allow, and writes the chosen one', async () => {
    await addScript(world, calling(touch('one'), touch('one')));
    const terminal = openTerminal(world, [...tester, '--shell', 'go'], { columns: 200 });
    await terminal.saw('[r] add a rule');
    await terminal.press('r', '[1] [2] write that rule and allow the call  [q] back');
    const file = join(world.home, '.reins/hitl-policy-default.json');
    for (const part of [
      '1  exactly this call',
      '"op":"command_prefix_allowlist","value":"touch one"}],"action":"allow"}',
      'as rule 70; no other call is recorded yet',
      `with a note that names this question, into ${file}`,
      'a new copy of the policy default; it governs from then on (hitl-policy-name = default)',
    ]) {
      expect([part, terminal.screen().includes(part)]).toEqual([part, true]);
    }
    await terminal.press('\r', (screen) => count(screen, '[q] back') === 2);
    expect(existsSync(file)).toBe(false);
    await terminal.press('q', (screen) => count(screen, '[r] add a rule') === 2);
    await terminal.press('r', (screen) => count(screen, '2  commands that begin like this') === 2);
    await terminal.press('2', `added rule 70 to ${file}`);
    expect((await terminal.ended).code).toBe(0);
    expect(existsSync(join(world.workspace, 'one'))).toBe(true);
    const { rules } = JSON.parse(readFileSync(file, 'utf8'));
    expect(rules[69].when).toEqual([{ key: 'command', op: 'command_prefix_allowlist', value: 'touch one' }]);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks).toMatchObject([{ state: 'approved', verdict: { remember: 'rule' } }]);
  });

  test('neither is offered for what a person answers each time', async () => {
    await addScript(world, calling({ name: 'local_fs.write_file', arguments: { path: '.env', content: 'x' } }));
    const terminal = openTerminal(world, [...tester, 'go']);
    await terminal.saw(question);
    expect(terminal.screen()).not.toContain('[s]');
    expect(terminal.screen()).not.toContain('[r]');
    await terminal.press('s', (screen) => count(screen, question) >= 2);
    await terminal.press('n', 'denied ask_');
    await terminal.ended;
  });

  test('approvals respond --remember session holds for the run that waits elsewhere', async () => {
    await addScript(world, calling(touch('one'), touch('one')));
    const terminal = openTerminal(world, [...tester, '--shell', '--on-ask', 'wait', 'go']);
    await terminal.saw('answer with: reins approvals respond');
    const [{ id }] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
    const misused = await world.run(['approvals', 'respond', id, '--deny', '--remember', 'session']);
    expect([misused.code, misused.stderr]).toEqual([
      2,
      'reins: --remember belongs to --approve\n  reins approvals respond --help\n',
    ]);
    expect((await world.run(['approvals', 'respond', id, '--approve', '--remember', 'session'])).code).toBe(0);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.screen()).toContain('All done.');
  });

  test('an answer from another terminal withdraws it and names who answered', async () => {
    const terminal = await ask();
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    await world.run(['approvals', 'respond', asks[0].id, '--deny']);
    await terminal.ended;
    expect(terminal.screen()).toContain(`ask_${asks[0].id.slice(-6)} was denied by operator:cli`);
    expect(terminal.screen()).toContain('It was denied.');
  });

  test('ids are short and the session has its name, in the notice, the list and the card', async () => {
    await addScript(world, writingTurns);
    await world.run(['session', 'new', 'oats']);
    const terminal = openTerminal(world, ['chat', ...tester, '--on-ask', 'wait', 'write']);
    await terminal.saw('reins: answer with: reins approvals respond');
    const [{ id, run_id }] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
    const short = `ask_${id.slice(-6)}`;
    expect(terminal.screen()).toContain(`waiting for approval ${short}: local_fs.write_file new.txt, until `);
    expect(terminal.screen()).toContain(`reins approvals respond ${short} --approve|--deny`);
    const list = openTerminal(world, ['approvals', 'list']);
    await list.ended;
    expect(list.screen()).toMatch(new RegExp(`\n${short} +permission +local_fs\\.write_file +new\\.txt +oats `));
    const card = openTerminal(world, ['approvals', 'show', short]);
    await card.ended;
    expect(card.screen()).toMatch(new RegExp(`^ASK ${short} · local_fs\\.write_file`));
    expect(card.screen()).toContain(`session oats, run_${run_id.slice(-6)}, chain `);
    const answer = openTerminal(world, ['approvals', 'respond', short, '--approve']);
    await answer.ended;
    expect(answer.screen()).toBe(`approved ${short}`);
    const late = openTerminal(world, ['approvals', 'respond', short, '--deny']);
    await late.ended;
    expect(late.screen()).toContain(`reins: ${short} was already approved by operator:cli at `);
    expect((await terminal.ended).code).toBe(0);
    // A pipe gets whole ids.
    expect((await world.run(['approvals', 'show', short])).stdout).toContain(`session oats, ${run_id}, chain `);
  });

  test('is put again, and takes keys, where the program was stopped and goes on', async () => {
    await addScript(world, writingTurns);
    // A shell with job control, which has the terminal while its job is stopped.
    const command = [
      'bash',
      '--norc',
      '-ic',
      'set -m; "$@"; stty sane; read -r; fg',
      'bash',
      process.execPath,
      program,
    ];
    const terminal = openTerminal(world, [...tester, 'write'], { command });
    await terminal.saw(question);
    const [run] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
    const { run_by } = JSON.parse((await world.run(['state', 'show', run.id, '--json'])).stdout);
    process.kill(run_by.pid, 'SIGTSTP');
    await terminal.saw('Stopped');
    const before = count(terminal.screen(), '[l] later');
    terminal.type('\r');
    await terminal.until((rows) => count(rows.join('\n'), '[l] later') > before, 'the question again');
    await terminal.press('n', 'It was denied.');
    // What it still writes at its end would be in the way of who clears up.
    await terminal.ended;
  });

  test('Ctrl-C cancels the run', async () => {
    const terminal = await ask();
    terminal.type('\u0003');
    expect((await terminal.ended).code).toBe(130);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(asks[0].state).toBe('cancelled');
  });

  test('SIGTERM stops the run and takes the question back', async () => {
    const terminal = await ask();
    terminal.kill('SIGTERM');
    expect((await terminal.ended).code).toBe(143);
    expect(terminal.screen()).toMatch(/\nask_\w+ was (left unanswered|cancelled by system:cancelled)\n/);
    expect(terminal.screen()).toContain('the run stopped at its last checkpoint');
    expect(existsSync(path())).toBe(false);
  });

  test('a question that was left when the program was stopped is answered later, and the run goes on', async () => {
    const terminal = await ask();
    terminal.kill('SIGTERM');
    expect((await terminal.ended).code).toBe(143);
    const [pending] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
    const recorded = await world.run(['approvals', 'respond', pending.id, '--approve', '--no-resume']);
    expect(recorded).toMatchObject({ code: 0, stdout: `approved ${pending.id}\n`, stderr: '' });
    expect(existsSync(path())).toBe(false);
    const unknown = await world.run(['state', 'resume', 'zzzz']);
    expect(unknown).toMatchObject({ code: 1, stderr: 'reins: no such run: zzzz\n  reins state list\n' });
    const resumed = await world.run(['state', 'resume', pending.run_id.slice(-6)]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'It is written.\n', stderr: '' });
    expect(existsSync(path())).toBe(true);
    expect(await world.run(['state', 'resume', pending.run_id])).toMatchObject({
      code: 1,
      stderr:
        `reins: ${pending.run_id} has ended: completed; only a run that rests goes on\n` +
        `  reins state show ${pending.run_id}\n`,
    });
  });

  test.each([
    ['l', 'l'],
    ['the end of the input', '\u0004'],
  ])('%s leaves it for later: the run rests, and goes on when it is answered', async (_, key) => {
    await addScript(world, calling(touch('one'), touch('two')));
    const terminal = openTerminal(world, [...tester, '--shell', 'go']);
    await terminal.saw('[l] later');
    await terminal.press(key, 'reins: answer with: reins approvals respond');
    expect((await terminal.ended).code).toBe(4);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    expect(asks).toMatchObject([{ state: 'pending', verdict: null, summary: 'touch one' }]);
    expect(terminal.screen()).toContain(
      `waiting for approval ask_${asks[0].id.slice(-6)}: local_shell.local_shell touch`,
    );
    expect(existsSync(join(world.workspace, 'one'))).toBe(false);
    const [{ status }] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
    expect(status).toBe('suspended');
    const resumed = openTerminal(world, ['state', 'resume', asks[0].run_id.slice(-6)]);
    await resumed.saw('touch one');
    await resumed.press('y', 'touch two');
    await resumed.press('y', 'All done.');
    expect((await resumed.ended).code).toBe(0);
    expect([existsSync(join(world.workspace, 'one')), existsSync(join(world.workspace, 'two'))]).toEqual([true, true]);
  });

  describe('about a call whose outcome nobody knows', () => {
    /** A run whose process died while its call ran, as its rows say, taken up again. */
    const resumed = async (): Promise<CliTerminal> => {
      const told = ['It ran.', 'one row', 'outcome_unknown'].map((content) => ({
        name: content,
        match: { tool: { content } },
        reply: { text: `Told: ${content}` },
      }));
      const command = "sh -c 'touch one; echo It ran.'";
      await addScript(world, [...told, ...calling({ name: 'local_shell.local_shell', arguments: { command } })]);
      const { code } = await world.run([...tester, '--shell', '--on-ask', 'suspend', 'go']);
      expect(code).toBe(4);
      const [{ id, run_id }] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
      expect((await world.run(['approvals', 'respond', id, '--approve', '--no-resume'])).code).toBe(0);
      const database = new Database(join(world.workspace, '.reins/local.db'));
      database.exec("UPDATE tool_calls SET state = 'started', started_at = 1");
      database.close();
      const terminal = openTerminal(world, ['state', 'resume', run_id]);
      await terminal.saw('[a] run again  [d] treat as done  [k] skip  [v] view all  [l] later');
      expect(terminal.screen()).toContain('its outcome is unknown');
      return terminal;
    };
    const ran = () => existsSync(join(world.workspace, 'one'));

    test('nothing but a runs it again', async () => {
      const terminal = await resumed();
      await terminal.press('y', (screen) => count(screen, '[a] run again') >= 2);
      expect(ran()).toBe(false);
      await terminal.press('a', 'Told: It ran.');
      expect((await terminal.ended).code).toBe(0);
      expect(ran()).toBe(true);
    });

    test('d takes it as done, with words as its result', async () => {
      const terminal = await resumed();
      await terminal.press('d', 'its result, as the model will read it');
      terminal.type('one row\r');
      await terminal.saw('Told: one row');
      expect((await terminal.ended).code).toBe(0);
      expect(ran()).toBe(false);
    });

    test('k leaves it, and the model is told that nobody knows', async () => {
      const terminal = await resumed();
      await terminal.press('k', 'Told: outcome_unknown');
      expect((await terminal.ended).code).toBe(0);
      expect(ran()).toBe(false);
    });

    test('l leaves the run at rest', async () => {
      const terminal = await resumed();
      await terminal.press('l', 'waiting for a decision');
      expect((await terminal.ended).code).toBe(4);
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
      expect(asks).toMatchObject([{ kind: 'unknown_outcome', state: 'pending' }]);
      expect(ran()).toBe(false);
    });
  });

  describe('whose arguments are edited', () => {
    /** An editor that does what a line of shell says to the file "$1", and notes who could have read it. */
    const editor = (line: string): Readonly<Record<string, string>> => {
      const path = world.write('../editor', `#!/bin/sh\nstat -c '%a %n' "$2" "$(dirname "$2")" >> "$0.log"\n${line}\n`);
      chmodSync(path, 0o700);
      return { VISUAL: `${path} --wait`, EDITOR: 'false' };
    };
    const saved = (text: string) => `printf '%s' '${text}' > "$2"`;
    const open = async (environment: Readonly<Record<string, string>>): Promise<CliTerminal> => {
      const changed = {
        name: 'changed',
        match: { tool: { content: 'operator changed' } },
        reply: { text: 'Changed.' },
      };
      await addScript(world, [changed, ...writingTurns]);
      const terminal = openTerminal(world, [...tester, 'write'], { environment });
      await terminal.saw('[e] edit the arguments');
      return terminal;
    };

    test('e opens them, what was saved is asked about, and the model is told', async () => {
      const terminal = await open(editor('sed -i s/new.txt/other.txt/ "$2"'));
      await terminal.press('e', 'other.txt');
      await terminal.saw('the new call is judged');
      expect(existsSync(join(world.workspace, 'other.txt'))).toBe(false);
      await terminal.press('y', 'Changed.');
      expect((await terminal.ended).code).toBe(0);
      expect(terminal.screen()).toContain('→ local_fs.write_file new.txt · cancelled by system:superseded');
      expect(terminal.screen()).toContain('→ local_fs.write_file other.txt · approved by operator:cli');
      expect([existsSync(path()), readFileSync(join(world.workspace, 'other.txt'), 'utf8')]).toEqual([
        false,
        'hello\n',
      ]);
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
      const [old, next] = asks[0].superseded_by === null ? [asks[1], asks[0]] : asks;
      expect(old).toMatchObject({ state: 'cancelled', superseded_by: next.id, args: { path: 'new.txt' } });
      expect(old.verdict).toMatchObject({ by: 'system:superseded', edited: { by: 'operator:cli' } });
      expect(next).toMatchObject({ state: 'approved', args: { path: 'other.txt' } });
      const shown = await world.run(['approvals', 'show', old.id]);
      expect(shown.stdout).toContain(`  its arguments were edited by operator:cli; the new call: ${next.id}\n`);
      const [file = '', directory = ''] = readFileSync(join(world.dir, 'editor.log'), 'utf8').split('\n');
      expect([file, directory]).toEqual([expect.stringMatching(/^600 /), expect.stringMatching(/^700 /)]);
      expect(existsSync(directory.slice(4))).toBe(false);
    });

    test('what is no JSON is opened again as it was saved', async () => {
      const terminal = await open(
        editor(`grep -q broken "$2" && ${saved('{"path":"c.txt","content":""}')} || ${saved('broken')}`),
      );
      await terminal.press('e', 'that is not JSON: line 1, column 1; e opens it again');
      expect(existsSync(path())).toBe(false);
      await terminal.press('e', (screen) => screen.includes('c.txt'));
      await terminal.press('n', 'Changed.');
      await terminal.ended;
      expect(existsSync(join(world.workspace, 'c.txt'))).toBe(false);
    });

    test.each([
      ['what is no call of the tool', () => editor(saved('{"path":1}')), 'no call of local_fs.write_file'],
      ['no change', () => editor('true'), 'nothing was changed'],
      ['an editor that fails', () => editor('exit 3'), 'the editor ended with 3'],
      ['no editor', () => ({}), 'no editor is known: set VISUAL or EDITOR'],
    ])('%s leaves the question as it was', async (_, environment, said) => {
      const terminal = await open(environment());
      await terminal.press('e', said);
      await terminal.press('n', 'It was denied.');
      expect((await terminal.ended).code).toBe(0);
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
      expect(asks).toMatchObject([{ state: 'denied', args: { path: 'new.txt' } }]);
    });

    test('Ctrl-C is for the editor while it runs', async () => {
      const terminal = await open(editor('trap "echo caught; exit 1" INT; echo editing; while :; do sleep 0.05; done'));
      await terminal.press('e', 'editing');
      terminal.type('\u0003');
      await terminal.saw('the editor ended with ');
      await terminal.press('n', 'It was denied.');
      expect((await terminal.ended).code).toBe(0);
    });

    test('characters that would hide are shown as escapes, and come back as they were', async () => {
      const call = { name: 'local_fs.write_file', arguments: { path: 'new.txt', content: 'a\u202eb\u{e0041}' } };
      await addScript(world, calling(call));
      const environment = editor(`grep -q 'a.u202eb.udb40.udc41' "$2" && sed -i s/new.txt/other.txt/ "$2"`);
      const terminal = openTerminal(world, [...tester, 'write'], { environment });
      await terminal.saw('[e] edit the arguments');
      await terminal.press('e', 'other.txt');
      await terminal.press('y', 'All done.');
      await terminal.ended;
      expect(readFileSync(join(world.workspace, 'other.txt'), 'utf8')).toBe('a\u202eb\u{e0041}');
    });
  });

  test('nobody is asked when CI is set', async () => {
    await addScript(world, writingTurns);
    const terminal = openTerminal(world, [...tester, 'write'], { environment: { CI: 'true' } });
    expect((await terminal.ended).code).toBe(4);
    expect(terminal.screen()).toContain('local_fs.write_file new.txt');
  });
});

describe('a question about trust', () => {
  const edit = () => {
    const path = join(world.workspace, '.reins', 'default-run-chain.json');
    world.write('.reins/default-run-chain.json', `${readFileSync(path, 'utf8')} `);
  };

  test('y trusts for good, and Enter refuses', async () => {
    edit();
    const refused = openTerminal(world, [...scripted, 'hello there']);
    await refused.saw('[y] trust it');
    await refused.press('\r', 'is not trusted');
    expect((await refused.ended).code).toBe(3);

    const trusted = openTerminal(world, [...scripted, 'hello there']);
    await trusted.saw('[y] trust it');
    await trusted.press('y', 'Thinking…');
    expect((await trusted.ended).code).toBe(0);
    expect((await world.run([...scripted, 'hello there'])).code).toBe(0);
  });

  test('long lines of the content stay behind their bar, and the question names the file', async () => {
    const chain = join(world.workspace, '.reins/default-run-chain.json');
    writeFileSync(chain, `{"description":"${'x'.repeat(60)}[y] trusted already"}\n`);
    const terminal = openTerminal(world, [...scripted, 'hello there'], { columns: 60 });
    await terminal.saw('[y] trust it');
    // A line that the terminal had broken would be read here as one.
    expect(terminal.screen()).not.toMatch(/^ {2}\| .{57}/m);
    expect(terminal.screen().replaceAll(/\n {2}\| /g, '')).toContain('x[y] trusted already');
    expect(terminal.screen()).toContain(`chain ${chain}\n[y] trust it`);
    await terminal.press('n', 'is not trusted');
    await terminal.ended;
  });

  test('of an edited file shows what changed since it was trusted, and again after the next edit', async () => {
    const chain = join(world.workspace, '.reins/default-run-chain.json');
    const text = readFileSync(chain, 'utf8');
    writeFileSync(chain, text.replace('chain-run', 'chain-mine'));
    const first = openTerminal(world, ['trust']);
    await first.saw('[y] trust it');
    expect(first.screen()).toMatch(
      /was trusted at \S+Z, what changed since:\n {2}\| --- a\/\.reins\/default-run-chain\.json/,
    );
    expect(first.screen()).toContain('\n  | -  "id": "chain-run",⏎\n  | +  "id": "chain-mine",⏎\n');
    await first.press('y', 'Trusted ');
    await first.ended;
    writeFileSync(chain, text.replace('chain-run', 'chain-yours'));
    const second = openTerminal(world, [...scripted, 'hello there']);
    await second.saw('[y] trust it');
    expect(second.screen()).toContain('\n  | -  "id": "chain-mine",⏎\n  | +  "id": "chain-yours",⏎\n');
    await second.press('n', 'is not trusted');
    expect((await second.ended).code).toBe(3);
  });

  test('reins trust reviews what waits', async () => {
    edit();
    const path = join(world.workspace, '.reins', 'default-run-chain.json');
    const headless = await world.run(['trust']);
    expect([headless.code, headless.stdout.includes(path)]).toEqual([3, true]);
    const review = openTerminal(world, ['trust']);
    await review.saw('[y] trust it  [n] refuse');
    await review.press('y', `Trusted ${path}.`);
    expect((await review.ended).code).toBe(0);
    expect(await world.run(['trust'])).toMatchObject({ code: 0, stdout: '', stderr: 'nothing waits for trust\n' });
  });

  test('o accepts once', async () => {
    edit();
    const once = openTerminal(world, [...scripted, 'hello there']);
    await once.saw('[o] use it once');
    await once.press('o', 'Thinking…');
    expect((await once.ended).code).toBe(0);
    expect((await world.run([...scripted, 'hello there'])).code).toBe(3);
  });

  test("u leaves the project's policy out of this run; a chain has no layer to give way to", async () => {
    writeFileSync(join(world.workspace, '.reins/hitl-policy.json'), '{"default_action":"deny","rules":[]}');
    const run = openTerminal(world, [...scripted, '--json', 'hello there']);
    await run.saw('TRUST policy');
    await run.press('u', '"source": "builtin"');
    expect((await run.ended).code).toBe(0);
    edit();
    const next = openTerminal(world, [...scripted, 'hello there']);
    await next.saw('TRUST chain');
    expect(next.screen()).not.toContain('[u]');
    await next.press('n', 'is not trusted');
    expect((await next.ended).code).toBe(3);
  });
});

test('Ctrl-C while a model says nothing exits 130 and restores the terminal', async () => {
  await addScript(world, [{ name: 'stuck', reply: { hang: true } }]);
  const terminal = openTerminal(world, [...tester, 'hi']);
  await terminal.saw('waiting for');
  terminal.type('\u0003');
  expect((await terminal.ended).code).toBe(130);
  expect(terminal.screen()).toContain('the run was cancelled');
  expect(terminal.screen()).not.toContain('waiting for');
});
