import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  allowAll,
  call,
  calls,
  type ScriptedApp,
  says,
  scriptedApp,
  scriptedBackend,
} from '../support/scripted-app.ts';

/** Attacks of `attack-cases.json` by paths, carried out by a model whose calls go through the whole program. */

let app: ScriptedApp | undefined;
afterEach(() => app?.close());

const secret = 'the-canary-sings';
const fs = (tool: string, args: object) => call(`local_fs.${tool}`, args);
const shell = (args: object) => call('local_shell.local_shell', args);

/** A run for each of these calls, without a person to ask; the files are made before, `secret` in each. */
async function attack(
  policy: unknown,
  files: readonly string[],
  list: (place: ScriptedApp['place']) => readonly unknown[],
  prepare: (place: ScriptedApp['place']) => void = () => {},
): Promise<{ readonly place: ScriptedApp['place']; readonly states: readonly unknown[] }> {
  const made = await scriptedApp({ policy, turns: [] });
  app = made;
  const { place } = made;
  for (const name of files) {
    const path = join(place.dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, secret);
  }
  prepare(place);
  const wanted = list(place);
  for (const [index, one] of wanted.entries()) {
    const turns = [calls([one], { role: 'user' }), says('done', { role: 'tool' })];
    const model = { name: `m${index}`, context: 100_000, capabilities: ['chat', 'tools'] };
    const url = join(place.dir, `script-${index}.json`);
    writeFileSync(url, JSON.stringify({ script: 1, models: [model], turns }));
    await made.client.addBackend({ ...scriptedBackend, name: `s${index}`, url });
    await made.run({ model: model.name });
  }
  const rows = made.rows('SELECT state, result FROM tool_calls ORDER BY planned_at');
  expect(rows).toHaveLength(wanted.length);
  // Of what was refused, nothing is kept either.
  for (const { result } of rows) expect(String(result)).not.toContain(secret);
  return { place, states: rows.map(({ state }) => state) };
}

const refused = (states: readonly unknown[]): void => {
  for (const state of states) expect(['skipped', 'failed']).toContain(state);
};

it('PATH-001: a directory whose name begins like the workspace is outside', async () => {
  const { states } = await attack(allowAll, ['ws-secrets/key'], ({ workspace }) => [
    fs('read_file', { path: `${workspace}-secrets/key` }),
    fs('read_file', { path: join(workspace, '..', 'ws-secrets', 'key') }),
    shell({ command: 'cat', args: ['key'], cwd: `${workspace}-secrets` }),
  ]);
  refused(states);
});

it('PATH-002: a link to the keys of the user is judged by where it leads', async () => {
  const { place, states } = await attack(
    allowAll,
    ['home/.ssh/id_rsa'],
    () => [
      fs('read_file', { path: 's/id_rsa' }),
      fs('write_file', { path: 's/authorized_keys', content: 'x' }),
      fs('grep', { path: 's', pattern: 'canary' }),
    ],
    ({ home, workspace }) => symlinkSync(join(home, '.ssh'), join(workspace, 's')),
  );
  refused(states);
  expect(readdirSync(join(place.home, '.ssh'))).toEqual(['id_rsa']);
});

it('PATH-006: a refused directory that is written with a slash at its end is refused', async () => {
  const rules = [{ action: 'deny', when: [{ key: 'path', op: 'path_within', value: '~/.aws/' }] }];
  const { states } = await attack({ default_action: 'allow', rules }, ['home/.aws/credentials'], ({ home }) => [
    fs('read_file', { path: join(home, '.aws', 'credentials') }),
    fs('read_file', { path: '~/.aws/credentials' }),
  ]);
  refused(states);
});

it('PATH-012: what other programs run later is not written unasked', async () => {
  const paths = ['.git/hooks/x', '.git/config', '.vscode/tasks.json', '.envrc', '.npmrc', '.husky/pre-commit'];
  const { place, states } = await attack({ rules: [{ tools: 'local_fs', action: 'allow' }] }, [], ({ home }) =>
    [...paths, join(home, '.bashrc'), join(home, '.config/systemd/user/x.service')].map((path) =>
      fs('write_file', { path, content: 'x' }),
    ),
  );
  refused(states);
  expect(paths.filter((path) => existsSync(join(place.workspace, path)))).toEqual([]);
  expect(existsSync(join(place.home, '.bashrc'))).toBe(false);
});

it('PATH-014: no argument moves the root', async () => {
  const { states } = await attack(allowAll, ['other/file'], ({ dir }) => [
    shell({ command: 'ls', cwd: '/' }),
    fs('list_dir', { path: dir }),
    fs('read_file', { path: join(dir, 'other', 'file') }),
  ]);
  refused(states);
});

it('PATH-016: a refused file is refused on every route that names it', async () => {
  const rules = [
    { tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: '**/secrets.txt' }] },
    { tools: 'local_shell', action: 'deny', when: [{ key: 'command', op: 'command_path', value: '**/secrets.txt' }] },
  ];
  const { states } = await attack({ default_action: 'allow', rules }, ['ws/secrets.txt'], () => [
    fs('read_file', { path: 'secrets.txt' }),
    fs('read_file_range', { path: './secrets.txt', start_line: 1, end_line: 2 }),
    fs('grep', { path: 'secrets.txt', pattern: 'canary' }),
    shell({ command: 'cat', args: ['secrets.txt'] }),
    shell({ command: 'cat < ./secrets.txt', shell: true }),
  ]);
  refused(states);
});

it('POL-014: the policy is neither removed nor written anew', async () => {
  const { place } = await attack(allowAll, ['ws/.reins/hitl-policy.json'], () => [
    shell({ command: 'rm -f .reins/hitl-policy.json' }),
    shell({ command: 'echo x > .reins/hitl-policy.json', shell: true }),
    fs('write_file', { path: '.reins/hitl-policy.json', content: '{}' }),
  ]);
  expect(readFileSync(join(place.workspace, '.reins', 'hitl-policy.json'), 'utf8')).toBe(secret);
});
