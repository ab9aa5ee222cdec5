import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { call, calls, loopChain, says } from '../support/scripted-app.ts';
import { axeFaults, visit, type WebWorld, webWorld } from './world.ts';

/** A policy and a chain are edited as a person would. */

let world: WebWorld;
const policy = (rules: readonly unknown[]) => `${JSON.stringify({ default_action: 'deny', rules }, null, 2)}\n`;
const read = { tools: 'local_fs', tool: 'read_file', action: 'allow' };
const shell = { tools: 'local_shell', action: 'deny' };

beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.read_file', { path: 'notes.txt' })], { role: 'user' }),
      says('Read.', { role: 'tool' }),
    ],
    policy: { default_action: 'deny', rules: [] },
  });
  const { served } = world;
  await served.client.putPolicy({
    file: 'hitl-policy-mine.json',
    text: policy([read, shell]),
    source: 'user',
    if_none_match: '*',
  });
  const text = `${JSON.stringify(loopChain, null, 2)}\n`;
  await served.client.putChain({ file: 'loop.json', text, source: 'user', if_none_match: '*' });
  await served.app.client.awaitRun({ run_id: await served.run({ chain: 'loop' }) });
}, 60_000);
afterAll(() => world?.close());

it('offers a call that was denied to be tried again, and the same call once', async () => {
  const { served } = world;
  await served.app.client.awaitRun({ run_id: await served.run({ chain: 'loop' }) });
  const page = await world.open('/policies/hitl-policy-mine');
  const calls = page.getByLabel('A call of the past');
  await calls.getByRole('option').nth(1).waitFor({ state: 'attached' });
  expect(await calls.getByRole('option').allTextContents()).toEqual([
    'type one below',
    'local_fs.read_file {"path":"notes.txt"}',
  ]);
});

it('edits a policy: moved rules, findings as it is typed, what it would let through, a save that meets another', async () => {
  const page = await world.open('/policies/hitl-policy-mine?tab=rules');
  await page.getByText('No findings.').waitFor();
  await page.getByRole('button', { name: 'Move rule 2 up' }).click();
  await page.getByText('not saved').waitFor();
  await page.getByRole('tab', { name: 'Explain' }).click();
  await page
    .getByText('by default_action')
    .or(page.getByText('default_action', { exact: true }))
    .first()
    .waitFor();

  const editor = page.getByLabel('Text of hitl-policy-mine.json');
  const typed = (await editor.textContent()) ?? '';
  expect(typed.indexOf('local_shell') < typed.indexOf('local_fs')).toBe(true);
  await editor.click();
  // Over what is selected: the browser would bring a style of its own, which the policy of the page refuses.
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(policy([shell, read]));
  await page.getByText('No findings.').waitFor();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('x');
  await page.getByRole('list', { name: 'Findings' }).waitFor();
  await page.getByText('The text is no valid policy: everything asks.').waitFor();
  expect(await page.getByRole('button', { name: 'Save…' }).isDisabled()).toBe(true);
  await page.keyboard.press('Backspace');
  await page.getByText('No findings.').waitFor();
  await page.getByText('The text is no valid policy: everything asks.').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByText('would have been let through').waitFor();
  const save = page.getByRole('button', { name: 'Save', exact: true });
  expect(await save.isDisabled()).toBe(true);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('That is what I want.').check();

  const now = await world.served.client.getPolicy({ file: 'hitl-policy-mine.json' });
  await world.served.client.putPolicy({ file: now.file, text: policy([shell]), if_match: `"${now.sha256}"` });
  await save.click();
  await page.getByText('was changed by somebody else').waitFor();
  await page.getByRole('heading', { name: 'Yours against theirs' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save mine over theirs' }).click();
  await page.getByText('not saved').waitFor({ state: 'detached' });
  const saved = JSON.parse((await world.served.client.getPolicy({ file: now.file })).text) as { rules: unknown[] };
  expect(saved.rules).toEqual([shell, read]);
  expect(world.problems).toEqual([]);
});

const text = (page: Page): Promise<string | null> => page.getByLabel('Text of hitl-policy-mine.json').textContent();

/** Somebody else saves it. */
async function savesMeanwhile(rules: readonly unknown[]): Promise<void> {
  const { client } = world.served;
  const { file, sha256 } = await client.getPolicy({ file: 'hitl-policy-mine.json' });
  await client.putPolicy({ file, text: policy(rules), if_match: `"${sha256}"` });
}

it('follows what somebody else saves where nothing was changed, and lays no draft over a version that it does not know', async () => {
  await savesMeanwhile([shell, read]);
  const page = await world.open('/policies/hitl-policy-mine?tab=rules');
  await page.getByText('No findings.').waitFor();
  await savesMeanwhile([read]);
  await expect.poll(() => text(page)).not.toContain('local_shell');
  expect(await page.getByText('somebody has saved another version').count()).toBe(0);

  await page.getByLabel('Text of hitl-policy-mine.json').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(policy([]));
  await page.getByText('not saved').waitFor();
  await savesMeanwhile([read, shell]);
  await page.getByText('somebody has saved another version').waitFor();
  // A reload keeps the draft, and what it is a draft of.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText('somebody has saved another version').waitFor();
  await page.getByText('No findings.').waitFor();
  await page.getByRole('button', { name: 'Save…' }).click();
  const agree = page.getByLabel('That is what I want.');
  await agree.or(page.getByText('would be let through that was not')).waitFor();
  if ((await agree.count()) > 0) await agree.check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('was changed by somebody else').waitFor();
  await page.getByRole('button', { name: 'Go on editing' }).click();
  // The same file among the presets is another document, which nobody has changed.
  await visit(page, '/policies/hitl-policy-mine?source=user');
  await page.getByText('not saved').waitFor();
  await page.getByRole('button', { name: 'Undo changes' }).click();
  await page.getByText('not saved').waitFor({ state: 'detached' });
  expect(await text(page)).toContain('local_shell');
  expect(world.problems).toEqual([]);
});

it('keeps what is written while a save is on its way, as changes of what was saved', async () => {
  const file = 'hitl-policy-held.json';
  await world.served.client.putPolicy({ file, text: policy([]), source: 'user', if_none_match: '*' });
  const page = await world.open('/policies/hitl-policy-held');
  const editor = page.getByLabel(`Text of ${file}`);
  const typed = async (text: string) => {
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(text);
    await page.getByText('No findings.').waitFor();
  };
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(`**/api/policies/${file}*`, async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue();
  });
  await typed(' ');
  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Go on editing' }).click();
  await typed('\n\n');
  const text = await editor.innerText();
  const read = page.waitForResponse((response) => response.url().includes(`/policies/${file}`));
  letGo();
  await read;
  await page.locator('[aria-live=polite]', { hasText: 'is saved' }).waitFor({ state: 'attached' });
  expect(await editor.innerText()).toBe(text);
  await page.getByText('not saved').waitFor();
  await page.getByRole('button', { name: 'Save…' }).and(page.locator(':enabled')).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('not saved').waitFor({ state: 'detached' });
  // Cases that passed have passed under the text as it was.
  await page.getByRole('tab', { name: 'Test' }).click();
  await page.getByRole('button', { name: 'Run the cases' }).click();
  await page.getByText(/^\d passed, \d failed\.$/).waitFor();
  expect(await page.getByText('The text or the cases have changed since.').count()).toBe(0);
  await typed(' ');
  await page.getByText('The text or the cases have changed since.').waitFor();
  expect(world.problems).toEqual([]);
});

it('says of a document that was deleted meanwhile that it is gone, and saves it anew', async () => {
  const page = await world.open('/policies/hitl-policy-mine');
  await page.getByText('No findings.').waitFor();
  await page.getByLabel('Text of hitl-policy-mine.json').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(policy([shell]));
  await page.getByText('not saved').waitFor();
  const { client } = world.served;
  const { file, sha256 } = await client.getPolicy({ file: 'hitl-policy-mine.json' });
  await client.deletePolicy({ file, if_match: `"${sha256}"` });
  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByText('would be let through that was not').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('It is no longer there.').waitFor();
  await page.getByRole('button', { name: 'Save it anew' }).click();
  await page.getByText('not saved').waitFor({ state: 'detached' });
  expect((await client.getPolicy({ file })).text).toBe(policy([shell]));
  expect(world.problems).toEqual([]);
});

it('shows what an editor has made of a file to who comes back from it, and why a file cannot be read', async () => {
  const { client, app } = world.served;
  const file = 'hitl-policy-edited.json';
  await client.putPolicy({ file, text: policy([read]), source: 'user', if_none_match: '*' });
  const page = await world.open('/policies/hitl-policy-edited');
  await page.getByText('No findings.').waitFor();
  const path = join(app.place.home, '.reins', file);
  writeFileSync(path, '{"rules": [');
  const back = () => page.evaluate("dispatchEvent(new Event('focus'))");
  await back();
  await page.getByRole('button', { name: /found the end/ }).waitFor();
  expect(await page.getByLabel(`Text of ${file}`).innerText()).toBe('{"rules": [');
  chmodSync(path, 0o666);
  await back();
  await page.getByText('This file cannot be read: every user may write to it (chmod o-w).').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.getByLabel(`Text of ${file}`).count()).toBe(0);
  chmodSync(path, 0o600);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByLabel(`Text of ${file}`).waitFor();
  expect(world.problems).toEqual([]);
});

it('shows a chain as a picture whose tasks lead into the text, with the keyboard alone', async () => {
  const page = await world.open('/chains/loop?source=user');
  const task = page.getByRole('link', { name: /run_tools/ });
  await task.waitFor();
  await page.getByText('taken in the last run').waitFor();
  await page.getByLabel('Text of loop.json').waitFor();
  await task.focus();
  await page.keyboard.press('Enter');
  await page.locator('.cm-focused').waitFor();
  // Where the focus is can be seen at the edge of the editor.
  const edge = async () => {
    const box = await page.locator('.editor').boundingBox();
    if (box === null) throw new Error('no editor');
    return page.screenshot({ clip: { x: box.x - 4, y: box.y + 40, width: 4, height: 40 } });
  };
  const focused = await edge();
  await task.focus();
  expect((await edge()).equals(focused)).toBe(false);
  expect(await task.getAttribute('aria-current')).toBe('true');
  expect(await page.locator('.edge.taken').count()).toBe(3);
  expect(world.problems).toEqual([]);
});

it('says which policy is in effect where it was named by its path, beside every page and above the list', async () => {
  const page = await world.open('/policies');
  await page
    .getByText('In effect is policy, a file that was named when the server was started.', { exact: false })
    .waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByText('policy policy', { exact: true }).waitFor();
  expect(await page.getByText('ready', { exact: true }).count()).toBe(0);
  await visit(page, '/chat/default');
  await page.getByRole('button', { name: 'policy policy' }).waitFor();
});

it('names the column of the buttons of a table', async () => {
  const page = await world.open('/settings/sessions');
  await page.getByText('this one', { exact: true }).waitFor();
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    'Browser',
    'From',
    'By',
    'Since',
    'Seen',
    'Ends',
    'Change',
  ]);
});

it('says which files with instructions the next message has, which not and why, as chain and policy are chosen', async () => {
  const { client, app } = world.served;
  writeFileSync(join(app.place.workspace, 'AGENTS.md'), 'Run make check.\n');
  writeFileSync(join(app.place.home, '.reins/AGENTS.md'), 'Answer in verse.\n', { mode: 0o600 });
  const text = shippedChains['default-chain.json'];
  await client.putChain({ file: 'heeding.json', text, source: 'user', if_none_match: '*' });
  await client.putPolicy({ file: 'hitl-policy-reads.json', text: policy([read]), source: 'user', if_none_match: '*' });
  const page = await world.open('/chat/default');
  await page.getByRole('button', { name: 'policy policy' }).click();
  const part = page.getByRole('region', { name: 'Instructions for agents' });
  await part.getByText('does not ask for it').first().waitFor();
  expect(await part.getByText('not given', { exact: true }).count()).toBe(2);

  await page.getByLabel('Chain').selectOption('heeding');
  await part.getByText('the policy policy denies reading it').waitFor();
  await page.getByLabel('Policy').selectOption('reads');
  await part.getByText('nothing of this project is trusted yet').waitFor();
  await part.getByText('reins trust add').waitFor();
  await part.getByRole('button', { name: 'What the model gets' }).click();
  await part.getByText('Answer in verse.').waitFor();
  expect(await part.getByText('not given', { exact: true }).count()).toBe(1);
  expect(await axeFaults(page)).toEqual([]);

  await visit(page, '/settings/trust');
  await part.getByText('AGENTS.md').first().waitFor();
  expect(world.problems).toEqual([]);
});
