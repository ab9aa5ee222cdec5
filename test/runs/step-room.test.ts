import { afterEach, expect, it } from 'vitest';
import type { CapturedStep } from '../../src/schema/event.ts';
import { call, calls, loopChain, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/** What is stored of the inputs and outputs of a run's steps (04 §17, 11 §11). */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const noops = (count: number, then: string) =>
  Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    handler: 'noop',
    transition: { branches: [{ operator: 'default', goto: index + 1 < count ? `t${index + 1}` : then }] },
  }));

const stepsOf = (of: ScriptedApp): CapturedStep[] =>
  of.rows('SELECT data FROM run_steps ORDER BY idx').map(({ data }) => JSON.parse(String(data)) as CapturedStep);

it('keeps both ends of a long text and the beginning of a large value, and says what is left out', async () => {
  app = await scriptedApp({ turns: [], chain: { id: 'c', tasks: noops(1, 'end') } });
  const text = `${'a'.repeat(13_107)}${'b'.repeat(100_000)}${'c'.repeat(52_428)}`;
  const { output } = await app.run({ input: { type: 'string', value: text } });
  expect(output).toBe(text);
  const kept = `${'a'.repeat(13_107)}\n[… 100000 bytes left out …]\n${'c'.repeat(52_428)}`;
  expect(stepsOf(app)[0]).toMatchObject({ input: kept, output: kept, truncated: ['input', 'output'] });

  await app.run({ input: { type: 'json', value: { list: ['x'.repeat(70_000)] } } });
  const step = stepsOf(app).find(({ input_type }) => input_type === 'json');
  expect(step).toMatchObject({ input: { truncated: true, bytes: 70_013 }, truncated: ['input', 'output'] });
});

it('holds 32 MiB of them in all, over every rest of the run, which goes on as if all were there', async () => {
  app = await scriptedApp({
    turns: [calls([call('local_fs.write_file', { path: 'a', content: 'x' })], { turn: 1 }), says('done')],
    chain: { id: 'c', tasks: [...noops(260, 'work'), ...loopChain.tasks] },
    policy: { default_action: 'approve', rules: [] },
  });
  const text = 'y'.repeat(65_000);
  const { run_id, status, asks } = await app.run({ input: { type: 'string', value: text }, on_ask: 'suspend' });
  expect(status).toBe('suspended');
  const stored = stepsOf(app);
  expect(stored[255]).toMatchObject({ input: text, output: text });
  const left = '[… 65000 bytes left out: the steps of this run hold 32 MiB …]';
  expect(stored[259]).toMatchObject({ input: left, output: left, truncated: ['input', 'output'] });

  const verdict = { outcome: 'approve', feedback: null, text: null, remember: null, binding: null } as const;
  await app.client.answerAsk({ id: asks[0]?.id ?? '', ...verdict });
  await app.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'deny', timeout_ms: 0 });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed', text: 'done' });
  // The history of the later steps is ranges, and small enough to be there still.
  expect(stepsOf(app).at(-1)).not.toHaveProperty('truncated');
});

it('ends a run whose outputs no checkpoint can hold with a sentence', async () => {
  const tasks = [...noops(70, 'work'), ...loopChain.tasks];
  app = await scriptedApp({ turns: [says('never')], chain: { id: 'c', tasks } });
  const { error } = await app.run({ input: { type: 'string', value: 'z'.repeat(4_000_000) } });
  expect(error).toEqual({
    class: 'storage',
    message: 'the outputs of the tasks of this run are together larger than 256 MiB, more than a checkpoint holds',
  });
});
