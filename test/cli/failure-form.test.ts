import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formOf, guessForm } from '../../src/cli/failure-form.ts';
import { scan } from '../../src/cli/scan.ts';
import { createProject, resultMembers, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
});
afterAll(() => world.remove());

describe('what failed before there was a run', () => {
  test.each<[string, readonly string[]]>([
    ['an unknown flag', ['run', '--json', '--nosuch', 'hi']],
    ['an unknown flag before the words', ['--json', '--nosuch', 'hi']],
    ['a bad value', ['--json', '--timeout', '5', 'hi']],
    ['a missing value', ['--json', '--timeout']],
    ['two formats', ['--json', '--raw', 'hi']],
    ['no input at all', ['--json']],
    ['a bad value of chat', ['chat', '--json', '--trim', '-1', 'hi']],
    ['a bad value of demo', ['demo', '--json', '--timeout', '5']],
  ])('%s is one result object', async (_name, argv) => {
    const { code, stdout, stderr } = await world.run(argv);
    const object = JSON.parse(stdout);
    expect(Object.keys(object)).toEqual(resultMembers);
    expect(object).toMatchObject({
      type: 'result',
      subtype: 'error_invalid',
      is_error: true,
      error: { class: 'usage' },
      exit_code: 2,
    });
    expect([code, stderr.startsWith(`reins: ${object.error.message}\n`)]).toEqual([2, true]);
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['by a flag', ['--output-format', 'stream-json', '--nosuch', 'hi'], {}],
    ['by a flag with =', ['run', '--output-format=stream-json', '--timeout', '5', 'hi'], {}],
    ['by the environment', ['--nosuch', 'hi'], { REINS_OUTPUT_FORMAT: 'stream-json' }],
  ])('begins with init and ends with result where the stream was asked for %s', async (_name, argv, environment) => {
    const { code, stdout } = await world.run(argv, { environment });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, seq, run_id }) => [type, seq, run_id])).toEqual([
      ['init', 1, null],
      ['result', 2, null],
    ]);
    expect([code, lines[1].exit_code]).toEqual([2, 2]);
  });

  test('of a management command is its error alone', async () => {
    const unknownFlag = await world.run(['session', 'list', '--json', '--nosuch']);
    expect(JSON.parse(unknownFlag.stdout)).toEqual({
      error: {
        message: '--nosuch is not a flag; text that begins with - goes after --',
        code: 'usage',
        hint: 'reins session list --help',
      },
      exit_code: 2,
    });
    const unknownName = await world.run(['session', 'switch', 'nosuch', '--output-format', 'stream-json']);
    expect(JSON.parse(unknownName.stdout)).toMatchObject({ error: { code: 'not_found' }, exit_code: 1 });
  });
});

test('what was said elsewhere moves no cursor where stderr is piped, and has its very bytes in JSON', async () => {
  const said = 'no \u001b]0;title\u0007\u001b[2Kroom\u202e';
  const task = { id: 'a', handler: 'raise_error', prompt_template: said };
  world.write('said.json', JSON.stringify({ id: 'said', tasks: [task] }));
  const { code, stdout, stderr } = await world.run(['run', '--json', '--chain', 'said.json', 'hi']);
  expect([code, JSON.parse(stdout).error.message.endsWith(said)]).toEqual([1, true]);
  expect(stderr.split('\n')[0]).toMatch(/^reins: .*no ␛\]0;title␇␛\[2Kroom⟨U\+202E⟩/);
});

test('the value of a flag is no format', () => {
  const argv = ['run', '--input', '--json'];
  expect(formOf(scan(argv), {})).toMatchObject({ format: 'text', ofRun: true, trace: false });
});

test('what follows -- is text, also in a guess', () => {
  const form = guessForm(['--nosuch', '--', 'session', 'list', '--json'], { REINS_TRACE: '1' });
  expect(form).toEqual({ format: 'text', ofRun: true, trace: true, path: [] });
});
