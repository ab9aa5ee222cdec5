import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp, scriptedBackend } from '../../support/scripted-app.ts';

/** Attacks of `attack-cases.json` by the chain that answers in the operator's place, through the whole program. */

let app: ScriptedApp;
afterEach(() => app.close());

const paths = ['canary0', 'canary1', 'canary2', 'canary3'];
const write = (path = '') => call('local_fs.write_file', { path, content: 'x' });
const made = (): readonly string[] => paths.filter((path) => existsSync(join(app.place.workspace, path)));
/** The scripted model fills in the id that it was given. */
const asked = ['$', '{match.1}'].join('');
const agent = (ask_id: string) => ({
  match: { system: 'You decide.', last_user: { regex: '"ask_id":"(ask_[a-z0-9]+)"' } },
  reply: { text: JSON.stringify({ ask_id, outcome: 'approve' }) },
});
/** A model that writes one file after another. */
const writes = [
  says('done', { tool: { count: 4 } }),
  ...[3, 2, 1].map((count) => calls([write(paths[count])], { tool: { count } })),
  calls([write(paths[0])]),
];
const judge = {
  id: 'judge',
  tasks: [
    {
      id: 'look',
      handler: 'chat_completion',
      system_instruction: 'You decide.',
      execute_config: { model: '{{var:model}}' },
      transition: { branches: [{ operator: 'default', goto: 'end' }] },
    },
  ],
};

const policy = (more: object) => ({ default_action: 'approve', attention: { allowAgentApprovals: true }, ...more });
const file = (name: string, value: unknown): string => {
  const path = join(app.place.dir, name);
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  return path;
};

async function open(turns: readonly unknown[], governing: unknown): Promise<void> {
  app = await scriptedApp({ turns, policy: governing });
  await app.client.setConfig({ key: 'attention-chain', value: file('judge.json', judge) });
}

const asks = () =>
  app.rows("SELECT id, state, json_extract(verdict, '$.by') AS by FROM asks ORDER BY created_at, id") as {
    id: string;
    state: string;
    by: string | null;
  }[];
const by = () => asks().map((one) => one.by);
const looks = () => app.rows("SELECT id FROM runs WHERE kind = 'attention'");
const deny = (id: string) =>
  app.client.answerAsk({ id, outcome: 'deny', feedback: null, text: null, remember: null, binding: null });

/** Denies what is asked from the numbered ask on, until the run has ended. */
async function denyFrom(runId: string, number: number): Promise<void> {
  for await (const batch of app.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind === 'ask' && asks().findIndex(({ id }) => id === event.ask_id) >= number) await deny(event.ask_id);
    }
  }
}

it('APR-014: an agent has so many verdicts in a mission, and a restart gives it no more', async () => {
  await open([agent(asked), ...writes], policy({ attention: { allowAgentApprovals: true, maxAgentApprovals: 2 } }));
  const { run_id } = await app.start({ on_ask: 'wait' });
  for await (const batch of app.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    if (batch.some(({ kind }) => kind === 'ask') && asks().length === 3) break;
  }
  await app.client.stopRun({ run_id, reason: 'shutdown' });
  await app.stop();
  expect([made(), by()]).toEqual([
    ['canary0', 'canary1'],
    ['agent:judge', 'agent:judge', null],
  ]);

  const client = await app.open();
  const request = { run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 } as const;
  await client.resumeRun(request);
  const person = async (number: number): Promise<void> => {
    await expect.poll(() => asks()[number]?.state, { timeout: 10_000 }).toBe('pending');
    const id = asks()[number]?.id ?? '';
    await client.answerAsk({ id, outcome: 'deny', feedback: null, text: null, remember: null, binding: null });
  };
  await person(2);
  await person(3);
  await client.awaitRun({ run_id });
  expect(made()).toEqual(['canary0', 'canary1']);
  expect(by()).toEqual(['agent:judge', 'agent:judge', 'operator:cli', 'operator:cli']);
  expect(looks()).toHaveLength(2);
});

it('APR-015: an agent that names another ask answers neither', async () => {
  await open([...writes], policy({ attention: {} }));
  const victim = await app.run({ on_ask: 'suspend' });
  const [{ id = '' } = { id: '' }] = asks();
  const script = { script: 1, models: [{ name: 'm2', context: 100_000, capabilities: ['chat', 'tools'] }] };
  const url = file('script2.json', { ...script, turns: [agent(id), ...writes] });
  await app.client.addBackend({ ...scriptedBackend, name: 's2', url });
  const { run_id } = await app.start({ model: 'm2', on_ask: 'wait', policy: file('agents.json', policy({})) });
  for await (const batch of app.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    if (batch.some((event) => event.kind === 'ask_updated' && event.adjudicator === 'waited')) break;
  }
  expect([asks().map(({ state }) => state), by(), made()]).toEqual([['pending', 'pending'], [null, null], []]);
  expect(victim.status).toBe('suspended');
  await deny(asks()[1]?.id ?? '');
  await denyFrom(run_id, 2);
  expect(made()).toEqual([]);
});

it('APR-015 and SEM-006: an agent has no word on a call that the policy denies', async () => {
  await open([agent(asked), ...writes], policy({ rules: [{ tools: 'local_fs', action: 'deny' }] }));
  await app.run({ on_ask: 'wait' });
  expect([asks(), looks(), made()]).toEqual([[], [], []]);
});
