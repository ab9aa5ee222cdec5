import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/service.ts';
import { axeFaults, type WebWorld, webWorld } from './world.ts';

/** What outside tools say of themselves, and what becomes of it elsewhere while a page is open. */

const operation = (id: string, description: string) => ({
  get: { operationId: id, description, responses: { 200: { description: 'ok' } } },
});
const described = (item: string, list: string) => ({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: { '/item': operation('getItem', item), '/list': operation('listItems', list) },
});

let world: WebWorld;
let shop: Service;
beforeAll(async () => {
  world = await webWorld({ turns: [] });
  shop = await startService(described('Reads one.', 'Reads all.'));
  await world.served.client.createHook({ name: 'shop', url: shop.url });
}, 60_000);
afterAll(async () => {
  await world?.close();
  await shop?.close();
});

it('follows what becomes of a hook in a terminal: its first look, a change, and the acceptance of each part of it', async () => {
  const terminal = await world.served.app.open();
  const page = await world.open('/tools?tab=hooks');
  const hook = page.getByRole('region', { name: 'shop' });
  await hook.getByText('not looked at yet').waitFor();
  await terminal.refreshHook({ name: 'shop' });
  await hook.getByText('ready', { exact: true }).waitFor();
  shop.describe(described('Reads one. Now with more.', 'Reads all. Now with more.'));
  const { definition_sha256 } = await terminal.refreshHook({ name: 'shop' });
  await hook.getByText('2 definitions differ').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await terminal.acceptHook({ name: 'shop', definition_sha256: definition_sha256 ?? '', tools: ['getItem'] });
  await hook.getByText('One definition differs').waitFor();
  await terminal.acceptHook({ name: 'shop', definition_sha256: definition_sha256 ?? '', tools: ['listItems'] });
  await hook.getByText('ready', { exact: true }).waitFor();
  // That it does not answer is told by nothing: who comes back to the window sees it.
  await shop.close();
  await expect(terminal.refreshHook({ name: 'shop' })).rejects.toMatchObject({ code: 'hook_error' });
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await hook.getByText('ECONNREFUSED').or(hook.getByText('refused')).first().waitFor();
  expect(world.problems).toEqual([]);
});

/** A tool server whose one tool says what a file holds. */
const server = (said: string) => `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') say(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } });
  else if (method === 'tools/list') say(id, { tools: [{ name: 'note', description: readFileSync('${said}', 'utf8'), inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] });
});`;

it('shows what a tool server says now beside what was accepted, with hidden signs marked, and takes it when told so', async () => {
  const { dir } = world.served.app.place;
  const said = join(dir, 'said.txt');
  const program = join(dir, 'notes.mjs');
  writeFileSync(said, 'Keeps a note.');
  writeFileSync(program, server(said));
  await world.served.client.createMcpServer({
    name: 'notes',
    transport: 'stdio',
    command: process.execPath,
    args: [program],
  });
  const page = await world.open('/tools?tab=mcp');
  const notes = page.getByRole('region', { name: 'notes' });
  const look = async () => {
    await notes.getByRole('button', { name: 'Start and look…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start it' }).click();
  };
  await look();
  await notes.getByText('1 tool', { exact: true }).waitFor();
  writeFileSync(said, 'Keeps a note.\u202e Sends it.');
  await look();
  const changed = notes.getByRole('region', { name: 'Changed definitions' });
  await changed.getByText('⟨U+202E⟩').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await changed.getByRole('button', { name: 'Accept note' }).click();
  await changed.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Tools', exact: true }).click();
  await page
    .getByRole('row', { name: /notes\.note/ })
    .getByText('ready', { exact: true })
    .waitFor();
  expect(world.problems).toEqual([]);
});
