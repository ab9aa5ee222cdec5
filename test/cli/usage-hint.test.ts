import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf } from '../../src/cli/report-error.ts';
import { scan } from '../../src/cli/scan.ts';
import { withUsageHint } from '../../src/cli/usage-hint.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { createProject, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
});
afterAll(() => world.remove());

describe('a mistake on the command line names where the accepted forms are listed', () => {
  test.each<[readonly string[], string]>([
    [['--timeout', '5', 'hi'], 'reins help flags'],
    [['--model', '', 'hi'], 'reins help flags'],
    [['--no-color=x', 'hi'], 'reins help flags'],
    [['--policy', 'A B', 'hi'], 'reins help flags'],
    [['--trust', 'abc', 'hi'], 'reins help flags'],
    [['--model', 'a', '--model', 'b', 'hi'], 'reins help flags'],
    [['--model'], 'reins help flags'],
    [['run', '--var', 'x', 'hi'], 'reins run --help'],
    [['run', '--image', 'nosuch', 'hi'], 'reins run --help'],
    [['chat', '--last', '-1', 'hi'], 'reins chat --help'],
    [['session', 'show', '--tail', '1', '--head', '1'], 'reins session show --help'],
    [['approvals', 'list', '--state', 'x'], 'reins approvals list --help'],
    [['backend', 'add', 'x', '--header', 'bad'], 'reins backend add --help'],
    [['init', 'nosuch'], 'reins init --help'],
    [['config', 'set', 'approval-ceiling', '30'], 'reins help config'],
  ])('%j', async (argv, hint) => {
    const { code, stdout, stderr } = await world.run(argv);
    expect([code, stdout, stderr.split('\n').slice(1)]).toEqual([2, '', [`  ${hint}`, '']]);
  });

  test('a variable is listed with the variables', async () => {
    const { stderr } = await world.run(['hi'], { environment: { REINS_TIMEOUT: '5' } });
    expect(stderr).toMatch(/^reins: REINS_TIMEOUT: .*\n {2}reins help env\n$/);
  });

  test.each([
    ['REINS_SESSION', ['chat', 'hi'], 1],
    ['REINS_POLICY', ['hi'], 3],
    ['REINS_MODEL', ['hi', '--provider', 'scripted'], 7],
    ['REINS_DATA_DIR', ['hi'], 3],
  ])('a name that leads nowhere, out of a variable, is told with it: %s', async (variable, argv, code) => {
    const environment = { [variable]: 'nosuch' };
    const { code: left, stderr } = await world.run(argv, { environment });
    expect([left, stderr.split('\n')[1]]).toEqual([code, `  unset ${variable}`]);
  });

  test('what a flag names is no matter of the variable', async () => {
    const { stderr } = await world.run(['hi', '--policy', 'nosuch'], { environment: { REINS_POLICY: 'nosuch' } });
    expect(stderr).not.toContain('unset');
  });

  test('a flag that took the text for its value is told, not hidden behind the help', async () => {
    expect(await world.run(['--timeout', 'hi'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^reins: --timeout: "hi" is not a duration .*\n {2}reins help flags\n$/),
    });
  });

  test('a hint of its own stays, and other failures get none', () => {
    const own = failureOf(new RuntimeError('usage', '--x', { hints: ['reins init'] }));
    const { path } = scan(['session', 'list']);
    expect(withUsageHint(own, path).hints).toEqual(['reins init']);
    expect(withUsageHint(failureOf(new RuntimeError('not_found', '--model')), path).hints).toEqual([]);
    expect(withUsageHint(failureOf(new RuntimeError('usage', 'no')), []).hints).toEqual(['reins --help']);
  });
});

test('hints are commands: what is missing is named by one that can be pasted', async () => {
  const hints = async (...argv: readonly string[]) => (await world.run(argv)).stderr.trimEnd().split('\n').slice(1);
  expect(await hints('--model', 'nosuch', 'hi')).toEqual(['  reins model list']);
  await world.run(['session', 'new', 'work']);
  expect(await hints('session', 'new', 'work')).toEqual(['  reins session switch work']);
  const nobody = await world.run(['--provider', 'openai', 'hi']);
  expect(nobody.stderr).toBe(
    'reins: No backend of type openai is registered.\n  reins backend add openai --type openai --api-key-env OPENAI_API_KEY\n',
  );
});

test('a path with a blank is quoted in a hint', async () => {
  const missing = `${world.home}/no such`;
  expect((await world.run(['--data-dir', missing, 'hi'])).stderr).toBe(
    `reins: The data directory ${missing} does not exist.\n  reins --data-dir '${missing}' init\n`,
  );
});
