import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, realpathSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createField, type Field, type FieldSetup } from './field.ts';

/** Attacks of `attack-cases.json` by programs in the place of trusted ones, through the whole program. */

let field: Field | undefined;
afterEach(() => field?.app.close());
const start = async (setup: FieldSetup): Promise<Field> => {
  field = await createField(setup);
  return field;
};

const granting = (trusted: unknown) => ({
  default_action: 'approve',
  rules: [
    { tools: 'local_shell', action: 'allow', when: [{ op: 'command_prefix_allowlist', value: 'go build,tool' }] },
  ],
  ...(trusted === undefined ? {} : { trusted_binaries: trusted }),
});
const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const shell = realpathSync('/bin/sh');
/** A script that leaves a mark of its own. */
function script(path: string, mark: string, first = '#!/bin/sh'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${first}\n: > '${mark}'\n`);
  chmodSync(path, 0o755);
  return path;
}
const pinned = (...paths: readonly string[]) => ({
  hashes: Object.fromEntries([...paths, shell].map((path) => [path, digest(path)])),
});

it('BIN-001: another program of the name, found first, is not started', async () => {
  const on = await start({
    programs: ['go'],
    path: ({ workspace, dir }, programs) => `${workspace}/bin:${dir}/other:${programs}:/usr/bin:/bin`,
  });
  const { dir, workspace } = on.place;
  const go = join(dir, 'programs', 'go');
  const policy = granting(pinned(go));
  expect((await on.shell('go build', { policy })).state).toBe('done');
  expect(on.marks()).toEqual(['go']);
  script(join(dir, 'other', 'go'), join(dir, 'canary'));
  expect(await on.shell('go build', { policy })).toMatchObject({
    action: 'approve',
    state: 'skipped',
    detail: expect.stringContaining(`undeclared: ${dir}/other/go`),
  });
  script(join(workspace, 'bin', 'go'), join(dir, 'canary'));
  expect(await on.shell('go build', { policy })).toMatchObject({ state: 'skipped' });
  expect(await on.shell('go build && go build', { policy })).toMatchObject({ state: 'skipped' });
  expect(on.marks().filter((name) => name === 'canary' || name === 'go')).toEqual(['go']);
});

it('BIN-002: a program that was rewritten with its size and its time is not started', async () => {
  const on = await start({});
  const { dir } = on.place;
  const go = script(join(dir, 'programs', 'go'), join(dir, 'mark_1'));
  const policy = granting(pinned(go));
  expect((await on.shell('go build', { policy })).state).toBe('done');
  const { size, atime, mtime } = statSync(go);
  writeFileSync(go, readFileSync(go, 'utf8').replace('mark_1', 'mark_2'));
  utimesSync(go, atime, mtime);
  expect(statSync(go)).toMatchObject({ size, mtime });
  expect(await on.shell('go build', { policy })).toMatchObject({
    action: 'approve',
    state: 'skipped',
    detail: expect.stringMatching(/^mismatch: /),
  });
  expect(on.marks()).toContain('mark_1');
  expect(on.marks()).not.toContain('mark_2');
});

it('BIN-004: a directory whose name begins like a trusted one is not trusted, nor the way out of one', async () => {
  const on = await start({ path: ({ dir }) => `${dir}/bin-evil:${dir}/bin/../loose:/usr/bin:/bin` });
  const { dir } = on.place;
  mkdirSync(join(dir, 'bin'));
  script(join(dir, 'bin-evil', 'go'), join(dir, 'canary'));
  script(join(dir, 'loose', 'tool'), join(dir, 'canary'));
  const policy = granting({ dirs: [join(dir, 'bin'), '/usr/bin', '/bin', '/usr/lib'] });
  for (const command of ['go build', 'tool', `${dir}/bin/../loose/tool`, `${dir}/bin-evil/go build`]) {
    expect([command, (await on.shell(command, { policy })).state]).toEqual([command, 'skipped']);
  }
  expect((await on.shell('go build', { policy })).detail).toContain('outside_dirs');
  expect(on.marks().filter((name) => name === 'canary')).toEqual([]);
  script(join(dir, 'bin', 'go'), join(dir, 'mark'));
  const allowed = granting({ dirs: [join(dir, 'bin-evil'), '/usr/bin', '/bin'] });
  expect((await on.shell('go build', { policy: allowed })).state).toBe('done');
});

it('BIN-005: a program in a directory that others may write is not started', async () => {
  const on = await start({ path: ({ dir }) => `${dir}/open:/usr/bin:/bin` });
  const { dir } = on.place;
  const go = script(join(dir, 'open', 'go'), join(dir, 'canary'));
  chmodSync(join(dir, 'open'), 0o777);
  const open = { ...pinned(go), dirs: [join(dir, 'open'), '/usr/bin', '/bin'] };
  expect(await on.shell('go build', { policy: granting(open) })).toMatchObject({
    state: 'skipped',
    detail: expect.stringContaining('unsafe_permissions'),
  });
  chmodSync(join(dir, 'open'), 0o755);
  chmodSync(go, 0o777);
  expect((await on.shell('go build', { policy: granting(open) })).state).toBe('skipped');
  chmodSync(go, 0o755);
  expect((await on.shell('go build', { policy: granting(open) })).state).toBe('done');
});

it('BIN-006: a pinned script does not bring an interpreter along that is not pinned', async () => {
  const on = await start({ path: (_place, programs) => `${programs}:/usr/bin:/bin` });
  const { dir } = on.place;
  const node = script(join(dir, 'programs', 'node'), join(dir, 'canary'));
  const tool = script(join(dir, 'programs', 'tool'), join(dir, 'mark'), '#!/usr/bin/env node');
  const env = realpathSync('/usr/bin/env');
  const outcome = await on.shell('tool', { policy: granting(pinned(tool, env)) });
  expect(outcome).toMatchObject({ action: 'approve', state: 'skipped', detail: expect.stringContaining(tool) });
  expect(outcome.detail).toContain(node);
  for (const first of ['#!/usr/bin/env -S node', '#! ./node', `#!${node}`, '#!/usr/bin/env A=b node']) {
    script(tool, join(dir, 'mark'), first);
    expect([first, (await on.shell('tool', { policy: granting(pinned(tool, env)) })).state]).toEqual([
      first,
      'skipped',
    ]);
  }
  expect(on.marks().filter((name) => name === 'canary' || name === 'mark')).toEqual([]);
  script(tool, join(dir, 'mark'), '#!/usr/bin/env node');
  expect((await on.shell('tool', { policy: granting(pinned(tool, env, node)) })).state).toBe('done');
});

it('BIN-008: a block that cannot be right makes every call ask; digests may be in upper case', async () => {
  const on = await start({ programs: ['go'] });
  const go = join(on.place.dir, 'programs', 'go');
  const { hashes } = pinned(go);
  const upper = Object.fromEntries(Object.entries(hashes).map(([path, hash]) => [path, hash.toUpperCase()]));
  for (const trusted of [
    { hashes: { ...hashes, [go]: digest(go).slice(1) } },
    { hashes, more: [] },
    { hashes: { ...hashes, go: digest(go) } },
    { dirs: ['~/bin'], hashes },
  ]) {
    expect(await on.shell('go build', { policy: granting(trusted) })).toMatchObject({
      action: 'approve',
      state: 'skipped',
    });
  }
  expect(on.marks()).toEqual([]);
  expect((await on.shell('go build', { policy: granting({ hashes: upper }) })).state).toBe('done');
});

it.each([':', 'bin:', '.:', './bin:', 'bin::'])(
  'BIN-009: an element of PATH that moves with the directory finds nothing: %s',
  async (early) => {
    const on = await start({ programs: ['go'], path: (_place, programs) => `${early}${programs}:/usr/bin:/bin` });
    const { dir, workspace } = on.place;
    for (const place of [workspace, join(workspace, 'bin')]) script(join(place, 'go'), join(dir, 'canary'));
    for (const command of ['go build', 'go build && go build', './go build', 'bin/go build', `${workspace}/go build`]) {
      await on.shell(command, { policy: granting(undefined) });
      await on.shell(command, { policy: granting(pinned(join(dir, 'programs', 'go'))) });
    }
    // Also where no list grants it: what a plain rule allows is found in the same way.
    await on.shell('go build', { policy: { default_action: 'allow', rules: [] } });
    await on.shell('cd bin && go build', { policy: { default_action: 'allow', rules: [] } });
    expect(on.marks()).not.toContain('canary');
  },
);
