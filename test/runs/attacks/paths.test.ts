import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { allowAll } from '../../support/scripted-app.ts';
import { type Attempt, createField, type Field, type FieldSetup } from './field.ts';

/** Attacks of `attack-cases.json` by paths; those by names alone stand in path-attacks.test.ts. */

let field: Field | undefined;
afterEach(() => field?.app.close());

const secret = 'the-canary-sings';
const fs = (tool: string, args: object, policy: unknown = allowAll): Attempt => ({
  tool: `local_fs.${tool}`,
  args,
  policy,
});
const start = async (setup: FieldSetup): Promise<Field> => {
  field = await createField(setup);
  return field;
};

it('PATH-004: the other name of a file outside is not edited', async () => {
  const on = await start({
    files: { 'private/doc': secret, 'ws/own': secret },
    prepare: ({ dir, workspace }) => linkSync(join(dir, 'private', 'doc'), join(workspace, 'doc')),
  });
  const edit = { old_text: 'canary', new_text: 'crow' };
  const tries = [
    fs('edit_file', { path: 'doc', ...edit }),
    fs('sed', { path: 'doc', pattern: 'canary', replacement: 'crow' }),
    fs('write_file', { path: 'doc', content: 'crow' }),
  ];
  for (const one of tries) {
    const [, outcome] = await on.inOneRun(fs('read_file', { path: 'doc' }), one);
    expect([one.tool, outcome?.state]).toEqual([one.tool, 'skipped']);
  }
  await on.shell('sed -i s/canary/crow/ doc', { policy: allowAll });
  await on.shell('echo crow > doc', { policy: allowAll });
  expect(readFileSync(join(on.place.dir, 'private', 'doc'), 'utf8')).toBe(secret);
});

it('PATH-005: a refused file is refused in every spelling', async () => {
  const policy = {
    default_action: 'allow',
    rules: [{ tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: '**/.env' }] }],
  };
  const on = await start({ files: { 'ws/.env': secret, 'ws/a/x': '' } });
  const paths = [
    './a/../.env',
    '.env',
    './/.env',
    'a/./../.env',
    '.env/',
    '.env/.',
    '.ENV',
    '.env.',
    '.env::$DATA',
    '.env ',
  ];
  for (const path of [...paths, join(on.place.workspace, '.env'), 'a/../../ws/.env']) {
    const [outcome] = await on.attempt(fs('read_file', { path }, policy));
    expect([path, outcome?.state === 'done', outcome?.row.includes(secret)]).toEqual([path, false, false]);
  }
  const [control] = await on.attempt(fs('read_file', { path: '.env' }));
  expect(control?.row).toContain(secret);
});

it('PATH-008: what was approved is neither written, read nor started through a link that came meanwhile', async () => {
  const on = await start({ files: { 'ws/a/b': 'old', 'private/b': secret } });
  const asking = { rules: [{ action: 'approve' }], default_action: 'allow' };
  const { dir, workspace } = on.place;
  for (const one of [
    fs('write_file', { path: 'a/new', content: 'crow' }, asking),
    fs('read_file', { path: 'a/b' }, asking),
    { tool: 'local_shell.local_shell', args: { command: 'touch new', cwd: 'a' }, policy: asking },
  ]) {
    const [outcome] = await on.approved(() => {
      renameSync(join(workspace, 'a'), join(workspace, 'aside'));
      symlinkSync(join(dir, 'private'), join(workspace, 'a'));
    }, one);
    expect([one.tool, outcome?.state, outcome?.row.includes(secret)]).toEqual([one.tool, 'skipped', false]);
    expect([readdirSync(join(dir, 'private')), readdirSync(join(workspace, 'aside'))]).toEqual([['b'], ['b']]);
    rmSync(join(workspace, 'a'));
    renameSync(join(workspace, 'aside'), join(workspace, 'a'));
  }
  const [control] = await on.approved(() => {}, fs('read_file', { path: 'a/b' }, asking));
  expect(control?.state).toBe('done');
});

it('a link that is turned without end never has one file judged and another one read or written', async () => {
  const on = await start({ files: { 'ws/open/f': 'plain', 'ws/shut/f': secret } });
  const { workspace } = on.place;
  symlinkSync('open', join(workspace, 'way'));
  const deny = { tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'path_within', value: 'shut' }] };
  const policy = { default_action: 'allow', rules: [deny] };
  const turning = spawn(process.execPath, ['-e', turnWithoutEnd], {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await once(turning.stdout, 'data');
    // Each in its own spelling: a call that is made again and again is refused for that.
    const tries = Array.from({ length: 40 }, (_, index) => `${'./'.repeat(index)}way/`);
    const outcomes = await on.inOneRun(
      ...tries.map((way) => fs('read_file', { path: `${way}f` }, policy)),
      ...tries.map((way, index) => fs('write_file', { path: `${way}new-${index}`, content: 'crow' }, policy)),
    );
    expect(outcomes.filter(({ row }) => row.includes(secret))).toEqual([]);
    expect(readdirSync(join(workspace, 'shut'))).toEqual(['f']);
  } finally {
    turning.kill('SIGKILL');
    await once(turning, 'exit');
  }
});

/** What another process could do at any time. */
const turnWithoutEnd = `
  const fs = require('node:fs');
  for (let turns = 0; ; turns += 1) {
    for (const target of ['shut', 'open']) {
      fs.symlinkSync(target, 'next');
      fs.renameSync('next', 'way');
    }
    if (turns === 10) fs.writeSync(1, 'turning');
  }`;

it('PATH-009: devices, pipes and endless files neither hang nor tell', async () => {
  const on = await start({
    environment: { OPENAI_API_KEY: secret },
    prepare: ({ workspace }) => {
      execFileSync('mkfifo', [join(workspace, 'pipe')]);
      symlinkSync('/dev/zero', join(workspace, 'zero'));
      symlinkSync('/proc/self/environ', join(workspace, 'environ'));
      writeFileSync(join(workspace, 'huge'), '');
      truncateSync(join(workspace, 'huge'), 8 * 2 ** 30);
    },
  });
  for (const path of [
    'pipe',
    'zero',
    'environ',
    'huge',
    '/dev/zero',
    '/proc/self/environ',
    `/proc/${process.pid}/environ`,
  ]) {
    for (const [tool, args] of [
      ['read_file', { path }],
      ['read_file_range', { path, start_line: 1, end_line: 2 }],
      ['grep', { path, pattern: 'canary' }],
    ] as const) {
      const [outcome] = await on.attempt(fs(tool, args));
      expect([path, tool, outcome?.row.includes(secret), (outcome?.row.length ?? 0) < 2_000_000]).toEqual([
        path,
        tool,
        false,
        true,
      ]);
      // A range of a file that is one endless line is cut; all else is refused.
      if (path !== 'huge') expect([path, tool, outcome?.state === 'done']).toEqual([path, tool, false]);
    }
  }
});

it('PATH-010: the control plane is denied without an ask, whatever the policy, by every tool', async () => {
  const on = await start({ files: { 'ws/src/a': 'x' } });
  const { home, workspace } = on.place;
  mkdirSync(join(workspace, '.reins'));
  symlinkSync('.reins', join(workspace, 'plain'));
  symlinkSync(join(home, '.reins'), join(workspace, 'user'));
  const inProject = ['hitl-policy.json', 'local.db', 'default-chain.json', 'default-run-chain.json', 'new'].flatMap(
    (name) => [
      `.reins/${name}`,
      `src/../.reins/${name}`,
      `./.reins//${name}`,
      join(workspace, '.reins', name),
      `plain/${name}`,
    ],
  );
  const inHome = ['trust.json', 'hitl-policy.json', 'machine.key'].flatMap((name) => [
    `~/.reins/${name}`,
    join(home, '.reins', name),
    `user/${name}`,
  ]);
  const paths = [...inProject, ...inHome];
  const outcomes = await on.attempt(
    ...paths.map((path) => fs('write_file', { path, content: 'x' })),
    ...paths.map((path) => ({
      tool: 'local_shell.local_shell',
      args: { command: `echo x > ${path}` },
      policy: allowAll,
    })),
    ...paths.map((path) => ({ tool: 'local_shell.local_shell', args: { command: `touch ${path}` }, policy: allowAll })),
  );
  // What `touch` does with its words is not known here: it asks.
  const passed = outcomes.flatMap((outcome, index) =>
    outcome.reason === 'control_plane' || (index >= 2 * paths.length && outcome.state === 'skipped')
      ? []
      : [`${paths[index % paths.length]} ${outcome.action}`],
  );
  expect(passed).toEqual([]);
  expect(readdirSync(join(workspace, '.reins'))).toEqual([]);
  for (const name of ['trust.json', 'hitl-policy.json']) expect(existsSync(join(home, '.reins', name))).toBe(false);
  expect(readFileSync(join(home, '.reins', 'machine.key'))).toHaveLength(32);
});

it('SH-017 and SH-024: neither a start-up file nor the policy is written by a redirection', async () => {
  const on = await start({ files: { 'ws/src/a': 'x' } });
  const { home, workspace } = on.place;
  mkdirSync(join(workspace, '.reins'));
  for (const command of [
    'echo evil > ~/.bashrc',
    'echo evil >> $HOME/.bashrc',
    `echo evil | tee ${home}/.bashrc`,
    'cd ~ && echo evil > .bashrc',
    'cd .reins && echo x > hitl-policy.json',
    'cd src; cd ../.reins; echo x >> hitl-policy.json',
    'pushd .reins; echo x > hitl-policy.json',
    '(cd .reins; echo x > hitl-policy.json)',
    'cd "$(echo .reins)" && echo x > hitl-policy.json',
    'D=.reins; cd $D && echo x > hitl-policy.json',
    'mkdir -p .reins && cp src/a .reins/hitl-policy.json',
    'ln -s ../src/a .reins/hitl-policy.json',
    'mv src/a .reins/hitl-policy.json',
    'rmdir .reins',
    'mv .reins other',
  ]) {
    const { state } = await on.shell(command, { policy: allowAll });
    expect([command, state]).toEqual([command, 'skipped']);
  }
  expect(existsSync(join(home, '.bashrc'))).toBe(false);
  expect(readdirSync(join(workspace, '.reins'))).toEqual([]);
});
