import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { done, executor, reply, summary, summariser } from '../plans/support.ts';
import { call, calls, loopChain, says } from '../support/scripted-app.ts';
import { axeFaults, phone, visit, type WebWorld, webWorld, wide } from './world.ts';

/** Every page of what is set up, at both sizes and in both themes, with something in it. */

let world: WebWorld;

beforeAll(async () => {
  world = await webWorld({
    turns: [
      ...done,
      reply('Written.', { ...executor, role: 'tool' }),
      reply(summary(), summariser),
      calls([call('local_fs.read_file', { path: 'notes.txt' })], { role: 'user' }),
      says('Read it.', { role: 'tool' }),
    ],
  });
  const { served } = world;
  const { client, place } = served.app;
  await client.setConfig({ key: 'default-model', value: 'm' });
  await client.setConfig({ key: 'default-provider', value: 'scripted' });
  writeFileSync(join(place.workspace, 'notes.txt'), 'a note\n');
  const home = join(place.home, '.reins');
  mkdirSync(home, { recursive: true });
  await served.client.putPolicy({
    file: 'hitl-policy-mine.json',
    text: `${JSON.stringify(
      {
        default_action: 'approve',
        rules: [
          { tools: 'local_fs', tool: 'read_file', action: 'allow' },
          { tools: 'local_shell', action: 'deny' },
        ],
      },
      null,
      2,
    )}\n`,
    source: 'user',
    if_none_match: '*',
  });
  await served.client.putChain({
    file: 'loop.json',
    text: `${JSON.stringify(loopChain, null, 2)}\n`,
    source: 'user',
    if_none_match: '*',
  });
  await client.awaitRun({ run_id: await served.run({ chain: 'loop' }) });
  await served.client.postPlan({ goal: 'Ship the release\nwith notes', steps: ['Write the notes', 'Tag it'] });
  const next = await served.client.postNext({ name: 'active' });
  await client.awaitRun({ run_id: next.run_id });
  await served.client.createMcpServer({ name: 'memory', transport: 'stdio', command: 'node', args: ['memory.js'] });
  await served.client.createHook({ name: 'shop', url: 'http://127.0.0.1:9/', headers: { Authorization: 'Bearer x' } });
}, 90_000);
afterAll(() => world?.close());

const visits: readonly (readonly [path: string, there: string])[] = [
  ['/plans', 'Ship the release'],
  ['/plans/active', 'Write the notes'],
  ['/policies', 'mine'],
  ['/policies/hitl-policy-mine', 'A call of the past'],
  ['/policies/hitl-policy-mine?tab=rules', 'local_shell.*'],
  ['/chains', 'loop'],
  ['/chains/loop?source=user', 'taken in the last run'],
  ['/backends', 'Check now'],
  ['/models', 'Context'],
  ['/tools', 'local_fs.read_file'],
  ['/tools?tab=hooks', 'Authorization: set'],
  ['/tools?tab=mcp', '["node","memory.js"]'],
  ['/usage', 'Questions to you'],
  ['/settings', 'default-model'],
  ['/settings/password', 'Current password'],
  ['/settings/sessions', 'this one'],
  ['/settings/trust', 'Trust'],
  ['/settings/audit', 'Verify'],
  ['/settings/about', 'Workspace'],
  ['/setup', 'Checks'],
];

it.each([
  ['wide and light', wide, 'light'],
  ['on a phone and dark', phone, 'dark'],
] as const)(
  'shows every page %s without a fault that axe finds',
  async (_, viewport, scheme) => {
    const page = await world.open('/setup', { viewport, scheme });
    const faults: string[] = [];
    for (const [path, there] of visits) {
      await visit(page, path);
      await page
        .getByText(there)
        .first()
        .waitFor({ state: 'attached', timeout: 20_000 })
        .catch(() => faults.push(`${path}: does not show ${there}`));
      for (const fault of await axeFaults(page)) faults.push(`${path}: ${fault}`);
      const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(over) > 0) faults.push(`${path}: ${over} px wider than the window`);
    }
    expect(faults).toEqual([]);
    expect(world.problems).toEqual([]);
  },
  120_000,
);
