import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { call, calls, says, scriptedApp, type ScriptedApp } from '../../support/scripted-app.ts';
import { createField, type Field } from './field.ts';

/** Attacks of `attack-cases.json` by what a rule means, through the whole program. */

let field: Field | undefined;
let app: ScriptedApp | undefined;
afterEach(async () => {
  await field?.app.close();
  await app?.close();
  field = undefined;
  app = undefined;
});

it('SEM-002: a condition on a missing, nested or partly covered argument grants nothing and denies all the same', async () => {
  field = await createField({ files: { 'ws/src/a': 'x', 'ws/other': 'x' } });
  const rule = (action: string, when: object) => ({
    default_action: action === 'deny' ? 'allow' : 'approve',
    rules: [{ action, when: [when] }],
  });
  const shell = (args: object, policy: unknown) => ({
    tool: 'local_shell.local_shell',
    args: { command: 'touch', args: ['M'], ...args },
    policy,
  });
  const outcomes = await field.attempt(
    shell({}, rule('allow', { key: 'cwd', op: 'path_within', value: 'src' })),
    shell({ cwd: null }, rule('allow', { key: 'cwd', op: 'path_within', value: '.' })),
    shell({}, rule('allow', { key: '/args/1', op: 'eq', value: 'M' })),
    shell({ args: ['N', 'M'] }, rule('allow', { key: 'args', op: 'eq', value: 'N' })),
    shell({ args: ['N', 'M'] }, rule('deny', { key: 'args', op: 'eq', value: 'M' })),
    shell({ args: ['M'] }, rule('deny', { key: '', op: 'command_path', value: '**/M' })),
    {
      tool: 'local_fs.write_file',
      args: { path: { a: 1 }, content: 'x' },
      policy: rule('deny', { key: 'path', op: 'glob', value: 'src/**' }),
    },
    {
      tool: 'local_fs.write_file',
      args: { path: ['M'], content: 'x' },
      policy: rule('allow', { key: 'path', op: 'glob', value: 'M' }),
    },
  );
  expect(outcomes.map(({ state }) => state)).toEqual(outcomes.map(() => 'skipped'));
  expect(field.marks()).toEqual([]);
  const [covered] = await field.attempt(shell({ args: ['M'] }, rule('allow', { key: 'args', op: 'eq', value: 'M' })));
  expect(covered?.state).toBe('done');
});

it('SEM-005: a host is what the address reaches, for an allow and for a deny', async () => {
  field = await createField();
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const hosts = (action: string, value: string) => ({
      default_action: action === 'deny' ? 'allow' : 'approve',
      rules: [{ tools: 'web', action, when: [{ key: 'url', op: 'host', value }] }],
    });
    const get = (url: string, policy: unknown) => ({ tool: 'web.web_get', args: { url }, policy });
    const strangers = [
      'https://example.com.evil.test/',
      'https://example.com@evil.test/',
      'https://evilexample.com/',
      'https://evil.test/example.com',
      'https://evil.test#example.com',
      'https://evil.test?.example.com',
      'https://ex\u0430mple.com/',
      'https://example.com%2eevil.test/',
    ].map((url) => get(url, hosts('allow', 'example.com')));
    const loopback = [
      `http://127.0.0.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://127.1:${port}/`,
      `http://2130706433:${port}/`,
      `http://017700000001:${port}/`,
      `http://\uff11\uff12\uff17.0.0.1:${port}/`,
      `http://evil.test@127.0.0.1:${port}/`,
      `http://127.0.0.1.:${port}/`,
      `http://%31%32%37.0.0.1:${port}/`,
    ].map((url) => get(url, hosts('deny', '127.0.0.1')));
    const outcomes = await field.attempt(...strangers, ...loopback);
    const actions = [...strangers, ...loopback].map(({ args }, index) => [args.url, outcomes[index]?.action]);
    expect(actions.filter(([, action]) => action === 'allow')).toEqual([]);
    expect(outcomes.every(({ state }) => state === 'skipped')).toBe(true);
    expect(reached).toEqual([]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

it('POL-013: a policy that was tightened meanwhile holds for the answer and for the next call', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve' },
    turns: [
      calls([call('local_shell.local_shell', { command: 'touch M' })], { role: 'user' }),
      calls([call('local_shell.local_shell', { command: 'touch N' })], { tool: { count: 1 } }),
      says('done', { role: 'tool' }),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  writeFileSync(join(app.place.dir, 'policy.json'), JSON.stringify({ default_action: 'deny' }), { mode: 0o600 });
  const approval = { outcome: 'approve', feedback: null, text: null, remember: null, binding: null } as const;
  // Whether the answer itself is refused, or what it approved: nothing runs.
  await app.client.answerAsk({ id: ask_id, ...approval }).catch(() => null);
  await app.client.awaitRun({ run_id, full: true });
  expect(app.rows('SELECT state FROM tool_calls ORDER BY seq')).toEqual([{ state: 'skipped' }, { state: 'skipped' }]);
  expect(['M', 'N'].map((name) => existsSync(join(app?.place.workspace ?? '', name)))).toEqual([false, false]);
});

it('POL-013: an answer to what stood under another policy is no answer to what stands now', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve' },
    turns: [
      calls([call('local_shell.local_shell', { command: 'touch M' })], { role: 'user' }),
      says('done', { role: 'tool' }),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  const { binding } = await app.client.showAsk({ id: ask_id });
  const other = { default_action: 'approve', rules: [{ tools: 'local_fs', action: 'deny' }] };
  writeFileSync(join(app.place.dir, 'policy.json'), JSON.stringify(other), { mode: 0o600 });
  const approval = { outcome: 'approve', feedback: null, text: null, remember: null, binding } as const;
  await expect(app.client.answerAsk({ id: ask_id, ...approval })).rejects.toMatchObject({ code: 'binding_changed' });
  expect(existsSync(join(app.place.workspace, 'M'))).toBe(false);
  const changed = await app.client.showAsk({ id: ask_id });
  expect([changed.state, changed.binding === binding]).toEqual(['pending', false]);
  await app.client.answerAsk({ id: ask_id, ...approval, outcome: 'deny', binding: changed.binding });
  await app.client.awaitRun({ run_id, full: true });
  expect(app.rows('SELECT state FROM tool_calls')).toEqual([{ state: 'skipped' }]);
  expect(existsSync(join(app.place.workspace, 'M'))).toBe(false);
});
