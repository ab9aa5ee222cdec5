import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../world.ts';

let world: World;
let user: string;
beforeEach(async () => {
  world = createWorld();
  await world.run(['init']);
  user = join(world.home, '.reins');
});
afterEach(() => world.remove());

const allowing = '{"default_action":"deny","rules":[{"tools":"echo","action":"allow"}]}';
const broken =
  '{"rules":[{"tools":"local_fs","action":"alow"},{"action":"deny","when":[{"op":"glob","value":"["}]}],"x":1}';

/** NAME, SOURCE, STATE, RULES, DEFAULT of each row, the governing one with its mark. */
const rows = async (...flags: readonly string[]) => {
  const { stdout } = await world.run(['policy', 'list', ...flags]);
  return stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) =>
      line
        .trim()
        .split(/\s{2,}/)
        .slice(0, 5)
        .join(' '),
    );
};

describe('policy list', () => {
  test('marks the built-in default where there is no document', async () => {
    expect(await rows()).toEqual([
      '* default builtin ok 72 approve',
      'strict builtin ok 61 deny',
      'read-only builtin ok 60 deny',
      'ask-always builtin ok 46 approve',
      'auto-edit builtin ok 72 approve',
      'open builtin ok 47 allow',
    ]);
  });

  test('says which layer hides which, what is broken and what nobody trusts', async () => {
    world.write('.reins/hitl-policy-mine.json', allowing);
    writeFileSync(join(user, 'hitl-policy-mine.json'), allowing);
    writeFileSync(join(user, 'hitl-policy-strict.json'), broken);
    writeFileSync(join(user, 'hitl-policy.json'), allowing);
    expect((await rows()).slice(0, 6)).toEqual([
      'mine project untrusted - -',
      'mine user shadowed 1 deny',
      'strict user invalid - -',
      '* default user ok 1 deny',
      'default builtin ok 72 approve',
      'strict builtin shadowed 61 deny',
    ]);
    expect((await rows('--policy', 'strict'))[2]).toBe('* strict user invalid - -');
  });

  test('calls nothing shadowed that governs: a document named default does so only by its name', async () => {
    writeFileSync(join(user, 'hitl-policy-default.json'), allowing);
    expect((await rows()).slice(0, 2)).toEqual(['default user ok 1 deny', '* default builtin ok 72 approve']);
    expect((await rows('--policy', 'default')).slice(0, 2)).toEqual([
      '* default user ok 1 deny',
      'default builtin shadowed 72 approve',
    ]);
  });

  test('lists all the same where the configured name is found nowhere', async () => {
    await world.run(['config', 'set', 'hitl-policy-name', 'nosuch']);
    const { code, stdout, stderr } = await world.run(['policy', 'list', '--json']);
    expect([code, stderr]).toEqual([
      0,
      'reins: warning: no policy named "nosuch"; available: ask-always, auto-edit, default, open, read-only, strict\n',
    ]);
    const { schema_version: version, policies } = JSON.parse(stdout);
    expect(version).toBe(1);
    expect(policies.map(({ governs }: { governs: boolean }) => governs)).not.toContain(true);
    expect(Object.keys(policies[0])).toEqual('name source state rules default sha256 path governs'.split(' '));
  });
});

describe('policy show', () => {
  test('prints a document as it is stored, also one that nobody trusts, and says so', async () => {
    const path = world.write('.reins/hitl-policy.json', `${allowing}\n`);
    const { code, stdout, stderr } = await world.run(['policy', 'show']);
    expect([code, stdout, stderr]).toEqual([
      0,
      `${allowing}\n`,
      `not used, it is not trusted: reins trust add ${path}\n`,
    ]);
    expect((await world.run(['policy', 'show', '--path'])).stdout).toBe(`${path}\n`);
  });

  test('prints a preset as a document that loads', async () => {
    const { stdout } = await world.run(['policy', 'show', 'strict']);
    world.write('copy.json', stdout);
    expect((await world.run(['policy', 'vet', 'copy.json'])).stdout).toBe(`ok ${world.workspace}/copy.json\n`);
    expect((await world.run(['policy', 'show', 'strict', '--path'])).stdout).toBe('builtin strict\n');
  });

  test('refuses what is not there, what is no name and what cannot be read', async () => {
    const missing = await world.run(['policy', 'show', 'nosuch']);
    expect([missing.code, missing.stderr]).toEqual([
      3,
      'reins: no policy named "nosuch"; available: ask-always, auto-edit, default, open, read-only, strict\n' +
        '  reins policy list\n',
    ]);
    expect((await world.run(['policy', 'show', 'No!'])).code).toBe(2);
    const directory = await world.run(['policy', 'show', './']);
    expect([directory.code, directory.stderr]).toEqual([
      3,
      `reins: The policy ${world.workspace} cannot be shown: it is a directory.\n  ls -ld ${world.workspace}\n`,
    ]);
    expect(JSON.parse((await world.run(['policy', 'show', 'nosuch', '--json'])).stdout)).toMatchObject({
      error: { code: 'policy_not_found' },
      exit_code: 3,
    });
  });
});

describe('policy vet', () => {
  test('prints every finding of a document at once, with its place and what is accepted', async () => {
    const path = world.write('broken.json', broken);
    const { code, stdout } = await world.run(['policy', 'vet', 'broken.json']);
    expect([code, stdout]).toEqual([
      3,
      [
        `FAIL ${path}`,
        '  error $.x: is not a member here; known are version, default_action, rules, compute, attention, trusted_binaries [unknown_member]',
        '  error $.rules[0].action: is "alow"; write allow, deny or approve [bad_action]',
        '  error $.rules[1].when[0].key: a condition needs the name of an argument [missing_member]',
        '  error $.rules[1].when[0].value: a character class is empty or not closed [bad_operand]',
        '',
      ].join('\n'),
    ]);
  });

  test('checks every file of the overlay without a path, trusted or not', async () => {
    const mine = world.write('.reins/hitl-policy-strict.json', '{"rules":[{"tools":"nosuch","action":"deny"}]}');
    const own = join(user, 'hitl-policy.json');
    writeFileSync(own, allowing);
    const { code, stdout } = await world.run(['policy', 'vet']);
    expect([code, stdout]).toEqual([
      0,
      `warn ${mine}\n` +
        '  warn $.rules[0].tools: nosuch is neither a built-in nor a registered toolset [unknown_tool]\n' +
        '  warn $: hides the preset strict [shadows]\n' +
        `ok ${own}\n`,
    ]);
    const strict = await world.run(['policy', 'vet', '--strict']);
    expect([strict.code, strict.stdout.split('\n')[0]]).toEqual([3, `FAIL ${mine}`]);
  });

  test('says of a link in the data directory what a run makes of it, whichever way it is named', async () => {
    const link = join(world.workspace, '.reins/hitl-policy-mine.json');
    symlinkSync(world.write('elsewhere.json', allowing), link);
    for (const name of ['mine', '.reins/hitl-policy-mine.json', link]) {
      expect(await world.run(['policy', 'vet', name])).toMatchObject({
        code: 3,
        stdout: `FAIL ${link}\n  error $: it is a symbolic link [unsafe_permissions]\n`,
      });
    }
    // A path that the operator types is his consent, and is read where it leads.
    symlinkSync(join(world.workspace, 'elsewhere.json'), join(world.workspace, 'typed.json'));
    expect((await world.run(['policy', 'vet', 'typed.json'])).code).toBe(0);
  });

  test('gives the same as JSON', async () => {
    const { code, stdout } = await world.run(['policy', 'vet', 'open', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schema_version: 1,
      files: [
        {
          path: 'open',
          worst: 'warn',
          findings: [expect.objectContaining({ severity: 'warn', path: '$.default_action', code: 'deny_list_only' })],
        },
      ],
    });
  });

  test('warns of a wait that is longer than the ceiling of the operator', async () => {
    await world.run(['config', 'set', 'approval-ceiling', '1h']);
    world.write('long.json', '{"rules":[{"tools":"echo","action":"approve","timeout_s":7200}]}');
    const { stdout } = await world.run(['policy', 'vet', './long.json']);
    expect(stdout).toContain('[timeout_above_ceiling]');
  });
});

test('a policy is completed by its name', async () => {
  const { stdout } = await world.run(['__complete', 'policy', 'show', 'st']);
  expect(stdout).toBe('strict\n');
  expect((await world.run(['__complete', 'run', '--policy', 'read'])).stdout).toBe('read-only\n');
});
