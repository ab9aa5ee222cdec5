import { afterEach, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const columns = 'role, kind, status, error, tokens_in, tokens_out';
const stored = () => app.rows(`SELECT ${columns} FROM messages ORDER BY seq`);
const plain = { kind: 'message', status: 'complete', error: null, tokens_in: null, tokens_out: null };
const used = (tokens_in: number, tokens_out: number) => ({ ...plain, role: 'assistant', tokens_in, tokens_out });

it('keeps with each answer of a session what its request has cost, and with a failure what it was', async () => {
  const asks = calls([call('echo.echo', { input: 'hi' })], { role: 'user', last_user: 'ask' });
  const answers = says('hello', { role: 'tool' });
  app = await scriptedApp({
    turns: [
      { ...asks, reply: { ...asks.reply, usage: { input_tokens: 11, output_tokens: 7 } } },
      { ...answers, reply: { ...answers.reply, usage: { input_tokens: 20, output_tokens: 3 } } },
      { match: { role: 'user' }, reply: { error: { class: 'invalid_request', message: 'not like this' } } },
    ],
  });
  const good = await app.chat('ask');
  await app.client.awaitRun({ run_id: good.run_id });
  expect(stored()).toEqual([{ ...plain, role: 'user' }, used(11, 7), { ...plain, role: 'tool' }, used(20, 3)]);
  const bad = await app.chat('fail');
  const { error } = await app.client.awaitRun({ run_id: bad.run_id });
  const last = stored().at(-1);
  expect({ ...last, error: JSON.parse(String(last?.['error'])) }).toEqual({
    ...plain,
    role: 'assistant',
    kind: 'note',
    error: { class: 'permanent', message: error?.message },
  });
});
