import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { everyAsk } from '../../src/schema/ask.ts';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';

/** A backend's key in what a model says and a tool returns: the call gets the true value, and nothing else does. */

const key = 'sk-zebra-4711-finch';
let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const call = (name: string, args: unknown) => ({ name, arguments: args });
const calls = (list: readonly unknown[], match: object) => ({
  match,
  reply: { text: `With ${key}.`, tool_calls: list },
});

const addKey = ({ client }: ScriptedApp) =>
  client.addBackend({
    name: 'far',
    type: 'vllm',
    url: 'http://127.0.0.1:9/v1',
    key_env: null,
    key_literal: key,
    headers: null,
    proxy: null,
    connect_timeout_ms: null,
    first_byte_timeout_ms: null,
    idle_timeout_ms: null,
  });

async function appWithKey(policy: unknown): Promise<ScriptedApp> {
  const made = await scriptedApp({
    policy,
    turns: [
      { match: { tool: { count: 3 } }, reply: { text: `The key is ${key}.` } },
      calls([call('local_shell.local_shell', { command: `./fail ${key}` })], { tool: { count: 2 } }),
      calls([call('local_shell.local_shell', { command: `./add ${key}` })], { tool: { count: 1 } }),
      calls([call('local_fs.write_file', { path: 'written', content: `key=${key}\n` })], { role: 'user' }),
    ],
  });
  await addKey(made);
  for (const [name, code] of [
    ['add', 0],
    ['fail', 1],
  ]) {
    const path = join(made.place.workspace, String(name));
    writeFileSync(path, `#!/bin/sh\necho "$1" >> seen\ncat seen\necho "$1" >&2\nexit ${code}\n`);
    chmodSync(path, 0o755);
  }
  return made;
}

/** Tables and columns with the text, but for the registry, where the key has its place. */
function placesOf(running: ScriptedApp, text: string): string[] {
  const tables = running.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'backends'");
  return tables.flatMap(({ name }) =>
    running
      .rows(`SELECT * FROM "${String(name)}"`)
      .flatMap((row) => Object.entries(row))
      .filter(([, value]) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)).includes(text))
      .map(([column]) => `${String(name)}.${column}`),
  );
}

it('keeps it out of rows, events, audit and results of allowed calls, which get it whole', async () => {
  app = await appWithKey({ default_action: 'allow', rules: [] });
  const { run_id } = await app.start();
  const events = JSON.stringify(await app.events(run_id));
  const result = await app.client.awaitRun({ run_id, full: true });
  expect(result).toMatchObject({ status: 'completed', text: 'The key is •••(far.key).', executed_tool_calls: 3 });
  expect(readFileSync(join(app.place.workspace, 'written'), 'utf8')).toBe(`key=${key}\n`);
  expect(readFileSync(join(app.place.workspace, 'seen'), 'utf8')).toBe(`${key}\n${key}\n`);
  expect([events.includes(key), JSON.stringify(result).includes(key)]).toEqual([false, false]);
  expect(events).toContain('known_secrets_masked');
  expect(placesOf(app, key)).toEqual([]);
});

it('keeps it out of the prompt of a run as out of a message of a chat', async () => {
  const last_user = { equals: 'is •••(far.key) the key of https://•••@example.org?' };
  app = await scriptedApp({
    turns: [{ match: { last_user }, reply: { text: 'Hidden.' } }, { reply: { text: 'Seen.' } }],
  });
  await addKey(app);
  const typed = `is ${key} the key of https://ann:word@example.org?`;
  const { run_id } = await app.chat(typed);
  const runs = [
    await app.client.awaitRun({ run_id, full: true }),
    await app.run({ input: { type: 'string', value: typed } }),
  ];
  expect(runs.map(({ text }) => text)).toEqual(['Hidden.', 'Hidden.']);
});

it('leaves the input of a run as it is where a tool gets it', async () => {
  app = await scriptedApp({
    turns: [],
    chain: {
      id: 'keep',
      tasks: [
        {
          id: 'write',
          handler: 'tools',
          tools: { name: 'local_fs', tool_name: 'write_file', args: { path: 'written', content: '{{input}}' } },
          transition: { branches: [{ operator: 'default', goto: 'end' }] },
        },
      ],
    },
  });
  await addKey(app);
  const value = `key=${key} of https://ann:word@example.org`;
  expect(await app.run({ input: { type: 'string', value } })).toMatchObject({ status: 'completed' });
  expect(readFileSync(join(app.place.workspace, 'written'), 'utf8')).toBe(value);
  expect(placesOf(app, key)).toEqual([]);
});

it('keeps it out of questions and denials', async () => {
  app = await appWithKey({ default_action: 'approve', rules: [] });
  const { run_id } = await app.start();
  const events = JSON.stringify(await app.events(run_id));
  const result = await app.client.awaitRun({ run_id, full: true });
  expect(result.asks.map(({ state }) => state)).toEqual(['denied', 'denied', 'denied']);
  expect([events.includes(key), JSON.stringify(result).includes(key)]).toEqual([false, false]);
  expect(placesOf(app, key)).toEqual([]);
});

it('keeps it out of the rows of a session', async () => {
  app = await appWithKey({ default_action: 'allow', rules: [] });
  const started = await app.chat(`My key is ${key}.`);
  const result = await app.client.awaitRun({ run_id: started.run_id, full: true });
  expect(result.status).toBe('completed');
  expect(placesOf(app, key)).toEqual([]);
});

it('does so for what opens the server, of which a tool may come upon a copy', async () => {
  app = await scriptedApp({
    policy: { default_action: 'allow', rules: [] },
    turns: [
      { match: { tool: {} }, reply: { text: 'read' } },
      { match: { role: 'user' }, reply: { tool_calls: [call('local_shell.local_shell', { command: 'cat copy' })] } },
    ],
  });
  const token = 'rbt_zebra-4711-finch-zebra-4711-finch';
  writeFileSync(join(app.place.home, '.reins', 'beam-token'), `${token}\n`, { mode: 0o600 });
  writeFileSync(join(app.place.workspace, 'copy'), `Bearer ${token}`);
  await app.run();
  expect(JSON.stringify(app.rows('SELECT result FROM tool_calls'))).toContain('Bearer •••(beam.token)');
  expect(placesOf(app, token)).toEqual([]);
});

it('keeps it out of what a person says with an answer, in a program that has done nothing else', async () => {
  app = await appWithKey({ default_action: 'approve', rules: [] });
  const { run_id } = await app.start({ on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const other = await app.open();
  const [id] = app.rows('SELECT id FROM asks').map((row) => String(row['id']));
  const words = { outcome: 'deny', feedback: `not with ${key}`, text: null, binding: null, remember: null } as const;
  const { ask } = await other.answerAsk({ id: id ?? '', ...words });
  expect(ask.verdict?.feedback).toBe('not with •••(far.key)');
  await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  await other.awaitRun({ run_id });
  expect(placesOf(app, key)).toEqual([]);
});

it('is lost to a call while its run rests, and the new question says so', async () => {
  app = await appWithKey({ default_action: 'approve', rules: [] });
  const { run_id } = await app.start({ on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const other = await app.open();
  const [id] = app.rows('SELECT id FROM asks').map((row) => String(row['id']));
  const words = { outcome: 'approve', feedback: null, text: null, binding: null, remember: null } as const;
  await other.answerAsk({ id: id ?? '', ...words });
  await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  await other.awaitRun({ run_id });
  const [again] = (await other.listAsks({ ...everyAsk, state: 'pending', limit: 2 })).asks;
  expect(again?.preview.anew).toEqual({
    edited: false,
    why: ['a secret in its arguments was not kept: what would run has its mask'],
  });
});

it('shows on a card, and keeps while a run rests, what only looks like a secret: what is approved is what runs', async () => {
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE KEY-----`);
  const content = `# ${begin}\ntouch hidden\n# ${end}\n: Authorization: Bearer YOUR_TOKEN; touch more\n`;
  const turns = [
    { match: { role: 'tool' }, reply: { text: 'done' } },
    calls([call('local_fs.write_file', { path: 'script', content })], { role: 'user' }),
  ];
  app = await scriptedApp({ turns, policy: { default_action: 'approve', rules: [] } });
  const { run_id } = await app.start({ on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const other = await app.open();
  const [ask] = (await other.listAsks({ ...everyAsk, state: 'pending', limit: 2 })).asks;
  expect(ask?.args).toEqual({ path: 'script', content });
  expect(JSON.stringify(ask?.preview)).toContain('touch hidden');
  const words = { outcome: 'approve', feedback: null, text: null, binding: null, remember: null } as const;
  await other.answerAsk({ id: ask?.id ?? '', ...words });
  await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  expect((await other.awaitRun({ run_id })).status).toBe('completed');
  expect(readFileSync(join(app.place.workspace, 'script'), 'utf8')).toBe(content);
  // Records and events say nothing that looks like one.
  expect(JSON.stringify(await app.events(run_id))).not.toContain('YOUR_TOKEN');
  expect(JSON.stringify(app.rows('SELECT body FROM audit'))).not.toContain('YOUR_TOKEN');
});

it('writes no value of an argument into the audit log that its name calls a credential', async () => {
  const headers = { Accept: 'text/html', 'X-Auth-Token': 'a-word-that-nobody-knows' };
  const turns = [
    { match: { role: 'tool' }, reply: { text: 'done' } },
    calls([call('web.web_get', { url: 'https://example.com/', headers })], { role: 'user' }),
  ];
  app = await scriptedApp({ turns, policy: { default_action: 'deny', rules: [] } });
  await app.run();
  const decided = app.rows("SELECT json_extract(body, '$.args.headers') AS headers FROM audit WHERE type = 'decision'");
  expect(decided.map((row) => JSON.parse(String(row['headers'])))).toEqual([{ ...headers, 'X-Auth-Token': '•••' }]);
});
