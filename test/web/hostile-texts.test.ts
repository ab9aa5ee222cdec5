import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { type Service, startService } from '../support/service.ts';
import { settled, type WebWorld, webWorld } from './world.ts';

/** Texts of models, tools, services and files that would be markup, wherever the app shows one. */

const bad = `"'><img src=https://x.test/ onerror=document.title='owned'><svg onload=document.title='owned'></svg><script>document.title='owned'</script><!-- {{7*7}}`;
const link = 'javascript:document.title="owned"';
/** Without the dot and the slash that an address of the app has not. */
const inAddress = '"><svg onload=1>';
const seen = '<img src=https://x.test/';
/** The same as a text of SQL. */
const sql = `'${bad.replaceAll("'", "''")}'`;

const described = (text: string) => ({
  openapi: '3.0.3',
  info: { title: bad, version: '1' },
  paths: {
    '/item': {
      get: {
        operationId: 'getItem',
        summary: text,
        parameters: [
          { name: bad, in: 'query', description: bad, schema: { type: 'string', enum: [bad, link], default: link } },
        ],
        responses: { 200: { description: 'ok' } },
      },
    },
  },
});

const chain = {
  id: 'evil',
  description: bad,
  tasks: [
    {
      id: bad,
      handler: 'chat_completion',
      system_instruction: bad,
      prompt_template: bad,
      transition: {
        branches: [
          { operator: 'equals', when: bad, goto: 'end' },
          { operator: 'default', goto: link },
        ],
      },
    },
    { id: link, handler: 'noop', transition: { branches: [{ operator: 'default', goto: bad }] } },
  ],
};

let world: WebWorld;
let shop: Service;
let done: string;
let asking: string;
let ask: string;
let failed: string;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.read_file', { path: bad }), call('echo.echo', { input: { [bad]: link } })], {
        role: 'user',
        last_user: { contains: 'read' },
      }),
      calls([call('local_fs.write_file', { path: bad.replaceAll('/', ''), content: `${bad}\n[x](${link})\n` })], {
        role: 'user',
        last_user: { contains: 'write' },
      }),
      {
        match: { role: 'user', last_user: { contains: 'fail' } },
        reply: { error: { class: 'invalid_request', message: bad } },
      },
      says(`${bad}\n\n[x](${link})\n\n| a | b |\n|---|---|\n| ${bad} | [x](${link}) |\n`, { role: 'tool' }),
      says('plain'),
    ],
    policy: {
      default_action: 'approve',
      rules: [
        { tools: 'local_fs', tool: 'read_file', action: 'allow' },
        { tools: 'echo', action: 'allow' },
      ],
    },
  });
  const { app, client, run } = world.served;
  const reins = join(app.place.home, '.reins');
  writeFileSync(join(reins, 'chain-evil.json'), JSON.stringify(chain), { mode: 0o600 });
  writeFileSync(
    join(reins, 'hitl-policy-evil.json'),
    JSON.stringify({ default_action: bad, rules: [{ [bad]: link }] }),
  );
  shop = await startService(described(bad));
  await client.createHook({ name: 'shop', url: shop.url });
  await app.client.refreshHook({ name: 'shop' });
  shop.describe(described(`${bad} and more`));
  await app.client.refreshHook({ name: 'shop' });
  await client.createSession({ name: 'evil' });
  const { run_id } = await client.postMessage({
    session: 'evil',
    text: `read ${bad}`,
    model: 'm',
    provider: 'scripted',
  });
  await app.client.awaitRun({ run_id });
  done = run_id;
  failed = await run({ input: `fail ${bad}` });
  await app.client.awaitRun({ run_id: failed });
  asking = await run({ input: `write ${bad}` });
  ask = (await app.seen(asking, 'ask')).ask_id ?? '';
  await client.postPlan({ goal: bad, steps: [bad, link] });
  app.change(`UPDATE hooks SET last_error = ${sql}`);
  app.change(`UPDATE plan_steps SET result_text = ${sql}, failure_text = ${sql}, note = ${sql}`);
  app.change(`UPDATE auth_sessions SET user_agent = ${sql}, peer = ${sql}`);
  app.change(
    `UPDATE runs SET model = ${sql}, error = json_object('class', 'x', 'message', ${sql}) WHERE id = '${failed}'`,
  );
  app.change(`INSERT INTO kv (tenant_id, key, value, updated_at)
    VALUES ('00000000-0000-0000-0000-000000000001', 'config.shell-env', json_quote(${sql}), 1)`);
}, 60_000);
afterAll(async () => {
  await world?.close();
  await shop?.close();
});

/** What a text has become in a page, where it has become more than a text. */
const become = `[...document.querySelectorAll('*')].filter((element) =>
  ['iframe', 'object', 'embed', 'base', 'form[action]'].includes(element.localName) ||
  (element.localName === 'script' && !element.src.startsWith(location.origin)) ||
  [...element.attributes].some(({ name, value }) => name.startsWith('on') ||
    (['src', 'srcset', 'data', 'poster'].includes(name) && /x\\.test/.test(value)) ||
    (['href', 'src', 'action', 'formaction', 'xlink:href'].includes(name) && /^\\s*(javascript|vbscript|data:text)/i.test(value)))
).map((element) => element.outerHTML.slice(0, 200))`;

async function opened(page: Page, path: string): Promise<void> {
  await page.goto(`${world.served.url}${path}`);
  await settled(page, () => page.locator('main').innerText());
  // What is folded is looked at as well.
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
  await settled(page, () => page.locator('main').innerText());
}

const places: readonly (readonly [path: () => string, shown: boolean])[] = [
  [() => '/chat/evil', true],
  [() => '/approvals', false],
  [() => `/approvals/${ask}`, true],
  [() => '/approvals?tab=answered', false],
  [() => '/plans', true],
  [() => `/plans/${planName()}`, true],
  [() => '/runs', true],
  ...['timeline', 'transcript', 'steps', 'calls', 'io', 'files', 'events'].map(
    (tab) => [() => `/runs/${done}?tab=${tab}`, true] as const,
  ),
  [() => `/runs/${failed}`, true],
  [() => `/runs/${asking}`, true],
  [() => '/policies', false],
  [() => '/policies/hitl-policy-evil', false],
  [() => '/chains', false],
  [() => '/chains/chain-evil', true],
  [() => '/backends', false],
  [() => '/models', false],
  [() => '/tools', true],
  [() => '/tools?tab=hooks', true],
  [() => '/tools?tab=mcp', false],
  [() => '/usage', true],
  [() => '/settings', false],
  [() => '/settings/sessions', true],
  [() => '/settings/trust', false],
  [() => '/settings/audit', true],
  [() => '/setup', true],
  [() => `/runs/${encodeURIComponent(inAddress)}`, false],
  [() => `/no-such-page/${encodeURIComponent(inAddress)}`, false],
];
const planName = (): string => String(world.served.app.rows('SELECT name FROM plans')[0]?.['name']);

it('is a text on every page', async () => {
  const page = await world.open('/chat');
  for (const [path, shown] of places) {
    const at = path();
    await opened(page, at);
    const text = await page.locator('body').innerText();
    expect([at, await page.evaluate(become), await page.title()]).toEqual([at, [], expect.stringContaining('Reins')]);
    if (shown) expect([at, text]).toEqual([at, expect.stringContaining(seen)]);
    expect([at, world.problems]).toEqual([at, []]);
  }
}, 240_000);
