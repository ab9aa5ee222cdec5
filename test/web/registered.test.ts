import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { type Service, startService } from '../support/service.ts';
import { axeFaults, choosePassword, type WebWorld, webWorld } from './world.ts';

/** What is registered, and what is used where nothing is named: the browser says and sets the same as the terminal. */

let world: WebWorld;
let service: Service;
beforeAll(async () => {
  world = await webWorld({ turns: [says('Hello.')] });
  service = await startService();
  service.answer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] }));
  });
  const { client } = world.served;
  await client.putConfigItem({ key: 'default-model', value: 'm' });
  await client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  await client.createBackend({ name: 'shop', type: 'openai-compatible', base_url: `${service.url}/v1` });
}, 60_000);
afterAll(async () => {
  await world?.close();
  await service?.close();
});

const setting = async (key: 'default-model' | 'default-provider') =>
  (await world.served.client.getConfigItem({ key })).value;

it('counts no models of a backend that a run has found and nobody has asked for its list', async () => {
  const { app, client, run } = world.served;
  await app.client.awaitRun({ run_id: await run() });
  // What was found before is looked at anew.
  await client.putConfigItem({ key: 'default-model', value: 'm' });
  const page = await world.open('/backends');
  const card = page.getByRole('listitem').filter({ hasText: 'scripted' }).first();
  await card.getByText('reachable when it was last used; not asked for its models').waitFor();
  await page.goto(`${world.served.url}/setup`);
  await page.getByText('reachable when it was last used; not asked for its models').first().waitFor();
});

it('makes a model the default at the backend that was meant, though another one serves its name', async () => {
  const page = await world.open('/models');
  const starred = page.getByRole('row').filter({ hasText: '(default)' });
  await starred.filter({ hasNotText: 'shop' }).waitFor();
  const choose = page.getByRole('button', { name: /of shop$/ });
  await choose.click();
  await page.getByText('m of shop is the default model, and openai-compatible the default provider.').first().waitFor();
  await starred.filter({ hasText: 'shop' }).waitFor();
  expect(await starred.count()).toBe(1);
  expect([await setting('default-model'), await setting('default-provider')]).toEqual(['m', 'openai-compatible']);
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  expect(world.problems).toEqual([]);
});

it('registers a tool server that wants a sign-in, and changes what it asks for and nothing else', async () => {
  const page = await world.open('/tools?tab=mcp');
  await page.getByRole('button', { name: 'Add a server…' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('docs');
  await page.getByLabel('It is').selectOption('http');
  await page.getByLabel('URL').fill(`${service.url}/mcp`);
  await page.getByLabel('It asks for').selectOption('oauth');
  await page.getByLabel('Scopes').fill('read');
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Register' }).click();
  const server = page.getByRole('region', { name: 'docs' });
  await server.getByText('reins mcp auth docs').waitFor();
  const stored = () => world.served.client.getMcpServer({ name: 'docs' });
  expect(await stored()).toMatchObject({ auth_type: 'oauth', oauth_scopes: 'read', oauth_client_id: null });
  const edit = async (write: () => Promise<unknown>) => {
    await server.getByRole('button', { name: /^Edit/ }).click();
    await write();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await edit(() => page.getByLabel('Limit of one call').fill('5000'));
  expect(await stored()).toMatchObject({ auth_type: 'oauth', oauth_scopes: 'read', call_timeout_ms: 5000 });
  await edit(async () => {
    await page.getByLabel('It asks for').selectOption('bearer');
    await page.getByLabel('Variable that holds its token').fill('DOCS_TOKEN');
  });
  expect(await stored()).toMatchObject({ auth_type: 'bearer', token_source: 'env:DOCS_TOKEN', oauth_scopes: null });
  await edit(() => page.getByLabel('It asks for').selectOption('none'));
  expect(await stored()).toMatchObject({ auth_type: 'none', token_source: 'none', call_timeout_ms: 5000 });
  expect(world.problems).toEqual([]);
});

it('says of the variables of a program what a name alone means, and keeps them where none is written', async () => {
  const { client } = world.served;
  await client.createMcpServer({ name: 'notes', transport: 'stdio', command: 'node', env: { KEY: 'secret' } });
  const page = await world.open('/tools?tab=mcp');
  const server = page.getByRole('region', { name: 'notes' });
  await server.getByRole('button', { name: /^Edit/ }).click();
  await page.getByText('Set: KEY. Left empty they stay; what is written here replaces all of them.').waitFor();
  await page.getByLabel('Limit of connecting').fill('2000');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await client.getMcpServer({ name: 'notes' })).toMatchObject({ env: ['KEY'], connect_timeout_ms: 2000 });
  expect(world.problems).toEqual([]);
});

it('stays where it is while older entries of the audit log are read', async () => {
  for (let at = 0; at < 60; at += 1) await world.served.client.putConfigItem({ key: 'shell-env', value: `A${at}` });
  const page = await world.open('/settings/audit');
  const rows = page.getByRole('row');
  await page.getByRole('button', { name: 'Older ones' }).waitFor();
  const before = await rows.count();
  await page.getByRole('button', { name: 'Older ones' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBeGreaterThan(before);
  expect(await page.evaluate("document.activeElement.matches('main *')")).toBe(true);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('each of which fits the one before').waitFor();
  await page.getByText('no head of this log was noted outside the database').waitFor();
  expect(world.problems).toEqual([]);
});

it('names a login whose program does not say what it is', async () => {
  world.served.app.change(
    "UPDATE auth_sessions SET user_agent = '' WHERE rowid = (SELECT max(rowid) FROM auth_sessions)",
  );
  const page = await world.open('/settings/sessions');
  await page.getByText('a program without a name').first().waitFor();
  expect(world.problems).toEqual([]);
});

it('names the directory and the database that it works on, on a narrow phone too', async () => {
  const page = await world.open('/settings/about', { viewport: { width: 320, height: 640 } });
  const { data_dir, database } = await world.served.client.getVersion({});
  await page.getByText(database, { exact: true }).waitFor();
  await page.getByText(data_dir ?? 'none', { exact: true }).waitFor();
  expect(database).toMatch(/\.db$/);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(world.problems).toEqual([]);
});

it('says the gravest first, on the page of the set-up and above every other', async () => {
  const { client } = world.served;
  await client.deleteConfigItem({ key: 'default-provider' });
  await client.putConfigItem({ key: 'default-model', value: 'none-such' });
  const { issues } = await client.refreshSetupStatus({});
  const severities = issues.map(({ severity }) => severity);
  expect(severities.indexOf('warning')).toBeLessThan(severities.indexOf('error'));
  const page = await world.open('/setup');
  const shown = page.getByRole('list', { name: 'Issues' }).getByRole('listitem').locator('.tag');
  await shown.first().waitFor();
  // What is only told may stand before them: without a project nothing else is to be done first.
  expect((await shown.allTextContents()).filter((severity) => severity !== 'info')).toEqual(
    ['error', 'warning'].flatMap((severity) => severities.filter((each) => each === severity)),
  );
  // The new password ends every other login, so this test is the last one.
  expect(await choosePassword(page)).toBe(200);
  await page.goto(`${world.served.url}/runs`);
  await page.locator('.strip', { hasText: '"none-such"' }).waitFor();
  expect(world.problems).toEqual([]);
});
