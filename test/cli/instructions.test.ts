import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createWorld, tester, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = createWorld();
  world.write('AGENTS.md', 'Run make check.\n');
});
afterEach(() => world.remove());

const told = async (): Promise<readonly string[]> => {
  const { stdout } = await world.run(['doctor', '--skip-probe']);
  const lines = stdout.split('\n');
  return lines.filter(
    (line, index) => /Instructions: /.test(`${line}${lines[index - 1] ?? ''}`) && !/^Backends/.test(line),
  );
};

test('init says that AGENTS.md is given to the model, and doctor and --trace tell of it', async () => {
  const { stderr } = await world.run(['init']);
  expect(stderr.split('\n')[0]).toBe(
    'The model is given AGENTS.md of this project; reins config set project-instructions false ends that.',
  );
  expect(await told()).toEqual(['Instructions: AGENTS.md (16 B)']);
  await addScript(world, [
    { match: { any: 'Run make check' }, reply: { text: 'I heed it.' } },
    { match: {}, reply: { text: 'Heed what?' } },
  ]);
  const traced = await world.run(['run', ...tester, '--trace', 'go']);
  expect(traced.stdout).toBe('I heed it.\n');
  expect(traced.stderr).toContain('instructions="AGENTS.md (16 B)"');
  // A trace has sizes and names only.
  expect(traced.stderr).not.toContain('make check');
  const [listed] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
  const shown = (await world.run(['state', 'show', listed.id])).stdout;
  expect(shown.split('\n').filter((line) => /agents/.test(line))).toEqual(['  agents    AGENTS.md (16 B)']);
  await world.run(['config', 'set', 'project-instructions', 'false']);
  expect((await world.run(['run', ...tester, 'go'])).stdout).toBe('Heed what?\n');
  expect(await told()).toEqual([]);
});

test('doctor says that nothing is trusted, and the file is trusted like content of the project', async () => {
  await world.run(['init']);
  const place = join(world.workspace, 'AGENTS.md');
  // A chain that the operator has named himself needs no trust.
  const own = world.write('../own.json', readFileSync(join(world.workspace, '.reins/default-chain.json')));
  await world.run(['config', 'set', 'default-chain', own]);
  writeFileSync(join(world.home, '.reins/trust.json'), '[]\n', { mode: 0o600 });
  expect(await told()).toEqual([
    'Instructions: AGENTS.md is not given to the model: nothing of this project is trusted yet',
    `    Try: reins trust add ${place}`,
  ]);
  expect((await world.run(['trust', 'show', 'AGENTS.md'])).stdout.split('\n')[0]).toBe(`agent ${place}`);
  const refused = await world.run(['trust', 'add', 'AGENTS.md']);
  expect(refused.code).toBe(3);
  const [, sha256 = ''] = /sha256 ([0-9a-f]{64})/.exec(refused.stderr) ?? [];
  await world.run(['trust', 'add', 'AGENTS.md', '--sha256', sha256]);
  expect(await told()).toEqual(['Instructions: AGENTS.md (16 B)']);
});

test('doctor says that chains which were made before do not ask for it', async () => {
  await world.run(['init']);
  for (const name of ['default-chain.json', 'default-run-chain.json']) {
    const path = join(world.workspace, '.reins', name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('{{var:project_instructions|}}', ''));
    const refused = await world.run(['trust', 'add', path]);
    const [, sha256 = ''] = /sha256 ([0-9a-f]{64})/.exec(refused.stderr) ?? [];
    await world.run(['trust', 'add', path, '--sha256', sha256]);
  }
  expect(await told()).toEqual([
    'Instructions: AGENTS.md is not given to the model: no chain of runs and chats here asks for it with {{var:project_instructions|}}',
  ]);
});

test('its variables are not for callers', async () => {
  expect(await world.run(['run', '--var', 'project_instructions=x', 'go'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"project_instructions" is set by the runtime and cannot be given'),
  });
});
