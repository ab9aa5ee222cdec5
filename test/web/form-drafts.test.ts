import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, loopChain } from '../support/scripted-app.ts';
import { axeFaults, visit, type WebWorld, webWorld } from './world.ts';

/** Questions have to be named by a chain. */
const withQuestions = (task: (typeof loopChain.tasks)[number]) =>
  task.id === 'work' ? { ...task, execute_config: { ...task.execute_config, tools: ['*', 'engine'] } } : task;

let world: WebWorld;
let asked: string;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('engine.ask_human', { question: 'Which colour?', choices: ['red', 'blue'] })], {
        last_user: 'ask me',
      }),
      calls([call('local_fs.write_file', { path: 'note.txt', content: 'one\n' })], { role: 'user' }),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    chain: { ...loopChain, tasks: loopChain.tasks.map(withQuestions) },
    policy: { default_action: 'approve', rules: [] },
  });
  const { served } = world;
  await served.client.putChain({
    file: 'loop.json',
    text: `${JSON.stringify(loopChain, null, 2)}\n`,
    source: 'user',
    if_none_match: '*',
  });
  await served.client.createSession({ name: 'notes' });
  await served.client.createHook({ name: 'shop', url: 'http://127.0.0.1:9/' });
  await served.client.createMcpServer({ name: 'memory', transport: 'stdio', command: 'node', args: ['memory.js'] });
  asked = String((await served.app.seen(await served.run({ input: 'write' }), 'ask')).ask_id);
}, 60_000);
afterAll(() => world?.close());

type Form = { readonly path: string; readonly button: string; readonly field: string; readonly before: string };
const forms = (): readonly Form[] => [
  { path: '/tools?tab=hooks', button: 'Add a hook…', field: 'Headers', before: '' },
  { path: '/tools?tab=hooks', button: 'Edit…', field: 'URL', before: 'http://127.0.0.1:9' },
  { path: '/tools?tab=mcp', button: 'Add a server…', field: 'Program', before: '' },
  { path: '/tools?tab=mcp', button: 'Edit…', field: 'Variables', before: '' },
  { path: '/backends', button: 'Add a backend…', field: 'Name', before: '' },
  { path: '/chains/loop?source=user', button: 'Run with input…', field: 'Input', before: '' },
  { path: '/policies', button: 'New policy…', field: 'Name', before: '' },
  { path: '/policies', button: 'Import…', field: 'Its settings file', before: '' },
  { path: '/chat/notes', button: 'About this chat', field: 'Name', before: 'notes' },
  { path: `/approvals/${asked}`, button: 'Deny with feedback…', field: 'What the model is told', before: '' },
];

it('keeps what was written in a form that was left with Esc, says so, and begins anew when told', async () => {
  const page = await world.open('/runs');
  const dialog = page.getByRole('dialog');
  const faults: string[] = [];
  for (const { path, button, field, before } of forms()) {
    const say = (what: string, value: unknown) => faults.push(`${path} ${button}: ${what}: ${String(value)}`);
    await visit(page, path);
    const open = async () => {
      await page.getByRole('button', { name: button }).first().click();
      return dialog.getByLabel(field).first();
    };
    const leave = async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    const empty = await open();
    if ((await empty.inputValue()) !== before) say('begins with', await empty.inputValue());
    await empty.fill('half a thought');
    await leave();
    // Another page in between changes nothing.
    await visit(page, '/usage');
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await visit(page, path);
    const back = await open();
    if ((await back.inputValue()) !== 'half a thought') say('comes back with', await back.inputValue());
    for (const fault of await axeFaults(page)) say('axe', fault);
    await dialog.getByRole('button', { name: 'Start over' }).click();
    if ((await back.inputValue()) !== before) say('starts over with', await back.inputValue());
    await leave();
    await open();
    if ((await dialog.getByText('What you wrote here before').count()) !== 0) say('is back', 'though nothing is');
    await leave();
  }
  expect(faults).toEqual([]);
  expect(world.problems).toEqual([]);
}, 120_000);

it('keeps no key of a backend, and nothing that was sent', async () => {
  const page = await world.open('/backends');
  const dialog = page.getByRole('dialog');
  const open = () => page.getByRole('button', { name: 'Add a backend…' }).first().click();
  await open();
  await dialog.getByLabel('Type').selectOption('openai');
  await dialog.getByLabel('Name').fill('mine');
  await dialog.getByLabel('Store the key in the database').check();
  await dialog.getByLabel('Key', { exact: true }).fill('sk-secret');
  await page.keyboard.press('Escape');
  await open();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('mine');
  expect(await dialog.getByLabel('Key', { exact: true }).inputValue()).toBe('');
  await dialog.getByLabel('Key', { exact: true }).fill('sk-secret');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await dialog.waitFor({ state: 'detached' });
  await open();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('');
  expect(world.problems).toEqual([]);
});

it('keeps the arguments that somebody has begun to edit, and none that were taken', async () => {
  const page = await world.open(`/approvals/${asked}`);
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Arguments as JSON');
  const edited = JSON.stringify({ path: 'note.txt', content: 'two\n' });
  await page.getByRole('button', { name: 'Edit…' }).click();
  await field.fill(edited);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit…' }).click();
  expect(await field.inputValue()).toBe(edited);
  await dialog.getByText('What you wrote here before').waitFor();
  const send = dialog.getByRole('button', { name: 'Send the edited call' });
  const isOpen = () => dialog.count();
  // A press counts once the guard lets it.
  await expect.poll(() => send.click({ timeout: 1000 }).then(isOpen, isOpen), { timeout: 20_000 }).toBe(0);
  const again = String((await world.served.app.seen(await world.served.run({ input: 'write' }), 'ask')).ask_id);
  await visit(page, `/approvals/${again}`);
  await page.getByRole('button', { name: 'Edit…' }).click();
  expect(await field.inputValue()).toContain('one');
  expect(world.problems).toEqual([]);
});

it('keeps the answer to a question over another page, and gives back what an ask has ended under', async () => {
  const { app, client } = world.served;
  const { run_id } = await app.start({ input: { type: 'string', value: 'ask me' }, on_ask: 'ask' });
  const id = (await app.seen(run_id, 'ask')).ask_id;
  const page = await world.open(`/approvals/${id}`);
  const field = page.getByLabel('Your answer');
  await field.fill('green, if there is any');
  await visit(page, '/usage');
  await field.waitFor({ state: 'detached' });
  await visit(page, `/approvals/${id}`);
  await page.getByText('What you wrote here before').waitFor();
  expect(await field.inputValue()).toBe('green, if there is any');
  const { binding } = await client.getApproval({ id });
  await client.answerApproval({ id, outcome: 'answer', text: 'red', binding });
  const dialog = page.getByRole('dialog', { name: 'Not sent' });
  await dialog.getByText('green, if there is any').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(world.problems).toEqual([]);
});
