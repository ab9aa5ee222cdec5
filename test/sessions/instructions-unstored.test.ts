import { afterEach, expect, test } from 'vitest';
import { type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

test('the instructions of a chain are told to the model in each turn, and are no part of the session', async () => {
  app = await scriptedApp({
    turns: [says('I know the password.', { system: 'the password is swordfish' }), says('I was told nothing.')],
    chain: {
      id: 'told',
      tasks: [
        {
          id: 'work',
          handler: 'chat_completion',
          system_instruction: 'Remember: the password is swordfish.',
          execute_config: { model: '{{var:model}}' },
          transition: { branches: [{ operator: 'default', goto: 'end' }] },
        },
      ],
    },
  });
  for (const text of ['one', 'two', 'three']) {
    const { run_id } = await app.chat(text);
    await app.client.awaitRun({ run_id, full: true });
  }
  const stored = app.rows('SELECT payload FROM messages ORDER BY seq');
  const spoken = stored.map(({ payload }) => JSON.parse(String(payload)) as { role: string; content: string });
  const knows = 'assistant: I know the password.';
  expect(spoken.map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'user: one',
    knows,
    'user: two',
    knows,
    'user: three',
    knows,
  ]);
  expect(stored.map(({ payload }) => String(payload)).join()).not.toContain('swordfish');
  expect(
    app
      .rows('SELECT payload FROM run_messages')
      .map(({ payload }) => String(payload))
      .join(),
  ).not.toContain('swordfish');
});
