import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedPolicy } from '../../src/schema/policy.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { createPolicies, type PolicyWanted } from '../../src/workspace/policies.ts';
import { presetText } from '../../src/workspace/presets/policies.ts';
import { createTrust } from '../../src/workspace/trust.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let dataDir: string;
beforeEach(() => {
  temp = tempHome();
  dataDir = join(temp.workspace, '.reins');
  mkdirSync(dataDir, { mode: 0o700 });
});
afterEach(() => temp.remove());

const uid = process.getuid?.() ?? 0;
const trust = () => createTrust({ home: temp.home, uid, now: () => 0 });
const open = (wanted: Partial<PolicyWanted> = {}, configured: string | null = null) =>
  createPolicies({
    workspace: { dataDir, home: temp.home, root: temp.workspace, cwd: temp.workspace },
    uid,
    trust: trust(),
    configured: () => configured,
  }).openPolicy({ name: null, trust: [], ...wanted });

const allowAll = '{"default_action":"allow"}';
const denyAll = '{"default_action":"deny","compute":{"maxTurns":7}}';
const put = (directory: string, name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
/** Puts a document into the project and trusts it. */
const putTrusted = async (name: string, text: string): Promise<string> => {
  const path = put(dataDir, name, text);
  await trust().add([{ kind: 'policy', root: temp.workspace, path, sha256: sha256Of(text) }], 'command');
  return path;
};
const brief = ({ identity, policy, findings }: LoadedPolicy) => [
  identity.name,
  identity.source,
  identity.state,
  policy.default_action,
  findings.map(({ code }) => code),
];

describe('which policy governs', () => {
  it('is the built-in default when nothing is named and nothing is there', async () => {
    const { refresh, warnings } = await open();
    const text = presetText('default');
    expect((await refresh()).identity).toEqual({
      name: 'default',
      source: 'builtin',
      path: null,
      sha256: sha256Of(text),
      state: 'ok',
    });
    expect((await refresh()).text).toBe(text);
    expect(warnings).toEqual([]);
  });

  it('is the project document first, then the user document, then the preset', async () => {
    const users = put(temp.home, 'hitl-policy.json', denyAll);
    expect((await (await open()).refresh()).identity).toEqual({
      name: 'default',
      source: 'user',
      path: users,
      sha256: sha256Of(denyAll),
      state: 'ok',
    });
    const path = await putTrusted('hitl-policy.json', allowAll);
    const governing = await (await open()).refresh();
    expect(governing.identity).toEqual({
      name: 'default',
      source: 'project',
      path,
      sha256: sha256Of(allowAll),
      state: 'ok',
    });
    expect(governing.text).toBe(allowAll);
    expect(governing.policy.default_action).toBe('allow');
  });

  it('is found by a name from the flag, else by the configured one', async () => {
    put(temp.home, 'hitl-policy-work.json', denyAll);
    put(temp.home, 'hitl-policy.json', allowAll);
    expect(brief(await (await open({ name: 'work' })).refresh())).toEqual(['work', 'user', 'ok', 'deny', []]);
    expect(brief(await (await open({}, 'work')).refresh())).toEqual(['work', 'user', 'ok', 'deny', []]);
    expect(brief(await (await open({ name: 'open' }, 'work')).refresh())).toEqual([
      'open',
      'builtin',
      'ok',
      'allow',
      [],
    ]);
  });

  it('is the file that the operator typed, without trust, also below the data directory', async () => {
    const path = put(dataDir, 'hitl-policy-x.json', denyAll);
    const governing = await (await open({ name: '.reins/hitl-policy-x.json' })).refresh();
    expect(governing.identity).toEqual({ name: 'x', source: 'file', path, sha256: sha256Of(denyAll), state: 'ok' });
    put(temp.workspace, 'mine.json', allowAll);
    expect(brief(await (await open({ name: 'mine.json' })).refresh())).toEqual(['mine', 'file', 'ok', 'allow', []]);
  });

  it('is refused when it is found nowhere, with the names that are there', async () => {
    put(temp.home, 'hitl-policy-work.json', denyAll);
    for (const asked of [open({ name: 'nosuch' }), open({}, 'nosuch')]) {
      await expect(asked).rejects.toMatchObject({
        code: 'policy_not_found',
        message: 'no policy named "nosuch"; available: ask-always, auto-edit, default, open, read-only, strict, work',
      });
    }
    await expect(open({ name: './none.json' })).rejects.toMatchObject({ code: 'policy_not_found' });
  });

  it.each(['Work', 'a b', '-x', 'x'.repeat(65), ''])('does not take %j for a name', async (name) => {
    await expect(open({ name })).rejects.toMatchObject({ code: 'usage' });
  });

  it('does not take a path from the configuration', async () => {
    put(temp.workspace, 'mine.json', allowAll);
    await expect(open({}, './mine.json')).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a policy of the project', () => {
  it('is refused until its content is trusted, and again after an edit', async () => {
    const path = put(dataDir, 'hitl-policy.json', allowAll);
    const sha256 = sha256Of(allowAll);
    await expect(open()).rejects.toMatchObject({
      code: 'not_trusted',
      data: { kind: 'policy', path, sha256, bytes: allowAll.length },
      hints: [`reins trust add ${path} --sha256 ${sha256}`, `reins run --trust ${sha256} <text>`],
    });
    expect(brief(await (await open({ trust: [sha256] })).refresh())).toEqual(['default', 'project', 'ok', 'allow', []]);
    await putTrusted('hitl-policy.json', allowAll);
    await open();
    writeFileSync(path, `${allowAll}\n`);
    await expect(open()).rejects.toMatchObject({ code: 'not_trusted' });
  });

  it('is passed over for one run when the operator says so', async () => {
    put(dataDir, 'hitl-policy.json', allowAll);
    put(temp.home, 'hitl-policy.json', denyAll);
    expect(brief(await (await open({ skipProject: true })).refresh())).toEqual(['default', 'user', 'ok', 'deny', []]);
  });

  it('says what is wrong with the list of trust itself', async () => {
    put(dataDir, 'hitl-policy.json', allowAll);
    put(temp.home, 'trust.json', '[]');
    chmodSync(join(temp.home, 'trust.json'), 0o644);
    await expect(open()).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

describe('a policy that cannot be used', () => {
  it('makes everything ask under the bounds of strict, and never falls through to the next layer', async () => {
    put(temp.home, 'hitl-policy.json', allowAll);
    const path = await putTrusted('hitl-policy.json', '{"default_action":"alow"}');
    const { refresh, warnings } = await open();
    expect(brief(await refresh())).toEqual(['default', 'project', 'invalid', 'approve', ['bad_action']]);
    expect((await refresh()).identity.sha256).toBeNull();
    expect((await refresh()).policy).toMatchObject({
      rules: [],
      trusted_binaries: null,
      compute: { maxTurns: 100, maxToolCalls: 150, maxTokens: 1_000_000, onExhausted: 'fail' },
      attention: { allowAgentAnswers: false, allowAgentApprovals: false },
    });
    expect(warnings.map((line) => line.replace(/:.* \[/, ': … ['))).toEqual([
      `policy ${path}: … [bad_action]`,
      `this policy is not used: every tool call will ask until it is fixed (reins policy vet ${path})`,
    ]);
  });

  it.each([
    [
      'unsafe_permissions',
      (path: string) => chmodSync(put(temp.home, 'x', allowAll), 0o666) ?? renameSync(join(temp.home, 'x'), path),
    ],
    ['unreadable', (path: string) => mkdirSync(path)],
    ['too_large', (path: string) => writeFileSync(path, ' '.repeat(2 * 1024 * 1024))],
    ['not_json', (path: string) => writeFileSync(path, '')],
    ['unreadable', (path: string) => symlinkSync('/dev/zero', path)],
  ])('because its file is %s', async (code, plant) => {
    plant(join(temp.home, 'hitl-policy.json'));
    expect(brief(await (await open()).refresh())).toEqual(['default', 'user', 'invalid', 'approve', [code]]);
  });

  it('because it is a link in a project, whatever it points to', async () => {
    symlinkSync(put(temp.home, 'real.json', allowAll), join(dataDir, 'hitl-policy.json'));
    expect(brief(await (await open({ trust: [sha256Of(allowAll)] })).refresh())).toEqual([
      'default',
      'project',
      'invalid',
      'approve',
      ['unsafe_permissions'],
    ]);
  });

  it('is used with a warning when only its group may write it', async () => {
    const path = put(temp.home, 'hitl-policy.json', denyAll);
    chmodSync(path, 0o664);
    const { refresh, warnings } = await open();
    expect(brief(await refresh())).toEqual(['default', 'user', 'ok', 'deny', ['group_writable']]);
    expect(warnings).toEqual([`The file ${path} can be written by its group.`]);
  });
});

describe('a policy whose file changes while a run is active', () => {
  it('is the same object while nothing changes', async () => {
    put(temp.home, 'hitl-policy.json', denyAll);
    const governing = await open();
    const first = governing.current();
    expect(await governing.refresh()).toBe(first);
    const preset = await open({ name: 'strict' });
    expect(await preset.refresh()).toBe(preset.current());
  });

  it('is the new content from the next look on', async () => {
    const path = put(temp.home, 'hitl-policy.json', denyAll);
    const { refresh, current } = await open();
    writeFileSync(path, allowAll);
    expect(brief(current())).toEqual(['default', 'user', 'ok', 'deny', []]);
    expect(brief(await refresh())).toEqual(['default', 'user', 'ok', 'allow', []]);
    expect(brief(current())).toEqual(['default', 'user', 'ok', 'allow', []]);
  });

  it('keeps the bounds of the last good document while it is broken', async () => {
    const path = put(temp.home, 'hitl-policy.json', denyAll);
    const { refresh } = await open();
    writeFileSync(path, '{');
    const broken = await refresh();
    expect(brief(broken)).toEqual(['default', 'user', 'invalid', 'approve', ['not_json']]);
    expect(broken.policy.compute.maxTurns).toBe(7);
    writeFileSync(path, allowAll);
    expect(brief(await refresh())).toEqual(['default', 'user', 'ok', 'allow', []]);
  });

  it('fails closed when it is removed, instead of falling to a weaker layer', async () => {
    put(temp.home, 'hitl-policy.json', allowAll);
    const path = await putTrusted('hitl-policy.json', denyAll);
    const { refresh } = await open();
    rmSync(path);
    const gone = await refresh();
    expect(brief(gone)).toEqual(['default', 'project', 'invalid', 'approve', ['unreadable']]);
    expect(gone.policy.compute.maxTurns).toBe(7);
  });

  it('is what came to be in a stronger layer', async () => {
    const { refresh } = await open();
    put(temp.home, 'hitl-policy.json', denyAll);
    expect(brief(await refresh())).toEqual(['default', 'user', 'ok', 'deny', []]);
    await putTrusted('hitl-policy.json', allowAll);
    expect(brief(await refresh())).toEqual(['default', 'project', 'ok', 'allow', []]);
  });

  it('is untrusted again after an edit in the project, until it is trusted', async () => {
    const path = await putTrusted('hitl-policy.json', denyAll);
    const { refresh } = await open();
    writeFileSync(path, allowAll);
    expect(brief(await refresh())).toEqual(['default', 'project', 'invalid', 'approve', ['not_trusted']]);
    await trust().add([{ kind: 'policy', root: temp.workspace, path, sha256: sha256Of(allowAll) }], 'command');
    expect(brief(await refresh())).toEqual(['default', 'project', 'ok', 'allow', []]);
  });

  it('fails closed when its permissions are loosened', async () => {
    const path = put(temp.home, 'hitl-policy.json', denyAll);
    const { refresh } = await open();
    chmodSync(path, 0o666);
    expect(brief(await refresh())).toEqual(['default', 'user', 'invalid', 'approve', ['unsafe_permissions']]);
  });
});
