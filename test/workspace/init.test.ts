import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChains } from '../../src/workspace/chains.ts';
import { createInitialise, ensureIgnoreFile, type InitDeps } from '../../src/workspace/init.ts';
import { findWorkspace } from '../../src/workspace/paths.ts';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { createTrust } from '../../src/workspace/trust.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let dataDir: string;
beforeEach(() => {
  temp = tempHome();
  dataDir = join(temp.workspace, '.reins');
});
afterEach(() => temp.remove());

const uid = process.getuid?.() ?? 0;
const trust = () => createTrust({ home: temp.home, uid, now: () => 0 });
const initialise = (options: Partial<InitDeps> & { cwd?: string; force?: boolean; provider?: string } = {}) => {
  const flag = options.dataDirFlag ?? null;
  const cwd = options.cwd ?? temp.workspace;
  return createInitialise({
    workspace: findWorkspace({ cwd, dataDirFlag: flag, dbFlag: null, reinsHome: temp.home, uid }),
    dataDirFlag: flag,
    uid,
    trust: trust(),
    providers: ['ollama', 'scripted'],
    backendsBefore: async () => [],
    setUpProvider: options.setUpProvider ?? (() => Promise.reject(new Error('no provider was named'))),
  }).initialise({ provider: options.provider ?? null, force: options.force ?? false });
};
const names = ['default-chain.json', 'default-run-chain.json', '.gitignore'];
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('init', () => {
  it('creates the data directory with the shipped chains, in order and with their modes', async () => {
    const umask = process.umask(0o077);
    const result = await initialise();
    process.umask(umask);
    expect(result).toEqual({
      dataDir,
      files: names.map((name) => ({ path: join(dataDir, name), action: 'created' })),
      settings: [],
      notes: [],
    });
    expect(modeOf(dataDir)).toBe('700');
    expect(names.map((name) => modeOf(join(dataDir, name)))).toEqual(['644', '644', '644']);
    expect(readFileSync(join(dataDir, 'default-chain.json'), 'utf8')).toBe(shippedChains['default-chain.json']);
    expect(readFileSync(join(dataDir, '.gitignore'), 'utf8')).toBe('local.db*\nplans/\n*.bak\n*.tmp-*\n');
  });

  it('writes nothing when what it would write cannot be trusted', async () => {
    mkdirSync(join(temp.home, 'trust.json'));
    await expect(initialise()).rejects.toMatchObject({ code: 'config_invalid' });
    expect(readdirSync(temp.workspace)).toEqual([]);
  });

  // root may look into every directory.
  it.skipIf(uid === 0)('does not say of files that it may not see that they are there', async () => {
    mkdirSync(dataDir, { mode: 0o000 });
    await expect(initialise()).rejects.toMatchObject({
      code: 'storage',
      message: `The directory ${dataDir} cannot be looked at: permission denied.`,
      hints: [`ls -ld ${dataDir}`],
    });
    chmodSync(dataDir, 0o700);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('makes a project whose chains run without a question', async () => {
    await initialise();
    const workspace = findWorkspace({
      cwd: temp.workspace,
      dataDirFlag: null,
      dbFlag: null,
      reinsHome: temp.home,
      uid,
    });
    const chains = createChains({ workspace, uid, trust: trust(), configured: () => null });
    expect((await chains.loadChain({ use: 'run', path: null, trust: [] })).id).toBe('chain-run');
    expect((await chains.loadChain({ use: 'chat', path: null, trust: [] })).id).toBe('chain-chat');
    expect(
      trust()
        .list()
        .map(({ path, by }) => [path, by]),
    ).toEqual([
      ['.reins/default-chain.json', 'init'],
      ['.reins/default-run-chain.json', 'init'],
    ]);
  });

  it('changes nothing the second time, and trusts no file that it left alone', async () => {
    await initialise();
    writeFileSync(join(dataDir, 'default-chain.json'), '{"mine":true}');
    const before = names.map((name) => readFileSync(join(dataDir, name), 'utf8'));
    const result = await initialise();
    expect(result.files.map(({ action }) => action)).toEqual(['kept', 'kept', 'kept']);
    expect(names.map((name) => readFileSync(join(dataDir, name), 'utf8'))).toEqual(before);
    expect(trust().list()).toHaveLength(2);
    expect(readdirSync(dataDir).sort()).toEqual([...names].sort());
  });

  it('replaces with --force, keeping the old content beside it', async () => {
    await initialise();
    writeFileSync(join(dataDir, 'default-chain.json'), '{"mine":true}');
    const result = await initialise({ force: true });
    expect(result.files.map(({ action }) => action)).toEqual(['replaced', 'replaced', 'replaced']);
    expect(readFileSync(join(dataDir, 'default-chain.json.bak'), 'utf8')).toBe('{"mine":true}');
    expect(readFileSync(join(dataDir, 'default-chain.json'), 'utf8')).toBe(shippedChains['default-chain.json']);
  });

  it('sets up a provider after the files', async () => {
    const seen: string[] = [];
    const result = await initialise({
      provider: 'scripted',
      setUpProvider: async (provider, directory) => {
        seen.push(provider, directory, ...readdirSync(directory).sort());
        return {
          database: { path: join(directory, 'local.db'), action: 'created' },
          settings: [{ key: 'default-provider', value: 'scripted' }],
          notes: ['next: reins hello'],
        };
      },
    });
    expect(seen).toEqual(['scripted', dataDir, '.gitignore', 'default-chain.json', 'default-run-chain.json']);
    expect(result.files.at(-1)).toEqual({ path: join(dataDir, 'local.db'), action: 'created' });
    expect(result.settings).toEqual([{ key: 'default-provider', value: 'scripted' }]);
    expect(result.notes).toEqual(['next: reins hello']);
  });

  it('refuses an unknown provider before anything is written', async () => {
    await expect(initialise({ provider: 'acme' })).rejects.toMatchObject({
      code: 'usage',
      message: 'There is no provider type "acme"; the types are ollama, scripted.',
    });
    expect(readdirSync(temp.workspace)).toEqual([]);
  });

  it('refuses the place of the user-level directory', async () => {
    const home = join(temp.workspace, '.reins');
    mkdirSync(home, { mode: 0o700 });
    const refused = createInitialise({
      workspace: { cwd: temp.workspace, home, dataDir: null },
      dataDirFlag: null,
      uid,
      trust: trust(),
      providers: [],
      backendsBefore: async () => [],
      setUpProvider: () => Promise.reject(new Error('not reached')),
    }).initialise({ provider: null, force: false });
    await expect(refused).rejects.toMatchObject({ code: 'usage' });
    expect(readdirSync(home)).toEqual([]);
  });

  it('refuses a directory that is a link or that everybody may write', async () => {
    mkdirSync(join(temp.dir, 'elsewhere'));
    symlinkSync(join(temp.dir, 'elsewhere'), dataDir);
    await expect(initialise()).rejects.toMatchObject({ code: 'config_invalid' });
    const open = join(temp.dir, 'open');
    mkdirSync(join(open, '.reins'), { recursive: true });
    chmodSync(join(open, '.reins'), 0o777);
    await expect(initialise({ cwd: open })).rejects.toMatchObject({ code: 'config_invalid' });
    expect(readdirSync(join(temp.dir, 'elsewhere'))).toEqual([]);
  });

  it('creates here below a project, and says so', async () => {
    await initialise();
    const inner = join(temp.workspace, 'inner');
    mkdirSync(inner);
    const result = await initialise({ cwd: inner });
    expect(result.dataDir).toBe(join(inner, '.reins'));
    expect(result.notes).toEqual([
      `The project data directory ${dataDir} above is not used below this directory any more.`,
    ]);
  });

  it('creates a named data directory', async () => {
    const named = join(temp.dir, 'deep', 'data');
    expect((await initialise({ dataDirFlag: named })).dataDir).toBe(named);
    expect(modeOf(named)).toBe('700');
  });

  it('says storage when it cannot write', async () => {
    writeFileSync(join(temp.dir, 'file'), '');
    await expect(initialise({ dataDirFlag: join(temp.dir, 'file', 'data') })).rejects.toMatchObject({
      code: 'storage',
    });
  });

  it('writes the ignore file for a new database only where there is none', () => {
    mkdirSync(dataDir);
    expect(ensureIgnoreFile(dataDir)).toMatchObject([{ action: 'created' }]);
    writeFileSync(join(dataDir, '.gitignore'), 'mine\n');
    expect(ensureIgnoreFile(dataDir)).toMatchObject([{ action: 'kept' }]);
    expect(readFileSync(join(dataDir, '.gitignore'), 'utf8')).toBe('mine\n');
  });
});
