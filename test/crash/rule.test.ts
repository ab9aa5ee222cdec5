import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { openTerminal } from '../support/terminal.ts';
import { expectSound, rows } from './support.ts';

/** The process that answers with a rule is killed around the write of it (03 §15): the rule and the verdict agree. */

let world: World;
beforeEach(async () => {
  world = await createProject();
  await addScript(world, [
    { match: { tool: { count: 1 } }, reply: { text: 'Touched.' } },
    {
      match: { role: 'user' },
      reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: 'touch one' } }] },
    },
  ]);
});
afterEach(() => world.remove());

const made = (): boolean => existsSync(join(world.workspace, 'one'));
const userLevel = (name: string): string => join(world.home, '.reins', name);
const own = '{ "default_action": "approve", "rules": [] }\n';

/** Where the rule goes: a copy of the built-in policy, or the policy of the user; and whether it stands there. */
const targets = [
  ['a copy of the built-in policy', 'hitl-policy-default.json', () => {}],
  ['the own policy', 'hitl-policy.json', () => writeFileSync(userLevel('hitl-policy.json'), own, { mode: 0o600 })],
] as const;

const ruleStands = (name: string): boolean =>
  existsSync(userLevel(name)) && readFileSync(userLevel(name), 'utf8').includes('"value":"touch one"');
const asks = () => rows(world, "SELECT state, json_extract(verdict, '$.by') AS by FROM asks ORDER BY created_at");

/** A person at a terminal chooses the first rule; the program is killed at the point. */
async function choose(environment: Readonly<Record<string, string>>): Promise<string> {
  const terminal = openTerminal(world, [...tester, '--shell', 'go'], { columns: 200, environment });
  await terminal.saw('[r] add a rule');
  await terminal.press('r', '[q] back');
  const over = terminal.ended.then(({ signal }) => signal);
  // The key is read or the process is dead: a question ignores keys for a moment, and nothing is shown any more.
  await terminal.press('1', (screen) => screen.includes('added rule')).catch(() => undefined);
  expect(await over).toBe(9);
  return String(rows(world, 'SELECT id FROM runs')[0]?.['id']);
}

describe.each(targets)('a rule for %s, killed', (_what, name, prepare) => {
  test.each([
    // Point, whether the rule stands then, state of the ask then.
    ['before the rename', false, 'pending'],
    ['before verdict', false, 'pending'],
    ['commit verdict', true, 'pending'],
    ['after verdict', true, 'approved'],
  ])('%s', async (point, stands, state) => {
    prepare();
    const renaming = point === 'before the rename';
    if (renaming) writeFileSync(`${userLevel(name)}.fail-rename`, '');
    const run = await choose(renaming ? {} : { REINS_FAIL_POINT: point });
    expect([ruleStands(name), made(), asks().map((ask) => ask['state'])]).toEqual([stands, false, [state]]);
    // Never a part of a file.
    const left = readdirSync(userLevel('')).filter((file) => /^hitl-policy[^.]*\.json$/.test(file));
    for (const file of left) expect(() => JSON.parse(readFileSync(userLevel(file), 'utf8'))).not.toThrow();
    expectSound(world);
    if (renaming) rmSync(`${userLevel(name)}.fail-rename`);

    let next = await world.run(['state', 'resume', run]);
    if (!stands) {
      expect([next.code, made()]).toEqual([4, false]);
      const open = rows(world, "SELECT id FROM asks WHERE state = 'pending'");
      const answer = ['approvals', 'respond', String(open[0]?.['id']), '--approve'];
      next = await world.run(answer);
      // The copy governs already and says what the built-in policy said: a person looks once more (03 §3.2).
      if (next.stderr.includes('the policy has changed since')) next = await world.run(answer);
    }
    expect(next).toMatchObject({ code: 0, stdout: 'Touched.\n' });
    expect(made()).toBe(true);
    expect(asks()).toEqual([
      state === 'pending' && stands
        ? { state: 'cancelled', by: 'system:superseded' }
        : { state: 'approved', by: 'operator:cli' },
    ]);
    expect(rows(world, "SELECT count(*) AS n FROM audit WHERE type = 'verdict'")).toEqual([{ n: 1 }]);
    // A rule that stands is one that holds: the same call of another run is not asked about.
    rmSync(join(world.workspace, 'one'));
    const again = await world.run([...tester, '--shell', 'go']);
    expect([again.code, made()]).toEqual(stands ? [0, true] : [4, false]);
    expectSound(world);
  });
});
