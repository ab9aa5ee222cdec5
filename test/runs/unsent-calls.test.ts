import { afterEach, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/** Every call of a run is on its record (03 §1.3), also one that nobody was asked about. */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const listing = call('local_fs.list_dir', { path: '.' });
const cut = { reply: { text: '', finish: 'length', tool_calls: [call('local_fs.write_file', '{"path":"a')] } };

it('shows calls that the engine or the gate refused, with the arguments that the model gave', async () => {
  app = await scriptedApp({
    turns: [
      calls([call('nosuch.tool', { name: 'x' }), call('local_fs.read_file', { pth: 'y' })], { turn: 1 }),
      { match: { turn: 2 }, ...cut },
      calls([listing], { turn: { lt: 8 } }),
      says('done'),
    ],
  });
  const { run_id, num_tool_calls } = await app.run();
  const { calls: shown } = await app.client.showRun({ run_id, full: true });
  expect(shown.map(({ tools, tool, args, state, error }) => [`${tools}.${tool}`, args, state, error])).toEqual([
    ['nosuch.tool', { name: 'x' }, 'skipped', 'not_found'],
    ['local_fs.read_file', { pth: 'y' }, 'skipped', 'invalid_arguments'],
    ['local_fs.write_file', null, 'skipped', 'invalid_arguments'],
    ...Array.from({ length: 4 }, () => ['local_fs.list_dir', { path: '.' }, 'done', null]),
    ['local_fs.list_dir', { path: '.' }, 'skipped', 'repeated_call'],
  ]);
  expect(num_tool_calls).toBe(4);
  // None of them was decided, so the audit log has none of them.
  expect(app.rows("SELECT count(*) AS n FROM audit WHERE type = 'decision'")).toEqual([{ n: 4 }]);
});

it('shows a batch that is longer than a batch may be, and one that the end of the chain left open', async () => {
  app = await scriptedApp({
    turns: [calls(Array.from({ length: 66 }, (_, index) => call('local_fs.list_dir', { path: `${index}` })))],
    chain: {
      id: 'c',
      tasks: [
        {
          id: 'work',
          handler: 'chat_completion',
          execute_config: { model: '{{var:model}}', tools: ['*'] },
          transition: { branches: [{ operator: 'default', goto: 'run_tools' }] },
        },
        {
          id: 'run_tools',
          handler: 'execute_tool_calls',
          input_var: 'work',
          transition: { branches: [{ operator: 'default', goto: 'again' }] },
        },
        { id: 'again', handler: 'chat_completion', execute_config: { model: '{{var:model}}', tools: ['*'] } },
      ],
    },
  });
  const { run_id } = await app.run();
  const { calls: shown } = await app.client.showRun({ run_id, full: true });
  const count = (error: string) => shown.filter((each) => each.error === error).length;
  expect([shown.length, count('too_many_calls'), count('not_executed')]).toEqual([132, 2, 66]);
});
