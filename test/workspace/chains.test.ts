import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChainDeps, createChains } from '../../src/workspace/chains.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
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
const chains = (options: Partial<Pick<ChainDeps, 'configured'>> & { dataDir?: string | null; cwd?: string } = {}) =>
  createChains({
    workspace: {
      dataDir: options.dataDir === undefined ? dataDir : options.dataDir,
      home: temp.home,
      root: temp.workspace,
      cwd: options.cwd ?? temp.workspace,
    },
    uid,
    trust: trust(),
    configured: options.configured ?? (() => null),
  });
const chain = (id: string, handler = 'noop'): string =>
  JSON.stringify({
    id,
    tasks: [{ id: 'only', handler, transition: { branches: [{ operator: 'default', goto: 'end' }] } }],
  });
const put = (directory: string, name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
const trustFile = (path: string, text: string) =>
  trust().add([{ kind: 'chain', root: temp.workspace, path, sha256: sha256Of(text) }], 'command');
const load = (use: 'run' | 'chat', options: Parameters<typeof chains>[0] & { path?: string; trust?: string[] } = {}) =>
  chains(options).loadChain({ use, path: options.path ?? null, trust: options.trust ?? [] });

describe('the chain of a run', () => {
  it('is the project default, once its content is trusted', async () => {
    const text = chain('mine');
    const path = put(dataDir, 'default-run-chain.json', text);
    const sha256 = sha256Of(text);
    await expect(load('run')).rejects.toMatchObject({
      code: 'chain_untrusted',
      data: { kind: 'chain', path, sha256, bytes: text.length },
      hints: [`reins trust add ${path} --sha256 ${sha256}`, `reins run --trust ${sha256} <text>`],
    });
    await trustFile(path, text);
    const loaded = await load('run');
    expect({ ...loaded, text: JSON.parse(loaded.text) }).toEqual({
      id: 'mine',
      path,
      sha256,
      source: text,
      text: JSON.parse(text),
      caution: null,
      allowed_dirs: [],
      max_tokens: null,
      debug: false,
      has_model_task: false,
      begins_with_model: false,
      mayUse: expect.any(Function),
      modelNames: expect.any(Function),
      warnings: [],
    });
    writeFileSync(path, `${text} `);
    await expect(load('run')).rejects.toMatchObject({ code: 'chain_untrusted' });
  });

  it('may be accepted by its hash for one invocation', async () => {
    const text = chain('mine');
    put(dataDir, 'default-run-chain.json', text);
    expect((await load('run', { trust: [sha256Of(text)] })).id).toBe('mine');
    await expect(load('run', { trust: ['0'.repeat(64)] })).rejects.toMatchObject({ code: 'chain_untrusted' });
  });

  it('is never taken from the user-level directory or the built-ins', async () => {
    put(temp.home, 'default-run-chain.json', chain('users'));
    const missing = { code: 'chain_not_found', hints: ['reins init', 'reins run --chain <path>'] };
    await expect(load('run')).rejects.toMatchObject(missing);
    await expect(load('run', { dataDir: null })).rejects.toMatchObject(missing);
  });

  it('is the one that the operator typed, without trust, relative to the working directory', async () => {
    const path = put(temp.workspace, 'own.json', chain('own', 'chat_completion'));
    expect(await load('run', { path: 'own.json' })).toMatchObject({ id: 'own', path, has_model_task: true });
    put(dataDir, 'x.json', chain('x'));
    expect((await load('run', { path: '.reins/x.json' })).id).toBe('x');
    await expect(load('run', { path: 'none.json' })).rejects.toMatchObject({ code: 'chain_not_found' });
  });

  it('is refused with all defects when it is not valid', async () => {
    const path = put(temp.workspace, 'bad.json', '{"tasks":[{"id":"a","handler":"nope"}]}');
    const error = await load('run', { path: 'bad.json' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'chain_invalid', hints: [`reins chain vet ${path}`] });
    const codes = (error as { data: { findings: { code: string }[] } }).data.findings.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(['missing_member', 'unknown_handler']));
  });

  it('is refused when its file may not be believed', async () => {
    const text = chain('mine');
    symlinkSync(put(temp.dir, 'elsewhere.json', text), join(dataDir, 'default-run-chain.json'));
    await expect(load('run', { trust: [sha256Of(text)] })).rejects.toMatchObject({
      code: 'chain_invalid',
      data: { findings: [{ severity: 'error', code: 'unsafe_permissions' }] },
    });
  });
});

describe('the chain of a chat', () => {
  it('is the configured one, looked for in the working directory, then in the data directory', async () => {
    const configured = () => 'talk.json';
    await expect(load('chat', { configured })).rejects.toMatchObject({
      code: 'chain_not_found',
      message: `The chain of config default-chain is missing: ${join(temp.workspace, 'talk.json')} and ${join(dataDir, 'talk.json')}.`,
    });
    const text = chain('in-data-dir');
    const path = put(dataDir, 'talk.json', text);
    await expect(load('chat', { configured })).rejects.toMatchObject({ code: 'chain_untrusted', data: { path } });
    await trustFile(path, text);
    expect((await load('chat', { configured })).id).toBe('in-data-dir');
    put(temp.workspace, 'talk.json', chain('in-cwd'));
    expect((await load('chat', { configured })).id).toBe('in-cwd');
    expect((await load('chat', { configured: () => join(temp.workspace, 'talk.json') })).id).toBe('in-cwd');
  });

  it('needs trust also when the configuration names the data directory in another way', async () => {
    put(dataDir, 'talk.json', chain('planted'));
    symlinkSync(dataDir, join(temp.dir, 'alias'));
    for (const name of ['.reins/talk.json', join(dataDir, 'talk.json'), join(temp.dir, 'alias', 'talk.json')]) {
      await expect(load('chat', { configured: () => name })).rejects.toMatchObject({ code: 'chain_untrusted' });
    }
  });

  it('is no link in the data directory, wherever that leads: nobody has trusted what is there', async () => {
    const text = chain('talk');
    const path = put(dataDir, 'talk.json', text);
    await trustFile(path, text);
    expect((await load('chat', { configured: () => 'talk.json' })).id).toBe('talk');
    rmSync(path);
    symlinkSync(put(temp.workspace, 'planted.json', chain('planted')), path);
    for (const name of ['talk.json', '.reins/talk.json', path]) {
      await expect(load('chat', { configured: () => name })).rejects.toMatchObject({
        code: 'chain_invalid',
        data: { findings: [{ code: 'unsafe_permissions' }] },
      });
    }
  });

  it('is the project default otherwise; the configuration does not count for a run', async () => {
    const text = chain('talk');
    await trustFile(put(dataDir, 'default-chain.json', text), text);
    expect((await load('chat')).id).toBe('talk');
    await expect(load('run', { configured: () => 'default-chain.json' })).rejects.toMatchObject({
      code: 'chain_not_found',
    });
  });
});

describe('listing, showing and vetting', () => {
  it('lists what a name finds with its source and trust, and parses nothing untrusted', async () => {
    const trusted = chain('trusted-id');
    await trustFile(put(dataDir, 'a.json', trusted), trusted);
    put(dataDir, 'b.json', chain('planted-id'));
    put(dataDir, 'hitl-policy.json', '{}');
    put(temp.home, 'a.json', chain('shadowed'));
    put(temp.home, 'c.json', chain('users-id'));
    put(temp.home, 'config.json', '{}');
    const rows = await chains().listChains();
    expect(
      rows.filter(({ source }) => source !== 'builtin').map((row) => [row.name, row.id, row.source, row.trust]),
    ).toEqual([
      ['a', 'trusted-id', 'project', 'trusted'],
      ['b', null, 'project', 'untrusted'],
      ['c', 'users-id', 'user', 'user'],
    ]);
    expect(rows.filter(({ source }) => source === 'builtin').map((row) => [row.name, row.id, row.path])).toEqual([
      ['chain-plan-explorer', 'chain-plan-explorer', null],
      ['chain-planner', 'chain-planner', null],
      ['chain-step-executor', 'chain-step-executor', null],
      ['chain-step-summarizer', 'chain-step-summarizer', null],
      ['default-chain', 'chain-chat', null],
      ['default-run-chain', 'chain-run', null],
    ]);
    expect(rows[0]?.sha256).toBe(sha256Of(trusted));
  });

  it('shows a chain by name or path in canonical form, a shipped one as it ships', async () => {
    put(temp.workspace, 'old.json', '{"id":"old","tasks":[{"id":"t","handler":"noop","transition":{"branches":[]}}]}');
    const { text } = await chains().showChain({ name: './old.json' });
    expect(JSON.parse(text)).toMatchObject({ id: 'old' });
    const shipped = shippedChains['default-chain.json'];
    const shown = { id: 'chain-chat', sha256: sha256Of(shipped), text: shipped };
    expect(await chains().showChain({ name: 'default-chain' })).toEqual(shown);
    // `chain show default-chain > .reins/default-chain.json`: the shell has made the file before the program reads.
    put(join(temp.workspace, '.reins'), 'default-chain.json', '');
    expect(await chains().showChain({ name: 'default-chain' })).toEqual(shown);
    await expect(chains().showChain({ name: 'none' })).rejects.toMatchObject({ code: 'chain_not_found' });
    await expect(chains().showChain({ name: 'hitl-policy' })).rejects.toMatchObject({ code: 'chain_not_found' });
  });

  it('vets given files, and without any every chain of the overlay', async () => {
    const bad = put(dataDir, 'bad.json', '{');
    const good = put(temp.home, 'good.json', chain('good'));
    expect(await chains().vetChains({ paths: ['.reins/bad.json'] })).toMatchObject([
      { path: bad, worst: 'error', findings: [{ code: 'not_json' }] },
    ]);
    mkdirSync(join(dataDir, 'dir.json'));
    // No run follows a link there, so vet does not either, whichever way it is named.
    const link = join(dataDir, 'link.json');
    symlinkSync(good, link);
    for (const name of ['link', '.reins/link.json', link]) {
      expect(await chains().vetChains({ paths: [name] })).toMatchObject([
        { path: link, worst: 'error', findings: [{ code: 'unsafe_permissions', message: 'it is a symbolic link' }] },
      ]);
    }
    rmSync(link);
    const files = await chains().vetChains({ paths: [] });
    expect(files.map(({ path, worst }) => [path, worst])).toEqual([
      [bad, 'error'],
      ['chain-plan-explorer.json', 'ok'],
      ['chain-planner.json', 'ok'],
      ['chain-step-executor.json', 'ok'],
      ['chain-step-summarizer.json', 'ok'],
      ['default-chain.json', 'ok'],
      ['default-run-chain.json', 'ok'],
      [join(dataDir, 'dir.json'), 'error'],
      [good, 'ok'],
    ]);
    await expect(chains().vetChains({ paths: ['none.json'] })).rejects.toMatchObject({ code: 'chain_not_found' });
  });

  it('vets a chain of plans by what a plan asks of it', async () => {
    const path = put(dataDir, 'chain-planner.json', chain('planner'));
    put(dataDir, 'other.json', chain('other'));
    const unfit = { severity: 'error', code: 'unfit_for_plans', path: '/tasks/0/handler' };
    expect(await chains().vetChains({ paths: ['.reins/chain-planner.json', 'other'] })).toMatchObject([
      { path, worst: 'error', findings: [unfit] },
      { worst: 'ok', findings: [] },
    ]);
  });
});
