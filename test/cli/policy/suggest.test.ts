import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import Database from 'better-sqlite3';
import { openTerminal } from '../../support/terminal.ts';
import { createProject, type World } from '../world.ts';
import { createAnswered } from './answered.ts';

let world: World;
let operator: Awaited<ReturnType<typeof createAnswered>>;
beforeEach(async () => {
  world = await createProject();
  operator = await createAnswered(world);
});
afterEach(() => world.remove());

const write = (path: string, content = 'x') => operator.answer('approve', 'local_fs.write_file', { path, content });
const suggestions = async () => {
  const { stdout } = await world.run(['policy', 'suggest', '--json']);
  return JSON.parse(stdout).suggestions as readonly { rule: unknown; index: number; asks: readonly string[] }[];
};

const inOut = {
  tools: 'local_fs',
  tool: 'write_file',
  when: [{ key: 'path', op: 'path_within', value: 'out/notes' }],
  action: 'allow',
};

describe('policy suggest', () => {
  test('proposes a directory for three approvals in it, and says what else that would have allowed', async () => {
    await write('out/notes/a.txt');
    await write('out/notes/b.txt');
    expect(await suggestions()).toEqual([]);
    await write('out/notes/c.txt');
    const { code, stdout, stderr } = await world.run(['policy', 'suggest']);
    expect([code, stdout, stderr]).toEqual([
      0,
      `${JSON.stringify(inOut)}\n` +
        '  as rule 63, from 3 approvals; would have answered 3 asks\n' +
        '  no other recorded call would have been allowed\n',
      'reins policy suggest --write adds them, each after a question\n',
    ]);
  });

  test('proposes the exact call where it was the same one, with what was absent absent', async () => {
    for (let time = 0; time < 3; time += 1)
      await operator.answer('approve', 'local_shell.local_shell', { command: 'touch -c a' });
    const [only, ...more] = await suggestions();
    expect(more).toEqual([]);
    expect(only?.rule).toEqual({
      tools: 'local_shell',
      tool: 'local_shell',
      when: [
        { key: 'command', op: 'eq', value: 'touch -c a' },
        ...['args', 'cwd', 'timeout_s', 'timeout', 'shell'].map((key) => ({ key, op: 'exists', value: 'false' })),
      ],
      action: 'allow',
    });
  });

  test('proposes nothing for a group with a denial', async () => {
    for (const name of ['a', 'b', 'c']) await write(`out/notes/${name}.txt`);
    await operator.answer('deny', 'local_fs.write_file', { path: 'out/notes/d.txt', content: 'x' });
    expect(await suggestions()).toEqual([]);
  });

  test('proposes nothing that touches names of the catalogue, nor the root itself', async () => {
    for (const name of ['a', 'b', 'c']) await write(`app/.env.${name}`);
    for (const name of ['a', 'b', 'c']) await write(`${name}.txt`);
    expect(await suggestions()).toEqual([]);
  });

  test('proposes no directory in which the policy would then allow a secret', async () => {
    const path = world.write('bare.json', '{"rules":[{"tools":"local_fs","tool":"read_file","action":"approve"}]}');
    for (const name of ['a', 'b', 'c']) await write(`out/notes/${name}.txt`);
    const { stdout, stderr } = await world.run(['policy', 'suggest', '--policy', path]);
    expect([stdout, stderr]).toEqual(['', 'nothing to suggest: 3 approvals looked at, three of a kind make a rule\n']);
  });

  test('--write needs a terminal', async () => {
    const { code, stderr } = await world.run(['policy', 'suggest', '--write']);
    expect([code, stderr]).toEqual([
      2,
      'reins: --write asks about each rule and needs a terminal\n  reins policy suggest\n',
    ]);
  });

  test('--write puts the rule into a copy of the built-in policy, which governs then', async () => {
    for (const name of ['a', 'b', 'c']) await write(`out/notes/${name}.txt`);
    const path = join(world.home, '.reins/hitl-policy-default.json');
    const terminal = openTerminal(world, ['policy', 'suggest', '--write'], { columns: 160 });
    await terminal.saw('[y] write it');
    expect(terminal.screen()).toContain(`to ${path}, a new copy of the policy that governs`);
    await terminal.press('y', `Added rule 63 to ${path}.`);
    expect((await terminal.ended).code).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { rules } = JSON.parse(readFileSync(path, 'utf8'));
    expect(rules).toHaveLength(73);
    expect(rules[62]).toEqual({ '//': expect.stringMatching(/^added 20.* from ask_\w{26} and 2 more$/), ...inOut });
    expect((await world.run(['config', 'get', 'hitl-policy-name'])).stdout).toBe('default\n');
    const args = '{"path":"out/notes/z","content":""}';
    const { stdout } = await world.run(['policy', 'explain', 'local_fs/write_file', args]);
    expect(stdout.split('\n')[0]).toBe(`allow  rule 63 of ${path} (user default)`);
    const database = new Database(join(world.workspace, '.reins/local.db'), { readonly: true });
    const rows = database.prepare("SELECT body FROM audit WHERE type = 'rule_added'").pluck().all();
    database.close();
    expect(rows.map((row) => JSON.parse(String(row)))).toEqual([
      expect.objectContaining({ path, index: 62, copied_from: 'default', by: 'operator:cli' }),
    ]);
    expect((await world.run(['policy', 'vet', 'default'])).code).toBe(0);
    expect(await suggestions()).toEqual([]);

    // The preset that it was copied from is another one by now.
    const hides = `${path}\n  warn $: hides the preset default only where that name is given, as by: reins config set hitl-policy-name default [shadows]\n`;
    expect(await world.run(['policy', 'vet', path])).toMatchObject({ code: 0, stdout: `warn ${hides}` });
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, before.replace(/("\/\/preset": "default )[0-9a-f]{12}"/, '$1000000000000"'));
    expect(readFileSync(path, 'utf8')).not.toBe(before);
    const changed = `reins policy diff builtin:default ${path}`;
    const { code, stdout: vetted } = await world.run(['policy', 'vet', path, '--strict']);
    expect([code, vetted]).toEqual([
      3,
      `FAIL ${hides}  warn $: copied from the preset default, which has changed: ${changed} [preset_changed]\n`,
    ]);
    expect((await world.run(['doctor'])).stdout).toContain(`which has changed since.\n    Try: ${changed}\n`);
    expect((await world.run(changed.split(' ').slice(1))).stdout).toContain('out/notes');
  });

  test('--write changes nothing of the own file but the rule, and nothing at all on another key', async () => {
    for (const name of ['a', 'b', 'c']) await write(`out/notes/${name}.txt`);
    const path = join(world.home, '.reins/hitl-policy.json');
    const guarded = '**/{.*,.*/**,id_*,wallet.dat,*.kdbx,*.keychain-db,_netrc,crontab,Library/**,hitl-policy*.json}';
    const deny = JSON.stringify({
      tools: 'local_fs',
      action: 'deny',
      when: [{ key: 'path', op: 'glob', value: guarded }],
    });
    const text = `{ "//": "mine",\n  "rules": [\n    ${deny}\n  ]\n}`;
    world.write('../home/.reins/hitl-policy.json', text);
    const refused = openTerminal(world, ['policy', 'suggest', '--write'], { columns: 160 });
    await refused.saw('[y] write it');
    await refused.press('n', 'not written');
    await refused.ended;
    expect(readFileSync(path, 'utf8')).toBe(text);
    const terminal = openTerminal(world, ['policy', 'suggest', '--write'], { columns: 160 });
    await terminal.saw('[y] write it');
    await terminal.press('y', `Added rule 2 to ${path}.`);
    await terminal.ended;
    const after = readFileSync(path, 'utf8');
    const added = after.split('\n')[3] ?? '';
    expect(after).toBe(text.replace(deny, `${deny},\n${added}`));
    expect(JSON.parse(added)).toMatchObject(inOut);
    expect(existsSync(join(world.home, '.reins/policy.lock'))).toBe(false);
  });
});
