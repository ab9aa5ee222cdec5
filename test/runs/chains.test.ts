import { existsSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import type { Message } from '../../src/schema/message.ts';
import { loopChain, type ScriptedApp, scriptedApp, says } from '../support/scripted-app.ts';
import { createHeap } from '../../ui/heap.ts';

/** What chapter 04 promises of a chain file, seen from outside: real threads, real children, a scripted model. */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const call = (id: string, name: string, args: unknown) => ({ id, name, arguments: args });
const asks = (list: readonly unknown[], match: object = {}) => ({ match, reply: { tool_calls: list } });
const readNote = call('c1', 'local_fs.read_file', { path: 'note.txt' });

/** The content of the result of each call of a run, by its id, as the model got it. */
async function resultsOf(running: ScriptedApp, runId: string): Promise<Readonly<Record<string, string>>> {
  const { output } = await running.client.awaitRun({ run_id: runId, full: true });
  // Every chain here ends with a history.
  const { messages } = output as { readonly messages: readonly Message[] };
  return Object.fromEntries(
    messages.flatMap(({ role, tool_call_id, content }) => (role === 'tool' ? [[tool_call_id, content]] : [])),
  );
}

/** Events without what differs from run to run. */
const plain = (events: readonly RunEvent[]): readonly unknown[] =>
  events.map(({ run_id: _run, timestamp: _time, seq: _seq, ...event }) =>
    JSON.parse(
      JSON.stringify(event, (key, value: unknown) =>
        ['id', 'timestamp', 'call_id', 'tool_call_id', 'duration_ms', 'chain_sha256'].includes(key) ? '*' : value,
      ),
    ),
  );

it('runs the hook dialect with the transcript of the canonical form', async () => {
  const chainOf = (words: Readonly<Record<'tools' | 'policies' | 'macro' | 'called' | 'executed', string>>) => ({
    id: 'c',
    tasks: [
      {
        id: 'read',
        handler: words.tools === 'hooks' ? 'hook' : 'tools',
        [words.tools === 'hooks' ? 'hook' : 'tools']: {
          name: 'local_fs',
          tool_name: 'read_file',
          args: { path: 'note.txt' },
        },
        transition: { branches: [{ operator: 'equals', when: words.executed, goto: 'work' }] },
      },
      {
        id: 'work',
        handler: 'chat_completion',
        input_var: 'input',
        system_instruction: `You have ${words.macro}.`,
        execute_config: {
          model: 'm',
          [words.tools]: ['local_fs'],
          [words.policies]: { local_fs: { _max_read_bytes: 3 } },
        },
        transition: {
          branches: [
            { operator: 'equals', when: words.called, goto: 'call' },
            { operator: 'default', goto: 'end' },
          ],
        },
      },
      { id: 'call', handler: 'execute_tool_calls', input_var: 'work' },
    ],
  });
  const system = { system: { equals: 'You have ["local_fs"].' } };
  app = await scriptedApp({
    turns: [asks([readNote], system)],
    chain: chainOf({
      tools: 'tools',
      policies: 'tools_policies',
      macro: '{{toolservice:tools}}',
      called: 'tool_call',
      executed: 'tools_executed',
    }),
  });
  writeFileSync(join(app.place.workspace, 'note.txt'), 'a note');
  const canonical = await app.events((await app.start()).run_id);
  const path = join(app.place.dir, 'hooks.json');
  const hooks = chainOf({
    tools: 'hooks',
    policies: 'hook_policies',
    macro: '{{hookservice:hooks}}',
    called: 'tool-call',
    executed: 'ok',
  });
  writeFileSync(path, JSON.stringify(hooks));
  const { run_id } = await app.start({ chain_path: path });
  const dialect = await app.events(run_id);
  expect((await resultsOf(app, run_id))['c1']).toContain('"error":"too_large"');
  // Its warnings are of another place.
  const acts = (events: readonly RunEvent[]) => plain(events.filter(({ kind }) => kind !== 'notice'));
  expect(acts(dialect)).toEqual(acts(canonical));
});

it('answers calls that may not run each with its class, and the model goes on', async () => {
  app = await scriptedApp({
    chain: {
      ...loopChain,
      tasks: loopChain.tasks.map((task) =>
        task.id === 'work'
          ? {
              ...task,
              execute_config: { model: 'm', tools: ['local_fs'], hide_tools: ['local_fs.sed', 'local_fs_grep'] },
            }
          : task,
      ),
    },
    turns: [
      says('I see.', { tool: { count: 5 } }),
      asks([
        call('hidden', 'local_fs.sed', {}),
        call('wire_name', 'local_fs.grep', { pattern: 'x' }),
        call('outside', 'web.web_get', { url: 'http://example.org' }),
        call('unknown', 'nowhere.tool', {}),
        call('malformed', 'local_fs.read_file', '{"path":'),
      ]),
    ],
  });
  const { run_id } = await app.start();
  expect(Object.entries(await resultsOf(app, run_id)).map(([id, content]) => [id, JSON.parse(content).error])).toEqual([
    ['hidden', 'hidden'],
    ['wire_name', 'hidden'],
    ['outside', 'not_allowed'],
    ['unknown', 'not_found'],
    ['malformed', 'invalid_arguments'],
  ]);
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ exit_code: 0, text: 'I see.', num_tool_calls: 0 });
});

it('shortens a large result and keeps the whole of it for this run alone', async () => {
  const range = { path: '@output/big', start_line: 5000, end_line: 5001 };
  app = await scriptedApp({
    chain: {
      ...loopChain,
      tasks: loopChain.tasks.map((task) =>
        task.id === 'run_tools'
          ? { ...task, execute_config: { tools_policies: { local_fs: { _max_output_bytes: 1_048_576 } } } }
          : task,
      ),
    },
    turns: [
      says('Done.', { last_user: 'go', tool: { name: 'local_fs.read_file_range' } }),
      asks([call('range', 'local_fs.read_file_range', range)], { last_user: 'go', role: 'tool' }),
      asks([call('big', 'local_fs.read_file', { path: 'big.txt' })], { last_user: 'go' }),
      says('Done.', { role: 'tool' }),
      asks([call('other', 'local_fs.read_file_range', range)]),
    ],
  });
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`).join('');
  writeFileSync(join(app.place.workspace, 'big.txt'), lines);
  const results = await resultsOf(app, (await app.start()).run_id);
  expect(results['big']?.startsWith('line 1\nline 2\n')).toBe(true);
  expect(results['big']).toMatch(
    /\n\[… \d+ bytes left out; full result: @output\/big \(208894 bytes, sha256 \w{64}\)\]\n/,
  );
  expect(results['big']?.endsWith('line 20000\n')).toBe(true);
  expect(results['big']).not.toContain('line 5000\n');
  expect(results['range']).toContain('line 5000');
  const again = await app.start({ input: { type: 'string', value: 'again' } });
  const elsewhere = await resultsOf(app, again.run_id);
  expect(JSON.parse(elsewhere['other'] ?? '')).toMatchObject({ ok: false, error: 'not_found' });
});

it('ends a task at its time limit with its child, and on_failure learns why', async () => {
  app = await scriptedApp({
    chain: {
      id: 'c',
      tasks: [
        loopChain.tasks[0],
        {
          ...loopChain.tasks[1],
          timeout: '2s',
          transition: { on_failure: 'mend', branches: [{ operator: 'default', goto: 'work' }] },
        },
        { id: 'mend', handler: 'noop', prompt_template: '{{ last_error }}' },
      ],
    },
    turns: [asks([call('c1', 'local_shell.local_shell', { command: 'sleep 300' })])],
  });
  const { run_id } = await app.start();
  await app.seen(run_id, 'tool_call_started');
  // What waits for the limit is not held by anything but the wait.
  const heap = createHeap();
  for (let round = 0; round < 3; round += 1) {
    heap.collect();
    await new Promise(setImmediate);
  }
  const result = await app.client.awaitRun({ run_id, full: true });
  expect([result.exit_code, result.text]).toEqual([
    0,
    'task run_tools failed after 1 attempt: the time limit of the task (2s) is over',
  ]);
  const [row] = app.rows('SELECT pid FROM tool_calls');
  expect(existsSync(`/proc/${String(row?.['pid'])}`)).toBe(false);
});

it('goes on as the chain was when its file changes while a person is asked', async () => {
  const chainThat = (said: string) => ({
    ...loopChain,
    tasks: loopChain.tasks.map((task) => ({ ...task, print: said })),
  });
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    chain: chainThat('as it was'),
    turns: [
      says('Written.', { tool: { count: 1 } }),
      asks([call('c1', 'local_fs.write_file', { path: 'a.txt', content: 'x' })]),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  const file = join(app.place.dir, 'chain.json');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, JSON.stringify(chainThat('as it is now')));
  await app.client.answerAsk({
    id: ask_id,
    outcome: 'approve',
    feedback: null,
    text: null,
    remember: null,
    binding: null,
  });
  const printed = (await app.events(run_id)).flatMap((event) => (event.kind === 'print' ? [event.text] : []));
  expect(printed).toEqual(['as it was', 'as it was', 'as it was']);
  const [row] = app.rows(
    'SELECT r.chain_sha256, s.text FROM runs r JOIN chain_snapshots s ON s.sha256 = r.chain_sha256',
  );
  expect(row?.['text']).toBe(before);
});

it('keeps the instruction of a chain out of the messages of its session', async () => {
  const task = { id: 'a', handler: 'chat_completion', execute_config: { model: 'm' } };
  app = await scriptedApp({
    chain: { id: 'c', tasks: [{ ...task, system_instruction: 'Whisper.' }] },
    turns: [says('(whispering)', { system: { equals: 'Whisper.' } })],
  });
  for (const text of ['one', 'two', 'three']) {
    const { run_id } = await app.chat(text);
    expect((await app.client.awaitRun({ run_id })).text).toBe('(whispering)');
  }
  expect(app.rows('SELECT count(*) AS n FROM messages')).toEqual([{ n: 6 }]);
  expect(JSON.stringify(app.rows('SELECT * FROM messages'))).not.toContain('Whisper.');
});

it('replays from any event what the live stream told, but its deltas', async () => {
  app = await scriptedApp({
    turns: [says('All of it is there.', { tool: { count: 1 } }), asks([call('c1', 'local_fs.list_dir', {})])],
  });
  const { run_id } = await app.start();
  const live = await app.events(run_id);
  const stored = live.filter(({ kind }) => kind !== 'step_chunk' && kind !== 'tool_output');
  expect(readdirSync(app.place.workspace)).toEqual([]);
  for (const after of [0, 5, stored.length - 1]) {
    const replayed: RunEvent[] = [];
    for await (const batch of app.client.watch({ run_id, after, signal: new AbortController().signal })) {
      replayed.push(...batch);
    }
    expect(replayed).toEqual(stored.slice(after));
  }
});

it('starts when any of the models that a task names is served', async () => {
  const chainOf = (config: object) => ({
    id: 'c',
    tasks: [{ id: 'a', handler: 'chat_completion', execute_config: config }],
  });
  app = await scriptedApp({
    turns: [says('Here.')],
    chain: chainOf({ model: 'nowhere', models: ['m'], provider: 'openai', providers: ['scripted'] }),
  });
  expect(await app.run()).toMatchObject({ exit_code: 0, text: 'Here.', model: 'm' });
  const path = join(app.place.dir, 'macro.json');
  writeFileSync(path, JSON.stringify(chainOf({ model: '{{var:model}}', models: ['m'] })));
  expect(await app.run({ chain_path: path, model: 'nowhere' })).toMatchObject({ exit_code: 0, model: 'm' });
});

it('needs the models that its variables name, not the default that nothing uses', async () => {
  const config = { model: '{{var:writer}}', models: ['{{var:second|}}'], provider: '{{var:by|scripted}}' };
  app = await scriptedApp({
    turns: [{ match: {}, reply: { text: 'ok' } }],
    chain: { id: 'c', tasks: [{ id: 'write', handler: 'chat_completion', execute_config: config }] },
  });
  const run = (variables: Readonly<Record<string, string>>) => app?.run({ model: 'absent', variables });
  expect(await run({ writer: 'm' })).toMatchObject({ status: 'completed', model: 'm' });
  expect(await run({ writer: 'none', second: 'm' })).toMatchObject({ status: 'completed', model: 'm' });
  await expect(run({ writer: 'none' })).rejects.toMatchObject({
    code: 'setup_unhealthy',
    message: expect.stringContaining('"none"'),
  });
  // No default would mend it.
  expect(await run({})).toMatchObject({
    error: { class: 'task_error', message: expect.stringContaining('the variable writer is not set; pass --var') },
  });
});

it.each([
  ['local_fs', '..'],
  ['local_shell', '/'],
  ['local_fs', 'elsewhere/below'],
])('does not begin where a task would leave the root (%s, %s)', async (provider, directory) => {
  const chain = {
    id: 'c',
    tasks: [
      { id: 'first', handler: 'noop', transition: { branches: [{ operator: 'default', goto: 'read' }] } },
      {
        id: 'read',
        handler: 'tools',
        tools: { name: 'local_fs', tool_name: 'read_file', args: { path: 'note.txt' } },
        execute_config: { tools_policies: { [provider]: { _allowed_dir: directory } } },
        transition: { branches: [{ operator: 'default', goto: 'end' }] },
      },
    ],
  };
  app = await scriptedApp({ turns: [], chain });
  const root = realpathSync(app.place.workspace);
  symlinkSync('/etc', join(root, 'elsewhere'));
  await expect(app.start()).rejects.toMatchObject({
    code: 'chain_invalid',
    message: expect.stringMatching(
      /^The chain is not valid: ".*" is outside the root .* at .*:\$\.tasks\[1\]\.execute_config\.tools_policies\.local_\w+\._allowed_dir$/,
    ),
  });
  expect(app.rows('SELECT id FROM runs')).toEqual([]);
});

it('begins where a task is narrowed to what the run may make itself', async () => {
  const chain = {
    id: 'c',
    tasks: [
      {
        id: 'read',
        handler: 'tools',
        tools: { name: 'local_fs', tool_name: 'read_file', args: { path: 'note.txt' } },
        execute_config: { tools_policies: { local_fs: { _allowed_dir: 'later' } } },
        transition: { branches: [{ operator: 'default', goto: 'end' }] },
      },
    ],
  };
  app = await scriptedApp({ turns: [], chain });
  expect(await app.run()).toMatchObject({ status: 'failed' });
});
