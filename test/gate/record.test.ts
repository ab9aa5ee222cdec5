import { afterEach, expect, test } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const json = (text: unknown) => JSON.parse(String(text)) as Readonly<Record<string, unknown>>;

test('every verdict of the policy has its row, and as many calls are begun in the log as were carried out', async () => {
  const wanted = [
    call('echo.echo', { input: 'by a rule' }),
    call('local_fs.write_file', { path: 'a.txt', content: 'denied' }),
    call('local_fs.list_dir', { path: '.' }),
    call('local_fs.write_file', { path: 'b.txt', content: 'asked' }),
    call('local_fs.read_file', { path: 'not-there.txt' }),
    call('nobody.knows', {}),
  ];
  app = await scriptedApp({
    turns: [calls(wanted, { role: 'user' }), says('end')],
    policy: {
      default_action: 'allow',
      rules: [
        { tools: 'echo', action: 'allow' },
        { tools: 'local_fs', tool: 'write_file', when: [{ key: 'path', op: 'eq', value: 'b.txt' }], action: 'approve' },
        { tools: 'local_fs', tool: 'write_file', action: 'deny' },
      ],
    },
  });
  const { run_id } = await app.start();
  const events = await app.events(run_id);
  const decided = events.flatMap((event) => (event.kind === 'policy_decision' ? [event] : []));
  const carriedOut = events.flatMap((event) => (event.kind === 'tool_call_started' ? [event.call_id] : []));
  expect(decided.map(({ tool, action }) => `${tool} ${action}`).sort()).toEqual([
    'echo allow',
    'list_dir allow',
    'read_file allow',
    'write_file approve',
    'write_file deny',
  ]);
  const logged = (type: string) =>
    app
      .rows('SELECT body FROM audit WHERE run_id = ? AND type = ? ORDER BY seq', run_id, type)
      .map(({ body }) => json(body));
  expect(logged('decision').map(({ call_id }) => call_id)).toEqual(decided.map(({ call_id }) => call_id));
  const allowed = decided.filter(({ action }) => action === 'allow').map(({ call_id }) => call_id);
  // A call that then fails was carried out as well.
  expect([...carriedOut].sort()).toEqual([...allowed].sort());
  const begun = logged('effect').filter(({ state }) => state === 'started');
  expect(begun.map(({ call_id }) => call_id)).toEqual(carriedOut);
  expect(
    app
      .rows('SELECT call_id FROM tool_calls WHERE run_id = ? AND started_at IS NOT NULL', run_id)
      .map(({ call_id }) => call_id)
      .sort(),
  ).toEqual([...carriedOut].sort());
});
