import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { loopChain } from '../support/scripted-app.ts';
import { type Served, served } from './served.ts';

/** Files with instructions for agents, as whoever writes in a browser is told of them. */

let server: Served;
const chain = JSON.parse(shippedChains['default-run-chain.json']) as object;
const policy = (action: string) => `${JSON.stringify({ default_action: 'deny', rules: [{ tools: '*', action }] })}\n`;
const put = (name: string, text: string) =>
  server.client.putPolicy({ file: `hitl-policy-${name}.json`, text, source: 'user', if_none_match: '*' });

beforeAll(async () => {
  server = await served({ turns: [], chain, policy: { default_action: 'allow', rules: [] } });
  await put('asking', policy('approve'));
  await server.client.putChain({
    file: 'plain.json',
    text: JSON.stringify(loopChain),
    source: 'user',
    if_none_match: '*',
  });
});
afterAll(() => server?.close());

const told = async (wanted: { readonly chain?: string; readonly policy?: string } = {}) =>
  (await server.client.listInstructions(wanted)).map(
    ({ source, withheld, mend, text }) =>
      `${source}: ${withheld ?? `given ${/^[A-Z].*\.$/m.exec(text?.split('\n')[3] ?? '')?.[0]}`}${mend === null ? '' : ` (${mend})`}`,
  );

it('tells which files the next message would have, which not, why, and what changes that', async () => {
  const { workspace, home } = server.app.place;
  const file = join(workspace, 'AGENTS.md');
  expect(await told()).toEqual([]);

  writeFileSync(file, 'Run make check.\n');
  writeFileSync(join(home, '.reins/AGENTS.md'), 'Answer in verse.\n', { mode: 0o600 });
  expect(await told()).toEqual([
    'user: given Answer in verse.',
    `project: nothing of this project is trusted yet (reins trust add ${file})`,
  ]);

  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  await server.client.addTrust({ kind: 'agent', path: 'AGENTS.md', sha256 });
  const [own, project] = await server.client.listInstructions({});
  expect([own?.path, project?.path]).toEqual([join(home, '.reins/AGENTS.md'), file]);
  expect(project).toMatchObject({ bytes: 16, cut: false, withheld: null, mend: null });
  expect(project?.text).toContain('<project-instructions>\nRun make check.\n</project-instructions>');

  expect(await told({ policy: 'asking' })).toEqual([
    'user: given Answer in verse.',
    'project: the policy asking asks about reading it by rule 1',
  ]);
  expect(await told({ chain: 'plain' })).toEqual([
    'user: the chain loop does not ask for it with {{var:user_instructions|}}',
    'project: the chain loop does not ask for it with {{var:project_instructions|}}',
  ]);
  await server.client.putConfigItem({ key: 'project-instructions', value: 'false' });
  expect(await told()).toEqual([
    'user: given Answer in verse.',
    'project: config project-instructions is false (reins config unset project-instructions)',
  ]);
});

it('refuses what no message could be sent with', async () => {
  await expect(server.client.listInstructions({ chain: 'no-such' })).rejects.toThrow('no-such');
});
