import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPolicyHosts } from '../../src/gate/facts.ts';
import { programFiles } from '../../src/policy/trusted.ts';
import { processOwner } from '../../src/store/owner.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { createPolicies } from '../../src/workspace/policies.ts';
import { createTrust } from '../../src/workspace/trust.ts';
import { createTrustedPrograms } from '../../src/workspace/trusted-programs.ts';
import { realBinaries } from '../support/binaries.ts';
import { machineBelow } from '../support/machine.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let recorded: unknown[];
let trusted: unknown[];
beforeEach(() => {
  temp = tempHome();
  recorded = [];
  trusted = [];
});
afterEach(() => temp.remove());

const at = (...names: readonly string[]): string => join(realpathSync(temp.dir), ...names);
const put = (path: string, content: string, mode = 0o755): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
};
const tool = (name: string, content = `#!${at('lib', 'interp')}\n${name}`): string => put(at('bin', name), content);
const document = (): string => join(temp.home, 'hitl-policy.json');
const shell = realpathSync('/bin/sh');

function programs(more: { readonly now?: () => number; readonly dataDir?: string } = {}) {
  const { now = Date.now, dataDir = null } = more;
  const uid = process.getuid?.() ?? null;
  const trust = createTrust({ home: temp.home, uid, now });
  const workspace = { dataDir, home: temp.home, root: temp.workspace, cwd: temp.workspace };
  const binaries = realBinaries();
  return createTrustedPrograms({
    workspace,
    uid,
    policies: createPolicies({ workspace, uid, trust, configured: () => null }),
    files: (name) =>
      programFiles(
        name,
        createPolicyHosts(
          { ...machineBelow(temp.dir, at('bin')), workspace: temp.workspace },
          binaries,
        )(temp.workspace),
      ),
    read: binaries.read,
    trustContent: async (input) => trusted.push(input),
    recorded(entry, write) {
      write();
      recorded.push(entry);
    },
    shown: (path) => path.replace(temp.home, '~/.reins'),
    now,
  });
}
const act = (action: 'declare' | 'refresh' | 'remove', ...names: readonly string[]) =>
  programs().trustPrograms({ policy: null, action, names });
const brief = async (change: ReturnType<typeof act>) => {
  const { programs: outcomes, dirs_added, failed } = await change;
  return [
    ...outcomes.map(({ state, path }) => `${state} ${path}`),
    ...dirs_added.map((path) => `dir ${path}`),
    ...failed.map(({ name, code }) => `${code} ${name}`),
  ];
};
const hashes = (): unknown => JSON.parse(readFileSync(document(), 'utf8')).trusted_binaries.hashes;

describe('declaring a program', () => {
  it('writes its real path and digest, and changes no other byte of the document', async () => {
    const one = tool('one', '\x7fELF one');
    symlinkSync(one, at('bin', 'alias'));
    const text = '\ufeff{ "//": "é mine",\n\t"default_action" :"approve",\n\t"rules": []}\n\n';
    put(document(), text, 0o640);
    expect(await programs().trustPrograms({ policy: null, action: 'declare', names: ['alias'] })).toEqual({
      policy: { name: 'default', source: 'user', path: document() },
      programs: [{ name: 'alias', path: one, state: 'declared', sha256: sha256Of('\x7fELF one'), previous: null }],
      dirs_added: [],
      failed: [],
      pins: { before: false, after: true },
    });
    const block = `{\n\t\t"hashes": {\n\t\t\t"${one}": "${sha256Of('\x7fELF one')}"\n\t\t}\n\t}`;
    expect(readFileSync(document(), 'utf8')).toBe(
      `\ufeff{ "//": "é mine",\n\t"default_action" :"approve",\n\t"rules": [],\n\t"trusted_binaries": ${block}}\n\n`,
    );
    expect(statSync(document()).mode & 0o777).toBe(0o640);
    const after = sha256Of(readFileSync(document()));
    expect(recorded).toMatchObject([{ path: document(), before: sha256Of(text), after, dirs_added: [] }]);
  });

  it('says when it was declared already, with another digest or with this one', async () => {
    const one = tool('one', '\x7fELF one');
    put(document(), '{}', 0o600);
    expect(await brief(act('declare', 'one'))).toEqual([`declared ${one}`]);
    expect(await brief(act('declare', one))).toEqual([`unchanged ${one}`]);
    tool('one', '\x7fELF two');
    const { programs: outcomes } = await act('declare', 'one');
    expect(outcomes).toMatchObject([
      { state: 're-declared', previous: sha256Of('\x7fELF one'), sha256: sha256Of('\x7fELF two') },
    ]);
    expect(hashes()).toEqual({ [one]: sha256Of('\x7fELF two') });
    expect(recorded).toHaveLength(2);
  });

  it('declares the interpreters of a script with it, or none of them', async () => {
    const interp = put(at('lib', 'interp'), '#!/bin/sh\n');
    const one = tool('one');
    put(document(), '{}', 0o600);
    expect(await brief(act('declare', 'one'))).toEqual([`declared ${one}`, `declared ${interp}`, `declared ${shell}`]);
    put(document(), '{}', 0o600);
    rmSync(interp);
    expect(await brief(act('declare', 'one'))).toEqual(['interpreter one']);
    expect(readFileSync(document(), 'utf8')).toBe('{}');
  });

  it('continues a list of directories and never starts one, and keeps annotations', async () => {
    const one = tool('one', '\x7fELF');
    put(document(), `{"trusted_binaries":{"//":"why","dirs":["/usr/bin"]}}`, 0o600);
    expect(await brief(act('declare', 'one'))).toEqual([`declared ${one}`, `dir ${at('bin')}`]);
    expect(JSON.parse(readFileSync(document(), 'utf8'))).toEqual({
      trusted_binaries: { '//': 'why', dirs: ['/usr/bin', at('bin')], hashes: { [one]: sha256Of('\x7fELF') } },
    });
    expect(await brief(act('declare', 'one'))).toEqual([`unchanged ${one}`]);
    put(document(), `{"trusted_binaries":{"dirs":[]}}`, 0o600);
    expect(await brief(act('declare', 'one'))).toEqual([`declared ${one}`]);
  });

  it('reports what cannot be granted anyway, and declares the rest', async () => {
    const one = tool('one', '\x7fELF');
    put(join(temp.workspace, 'own'), '\x7fELF');
    put(at('bin', 'loose'), '\x7fELF', 0o757);
    put(document(), '{}', 0o600);
    const names = ['nosuch', './own', join(temp.workspace, 'own'), 'loose', 'one'];
    expect(await brief(act('declare', ...names))).toEqual([
      `declared ${one}`,
      'unresolved nosuch',
      'relative ./own',
      `unsafe_permissions ${join(temp.workspace, 'own')}`,
      'unsafe_permissions loose',
    ]);
  });
});

describe('reading again, and taking back', () => {
  it('declares what changed anew, and leaves what is gone', async () => {
    const [one, two] = [tool('one', '\x7fELF 1'), tool('two', '\x7fELF 2')];
    put(document(), '{}', 0o600);
    await act('declare', 'one', 'two');
    tool('one', '\x7fELF 3');
    expect(await brief(act('refresh'))).toEqual([`re-declared ${one}`, `unchanged ${two}`]);
    rmSync(two);
    tool('three', '\x7fELF');
    expect(await brief(act('refresh', two, 'three', 'one'))).toEqual([
      `unchanged ${one}`,
      `missing ${two}`,
      'undeclared three',
    ]);
    expect(Object.keys(hashes() as object)).toEqual([one, two]);
  });

  it('removes by name or by path, also what is gone', async () => {
    const [one, two] = [tool('one', '\x7fELF 1'), tool('two', '\x7fELF 2')];
    put(document(), '{}', 0o600);
    await act('declare', 'one', 'two');
    rmSync(two);
    expect(await brief(act('remove', 'one', two, 'other'))).toEqual([
      `removed ${one}`,
      `removed ${two}`,
      'undeclared other',
    ]);
    expect(hashes()).toEqual({});
  });
});

describe('the document that is changed', () => {
  it('is never a built-in one, and the refusal says how to copy it', async () => {
    await expect(act('declare', 'sh')).rejects.toMatchObject({
      code: 'not_allowed',
      hints: ['reins policy show default > ~/.reins/hitl-policy.json'],
    });
    const strict = programs().trustPrograms({ policy: 'strict', action: 'declare', names: ['sh'] });
    await expect(strict).rejects.toMatchObject({
      hints: ['reins policy show strict > ~/.reins/hitl-policy-strict.json'],
    });
  });

  it('stays as it is when it is invalid, or would be', async () => {
    tool('one', '\x7fELF');
    put(document(), '{"rulez":[]}', 0o600);
    await expect(act('declare', 'one')).rejects.toMatchObject({ code: 'invalid_policy' });
    await expect(programs().listPrograms({ policy: null })).rejects.toMatchObject({ code: 'invalid_policy' });
    const full = Object.fromEntries(Array.from({ length: 8192 }, (_, index) => [`/x/${index}`, '0'.repeat(64)]));
    const text = JSON.stringify({ trusted_binaries: { hashes: full } });
    put(document(), text, 0o600);
    await expect(act('declare', 'one')).rejects.toMatchObject({
      code: 'invalid_policy',
      message: expect.stringContaining('too_many'),
    });
    expect(readFileSync(document(), 'utf8')).toBe(text);
    expect(recorded).toEqual([]);
  });

  it('is written through a link of the user, which stays', async () => {
    const one = tool('one', '\x7fELF');
    put(at('dotfiles', 'policy.json'), '{}', 0o600);
    symlinkSync(at('dotfiles', 'policy.json'), document());
    expect(await brief(act('declare', 'one'))).toEqual([`declared ${one}`]);
    expect(readFileSync(at('dotfiles', 'policy.json'), 'utf8')).toContain(one);
    expect(realpathSync(document())).toBe(at('dotfiles', 'policy.json'));
  });

  it('is the one that the operator names, which is left without trust', async () => {
    const one = tool('one', '\x7fELF');
    const path = put(at('mine.json'), '{}', 0o600);
    const change = await programs().trustPrograms({ policy: path, action: 'declare', names: ['one'] });
    expect(change.policy).toEqual({ name: 'mine', source: 'file', path });
    expect(readFileSync(path, 'utf8')).toContain(one);
    expect(trusted).toEqual([]);
  });

  it('is trusted with its new content when it is the project that has it', async () => {
    tool('one', '\x7fELF');
    const dataDir = join(temp.workspace, '.reins');
    const path = put(join(dataDir, 'hitl-policy.json'), '{}', 0o600);
    const uid = process.getuid?.() ?? null;
    const trust = createTrust({ home: temp.home, uid, now: Date.now });
    await trust.add([{ kind: 'policy', root: temp.workspace, path, sha256: sha256Of('{}') }], 'command');
    await programs({ dataDir }).trustPrograms({ policy: null, action: 'declare', names: ['one'] });
    expect(trusted).toEqual([{ path, sha256: sha256Of(readFileSync(path)), by: 'command' }]);
  });

  it('keeps the entries of two who change it at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const paths = names.map((name) => tool(name, `\x7fELF ${name}`));
    put(document(), '{}', 0o600);
    await Promise.all(names.map((name) => act('declare', name)));
    expect(Object.keys(hashes() as object).sort()).toEqual(paths);
  });

  it('is left alone while somebody else holds its lock for more than five seconds', async () => {
    tool('one', '\x7fELF');
    put(document(), '{}', 0o600);
    put(join(temp.home, 'policy.lock'), `${processOwner('other')} 1`, 0o600);
    let clock = Date.now();
    const now = () => {
      clock += 1_000;
      return clock;
    };
    const held = programs({ now }).trustPrograms({ policy: null, action: 'declare', names: ['one'] });
    await expect(held).rejects.toMatchObject({ code: 'in_use' });
    expect(readFileSync(document(), 'utf8')).toBe('{}');
  });

  it('is recorded only if it was written', async () => {
    tool('one', '\x7fELF');
    put(document(), '{}', 0o600);
    await act('declare', 'one');
    expect(readdirSync(temp.home)).toEqual(['hitl-policy.json']);
    expect(await brief(act('declare', 'one'))).toEqual([`unchanged ${at('bin', 'one')}`]);
    expect(recorded).toHaveLength(1);
  });
});

describe('the list', () => {
  it('names what is declared, and what of it does not hold', async () => {
    const [one, two] = [tool('one', '\x7fELF 1'), tool('two', '\x7fELF 2')];
    put(document(), `{"trusted_binaries":{"dirs":["${at('bin')}"]}}`, 0o600);
    await act('declare', 'one', 'two');
    tool('two', '\x7fELF 3');
    expect(await programs().listPrograms({ policy: null })).toEqual({
      policy: { name: 'default', source: 'user', path: document() },
      dirs: [at('bin')],
      programs: [
        { path: one, sha256: sha256Of('\x7fELF 1'), state: 'ok' },
        { path: two, sha256: sha256Of('\x7fELF 2'), state: 'mismatch' },
      ],
    });
    expect(await programs().listPrograms({ policy: 'strict' })).toMatchObject({ dirs: [], programs: [] });
  });
});
