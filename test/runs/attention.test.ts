import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { processOwner } from '../../src/store/owner.ts';
import { call, calls, loopChain, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const agentMay = { allowAgentApprovals: true };
const asking = (attention: object = agentMay, rules: readonly object[] = []) => ({
  default_action: 'approve',
  rules,
  attention,
});

/** The chain that answers in the operator's place: one model call about the object it is given. */
const judge = {
  id: 'judge',
  tasks: [
    {
      id: 'look',
      handler: 'chat_completion',
      system_instruction: 'You decide.',
      execute_config: { model: '{{var:model}}', tools: ['*'] },
      transition: { branches: [{ operator: 'default', goto: 'end' }] },
    },
  ],
};

// The scripted model fills it in.
const matched = ['$', '{match.1}'].join('');

/** What the agent says, the id of the ask filled in from what it was given. */
const answers = (outcome: string, more: object = {}) => ({
  match: { system: 'You decide.', last_user: { regex: '"ask_id":"(ask_[a-z0-9]+)"' } },
  reply: { text: JSON.stringify({ ask_id: matched, outcome, ...more }) },
});
const agentSays = (text: string) => ({
  match: { system: 'You decide.' },
  reply: { text },
});

const write = (path: string) => call('local_fs.write_file', { path, content: 'x' });
const results = (count: number) => ({ tool: { count } });

/** A run that writes the files one after another, with an agent that says what the turns let it say. */
async function withAgent(paths: readonly string[], agent: readonly unknown[], policy: unknown = asking()) {
  const later = paths.slice(1).map((path, index) => calls([write(path)], results(index + 1)));
  return attended([...agent, says('done', results(paths.length)), ...later, calls([write(paths[0] ?? 'a')])], policy);
}

async function attended(turns: readonly unknown[], policy: unknown, asks: unknown = loopChain) {
  app = await scriptedApp({ turns, policy, chain: asks });
  const chain = join(app.place.dir, 'judge.json');
  writeFileSync(chain, JSON.stringify(judge), { mode: 0o600 });
  await app.client.setConfig({ key: 'attention-chain', value: chain });
  return app;
}

const made = (running: ScriptedApp, name: string): boolean => existsSync(join(running.place.workspace, name));

/** Answers every ask that is open until the run has ended, as a person in another terminal. */
async function person(running: ScriptedApp, askId: string, outcome: 'approve' | 'deny' = 'deny') {
  await running.client.answerAsk({ id: askId, outcome, feedback: null, text: null, remember: null, binding: null });
}

const verdicts = (running: ScriptedApp) =>
  running.rows("SELECT state, json_extract(verdict, '$.by') AS by FROM asks ORDER BY created_at, id");
const agentRuns = (running: ScriptedApp) =>
  running.rows("SELECT status, mission_id, parent_run_id, session_id FROM runs WHERE kind = 'attention' ORDER BY id");

/** Resolves once the agent has left the ask to people. */
async function waited(running: ScriptedApp, runId: string): Promise<string> {
  for await (const batch of running.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) if (event.kind === 'ask_updated' && event.adjudicator === 'waited') return event.ask_id;
  }
  throw new Error('the run ended, and the agent never looked');
}

/** Resolves with the id of an ask, counted from 1. */
async function asked(running: ScriptedApp, runId: string, nth: number): Promise<string> {
  const asks: string[] = [];
  for await (const batch of running.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) if (event.kind === 'ask') asks.push(event.ask_id);
    const found = asks[nth - 1];
    if (found !== undefined) return found;
  }
  throw new Error(`the run ended after ${asks.length} asks`);
}

describe('an agent that the policy lets answer', () => {
  it('approves a call: attributed to it, in the mission of the run, and written into the audit log', async () => {
    const running = await withAgent(['a'], [answers('approve')]);
    const result = await running.run({ on_ask: 'wait' });
    expect(result).toMatchObject({ status: 'completed', text: 'done' });
    expect(made(running, 'a')).toBe(true);
    expect(verdicts(running)).toEqual([{ state: 'approved', by: 'agent:judge' }]);
    expect(agentRuns(running)).toEqual([
      { status: 'completed', mission_id: result.run_id, parent_run_id: result.run_id, session_id: null },
    ]);
    const started = "SELECT json_extract(data, '$.parent_run_id') AS parent FROM events WHERE kind = 'chain_started'";
    expect(running.rows(`${started} ORDER BY cursor`)).toEqual([{ parent: null }, { parent: result.run_id }]);
    expect(running.rows("SELECT json_extract(body, '$.by') AS by FROM audit WHERE type = 'verdict'")).toEqual([
      { by: 'agent:judge' },
    ]);
    const listed = await running.client.listAsks({
      state: 'all',
      kind: null,
      session: null,
      mission: null,
      by: 'agent',
      limit: 10,
    });
    expect(listed.asks).toHaveLength(1);
    expect(listed.asks[0]?.preview.adjudicator).toMatchObject({ chain: 'judge', used: 0, cap: 20 });
  });

  it('declines a call, and the model hears from whom and why', async () => {
    const running = await withAgent(['a'], [answers('deny', { feedback: 'not today' })]);
    const { run_id } = await running.run({ on_ask: 'wait' });
    expect(made(running, 'a')).toBe(false);
    expect(verdicts(running)).toEqual([{ state: 'denied', by: 'agent:judge' }]);
    const told = (await running.events(run_id)).find(({ kind }) => kind === 'tool_call');
    expect(JSON.parse(String(told?.kind === 'tool_call' ? told.result : ''))).toMatchObject({
      error: 'denied',
      by: 'agent:judge',
      feedback: 'not today',
      message: expect.stringContaining("agent that answers in the operator's place"),
    });
  });

  it('is offered no tool, and what the model wrote stands in untrusted members', async () => {
    const running = await withAgent(
      ['a'],
      [
        {
          match: {
            system: 'You decide.',
            last_user: { regex: '^(?s:.*)"outcomes":\\["approve","deny","wait"\\].*"untrusted_args":\\{"path":"a".*$' },
          },
          reply: { text: '{"ask_id":"nobody","outcome":"wait"}', expect: { offered: [] } },
        },
      ],
    );
    const { run_id } = await running.start({ on_ask: 'wait' });
    await person(running, await waited(running, run_id));
    await running.client.awaitRun({ run_id });
    const offered = running.rows(
      "SELECT json_extract(data, '$.tools') AS tools FROM events e JOIN runs r ON r.id = e.run_id WHERE r.kind = 'attention' AND e.kind = 'chain_started'",
    );
    expect(offered).toEqual([{ tools: '[]' }, { tools: '[]' }].slice(0, offered.length));
    expect(offered.length).toBeGreaterThan(0);
  });

  it('is corrected once, and its second answer counts', async () => {
    const running = await withAgent(
      ['a'],
      [
        { match: { system: 'You decide.', last_user: { not: 'correction' } }, reply: { text: 'I think so.' } },
        answers('approve'),
      ],
    );
    const result = await running.run({ on_ask: 'wait' });
    expect(verdicts(running)).toEqual([{ state: 'approved', by: 'agent:judge' }]);
    expect(agentRuns(running)).toHaveLength(2);
    const counted = running.rows("SELECT json_extract(counters, '$.tokens') AS tokens FROM runs WHERE kind = 'run'");
    expect(counted[0]?.['tokens']).toBeGreaterThan(result.usage.total_tokens);
  });

  it.each([
    ['waits', answers('wait')],
    ['names another ask', agentSays('{"ask_id":"ask_0","outcome":"approve"}')],
    ['uses a word that this ask does not take', answers('answer', { text: 'yes' })],
    ['says more than one object', agentSays('{"outcome":"approve"} {"outcome":"approve"}')],
    ['fails', { match: { system: 'You decide.' }, reply: { error: { class: 'invalid_request' } } }],
  ])('changes nothing when it %s', async (_name, agent) => {
    const running = await withAgent(['a'], [agent]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const id = await waited(running, run_id);
    expect(verdicts(running)).toEqual([{ state: 'pending', by: null }]);
    expect((await running.client.showAsk({ id })).preview.adjudicator).toMatchObject({ state: 'waited' });
    await person(running, id, 'approve');
    expect(await running.client.awaitRun({ run_id })).toMatchObject({ status: 'completed' });
    expect(verdicts(running)).toEqual([{ state: 'approved', by: 'operator:cli' }]);
  });

  it('is overruled by a person who answers while it looks, and its run ends', async () => {
    const running = await withAgent(['a'], [{ match: { system: 'You decide.' }, reply: { hang: true } }]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask_updated');
    await person(running, ask_id, 'deny');
    await running.client.awaitRun({ run_id });
    expect(verdicts(running)).toEqual([{ state: 'denied', by: 'operator:cli' }]);
    await running.stop();
    expect(agentRuns(running)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('has so many verdicts in a mission, then people answer', async () => {
    const policy = asking({ allowAgentApprovals: true, maxAgentApprovals: 1 });
    const running = await withAgent(['a', 'b'], [answers('approve')], policy);
    const { run_id } = await running.start({ on_ask: 'wait' });
    await person(running, await asked(running, run_id, 2), 'deny');
    await running.client.awaitRun({ run_id });
    expect(verdicts(running)).toEqual([
      { state: 'approved', by: 'agent:judge' },
      { state: 'denied', by: 'operator:cli' },
    ]);
    expect(agentRuns(running)).toHaveLength(1);
  });

  it('looks once: a run that was stopped and goes on does not ask it again what it left to people', async () => {
    const running = await withAgent(['a'], [answers('wait')]);
    await running.client.setConfig({ key: 'approval-ceiling', value: '4s' });
    const { run_id } = await running.start({ on_ask: 'wait' });
    await waited(running, run_id);
    await running.client.stopRun({ run_id, reason: 'interrupted' });
    await running.client.awaitRun({ run_id });
    const other = await running.open();
    await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 });
    // Nobody comes: until the deadline it would have had time to look.
    expect(await other.awaitRun({ run_id })).toMatchObject({ status: 'completed' });
    expect(verdicts(running)).toEqual([{ state: 'expired', by: 'system:timeout' }]);
    expect(agentRuns(running)).toHaveLength(1);
  });

  it('is over, and nothing to go on with, when the process of both runs is lost', async () => {
    const running = await withAgent(['a'], [{ match: { system: 'You decide.' }, reply: { hang: true } }]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    await running.seen(run_id, 'ask_updated');
    const gone = processOwner('cli').split(' ').with(2, '999999999').join(' ');
    running.change(`UPDATE run_state SET lease_owner = '${gone}'`);
    const other = await running.open();
    const [agent] = running.rows("SELECT id FROM runs WHERE kind = 'attention'");
    const resume = {
      run_id: String(agent?.['id']),
      accept_changed_chain: false,
      on_ask: 'wait',
      timeout_ms: 0,
    } as const;
    await expect(other.resumeRun(resume)).rejects.toMatchObject({ code: 'run_not_resumable' });
    await other.doctor({ probe: false });
    expect(running.rows('SELECT kind, status FROM runs ORDER BY kind')).toEqual([
      { kind: 'attention', status: 'cancelled' },
      { kind: 'run', status: 'interrupted' },
    ]);
  });

  it('says nothing about a policy that has changed since', async () => {
    const running = await withAgent(
      ['a'],
      [{ ...answers('approve'), reply: { ...answers('approve').reply, first_delay_ms: 300 } }],
    );
    const { run_id } = await running.start({ on_ask: 'wait' });
    await running.seen(run_id, 'ask_updated');
    const changed = { ...asking(), rules: [{ tools: 'print', tool: '*', action: 'deny' }] };
    writeFileSync(join(running.place.dir, 'policy.json'), JSON.stringify(changed), { mode: 0o600 });
    const id = await waited(running, run_id);
    expect(verdicts(running)).toEqual([{ state: 'pending', by: null }]);
    // Neither does a person who has not seen it under that policy (03 §3.2).
    await expect(person(running, id)).rejects.toMatchObject({ code: 'binding_changed' });
    await person(running, id);
    await running.client.awaitRun({ run_id });
  });
});

describe('a question in words', () => {
  const [work, runTools] = loopChain.tasks;
  const chain = {
    ...loopChain,
    tasks: [{ ...work, execute_config: { model: '{{var:model}}', tools: ['engine'] } }, runTools],
  };
  const which = (number: number) => call('engine.ask_human', { question: `Which ${number}?` });
  const later = [3, 2, 1].map((count) => calls([which(count)], results(count)));
  const asks = [says('done', results(4)), ...later, calls([which(0)])];

  it("is answered in the operator's place, three times in a mission", async () => {
    const policy = { default_action: 'allow', rules: [], attention: { allowAgentAnswers: true } };
    const running = await attended([answers('answer', { text: 'The left one.' }), ...asks], policy, chain);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const id = await asked(running, run_id, 4);
    expect(verdicts(running).map(({ state, by }) => [state, by])).toEqual([
      ...Array.from({ length: 3 }, () => ['answered', 'agent:judge']),
      ['pending', null],
    ]);
    await running.client.answerAsk({
      id,
      outcome: 'answer',
      text: 'The right one.',
      feedback: null,
      remember: null,
      binding: null,
    });
    await running.client.awaitRun({ run_id });
    const told = (await running.events(run_id)).flatMap((event) => (event.kind === 'tool_call' ? [event.result] : []));
    expect(told).toEqual(['The left one.', 'The left one.', 'The left one.', 'The right one.']);
  });

  it('is left to people where the policy lets agents rule on calls alone', async () => {
    const once = [says('done', results(1)), calls([which(0)])];
    const running = await attended([answers('answer', { text: 'The left one.' }), ...once], asking(), chain);
    await running.client.setConfig({ key: 'approval-ceiling', value: '1s' });
    await running.run({ on_ask: 'wait' });
    expect(agentRuns(running)).toEqual([]);
    expect(verdicts(running)[0]).toEqual({ state: 'expired', by: 'system:timeout' });
  });
});

describe('an ask that only people answer', () => {
  /** Left to people, of whom nobody comes: the deadline passes while an agent would have had time to answer. */
  const left = async (running: ScriptedApp) => {
    await running.client.setConfig({ key: 'approval-ceiling', value: '1s' });
    await running.run({ on_ask: 'wait' });
    expect(verdicts(running).at(-1)).toEqual({ state: 'expired', by: 'system:timeout' });
    expect(agentRuns(running)).toEqual([]);
  };

  it.each([
    ['a file that looks like a secret', '.env'],
    ['a credential', '.aws/credentials'],
    ['a file that gains control', '.bashrc'],
    ['a repository', '.git/config'],
    ['a place outside the workspace', '../elsewhere'],
  ])('is about %s', async (_name, path) => {
    await left(await withAgent([path], [answers('approve')]));
  });

  it('meets a floor under a rule that allows it', async () => {
    const allow = { tools: 'local_fs', tool: 'write_file', action: 'allow' };
    await left(await withAgent(['.git/config'], [answers('approve')], asking(agentMay, [allow])));
  });

  it('is about a search of whole directories, which reads what no word of it names', async () => {
    const search = call('local_shell.local_shell', { command: 'env grep -rn KEY .' });
    const running = await attended([answers('approve'), says('done', results(1)), calls([search])], asking());
    writeFileSync(join(running.place.workspace, '.env'), 'KEY=secret');
    await running.client.setConfig({ key: 'shell', value: 'true' });
    await left(running);
    // One that names its files is still the agent's.
    await app?.close();
    const one = call('local_shell.local_shell', { command: 'grep -n KEY notes' });
    const named = await attended([answers('approve'), says('done', results(1)), calls([one])], asking());
    await named.client.setConfig({ key: 'shell', value: 'true' });
    await named.run({ on_ask: 'wait' });
    expect(verdicts(named)).toEqual([{ state: 'approved', by: 'agent:judge' }]);
  });

  it('is about a spent bound', async () => {
    const policy = { ...asking(), default_action: 'allow', compute: { maxToolCalls: 1, onExhausted: 'ask' } };
    await left(await withAgent(['a', 'b'], [answers('approve')], policy));
  });

  it('stands under a policy without the block, or with one for answers only', async () => {
    await left(await withAgent(['a'], [answers('approve')], asking({})));
    await app?.close();
    await left(await withAgent(['a'], [answers('approve')], asking({ allowAgentAnswers: true })));
  });

  it('has nobody to look at it where no chain is named', async () => {
    const running = await withAgent(['a'], [answers('approve')]);
    await running.client.unsetConfig({ key: 'attention-chain' });
    await left(running);
  });

  it('is not looked at by a chain of the project that nobody trusts', async () => {
    const running = await withAgent(['a'], [answers('approve')]);
    const directory = join(running.place.workspace, '.reins');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'judge.json'), JSON.stringify(judge));
    await running.client.setConfig({ key: 'attention-chain', value: 'judge' });
    await left(running);
  });
});
