import { afterEach, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

it('names the task of everything that happens inside one, also of an answer from elsewhere and after a rest', async () => {
  const touch = call('local_shell.local_shell', { command: 'touch here' });
  app = await scriptedApp({
    turns: [calls([touch], { role: 'user' }), says('done', { role: 'tool' })],
    policy: { default_action: 'approve', rules: [] },
  });
  const { run_id } = await app.start({ on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const [asked] = app.rows('SELECT id FROM asks');
  const other = await app.open();
  const answer = { outcome: 'approve', feedback: null, text: null, remember: null, binding: null } as const;
  await other.answerAsk({ id: String(asked?.['id']), ...answer });
  await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'deny', timeout_ms: 0 });
  await other.awaitRun({ run_id });

  const events = await app.events(run_id);
  const inTools = events
    .filter(({ task_id }) => task_id === 'run_tools')
    .map(({ kind, task_handler, attempt }) => `${kind} ${task_handler} ${attempt}`);
  expect([...new Set(inTools)]).toEqual(
    [
      'step_started',
      'tool_call_pending',
      'policy_decision',
      'ask',
      'verdict',
      'tool_call_started',
      'tool_call',
      'message',
      'step_completed',
    ].map((kind) => `${kind} execute_tool_calls 1`),
  );
  const ofWhole = events.filter(({ task_id }) => task_id === undefined).map(({ kind }) => kind);
  expect(ofWhole).toEqual(['chain_started', 'chain_suspended', 'chain_resumed', 'chain_completed']);
});
