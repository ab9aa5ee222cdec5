import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { vetPolicy } from '../../src/policy/vet.ts';
import { declaredStates } from '../../src/workspace/declared-binaries.ts';
import { load } from '../policy/virtual-host.ts';
import { realBinaries } from '../support/binaries.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const at = (...names: readonly string[]): string => join(realpathSync(temp.dir), ...names);
const put = (path: string, content = 'x'): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};
const digest = async (path: string): Promise<string> => {
  const fact = await realBinaries().read(path);
  return fact.state === 'read' && fact.sha256 !== null ? fact.sha256 : '';
};
const states = async (dirs: readonly string[], hashes: Readonly<Record<string, string>>) => {
  const found = await declaredStates({ dirs, hashes }, { read: realBinaries().read, root: temp.workspace });
  return found.map(({ at: place, code, file }) => `${code} ${file} ${place}`);
};

describe('the state of a declaration', () => {
  it('is nothing where it holds, in either case of its digest', async () => {
    const tool = put(at('bin', 'tool'));
    expect(await states([at('bin')], { [tool]: (await digest(tool)).toUpperCase() })).toEqual([]);
    expect(await declaredStates(null, { read: realBinaries().read, root: temp.workspace })).toEqual([]);
  });

  it('names files that are gone, changed, unreadable, links, or outside the directories', async () => {
    const tool = put(at('bin', 'tool'));
    const right = await digest(tool);
    symlinkSync(tool, at('link'));
    mkdirSync(at('directory'));
    const wrong = '0'.repeat(64);
    const place = (name: string): string => `${at(name)} $.trusted_binaries.hashes["${at(name)}"]`;
    expect(await states([], { [at('gone')]: wrong })).toEqual([`missing ${place('gone')}`]);
    expect(await states([], { [tool]: wrong })).toEqual([`mismatch ${place('bin/tool')}`]);
    expect(await states([], { [at('directory')]: wrong })).toEqual([`unreadable ${place('directory')}`]);
    expect(await states([], { [at('link')]: right })).toEqual([`link ${place('link')}`]);
    mkdirSync(at('other'));
    expect(await states([at('other')], { [tool]: wrong })).toEqual([
      `outside_dirs ${place('bin/tool')}`,
      `mismatch ${place('bin/tool')}`,
    ]);
    rmSync(tool);
    expect(await states([], { [tool]: right })).toEqual([`missing ${place('bin/tool')}`]);
  });

  it('names directories that others may write, by themselves or from above, and those of the workspace', async () => {
    mkdirSync(at('open', 'deep'), { recursive: true });
    chmodSync(at('open'), 0o777);
    const place = (index: number): string => `$.trusted_binaries.dirs[${index}]`;
    expect(await states([at('open'), at('open', 'deep'), at('none')], {})).toEqual([
      `open_dir ${at('open')} ${place(0)}`,
      `open_dir ${at('open', 'deep')} ${place(1)}`,
    ]);
    // What lies in a sticky directory is replaced by its owner alone, but anybody may add to the directory itself.
    chmodSync(at('open'), 0o1777);
    expect(await states([at('open'), at('open', 'deep')], {})).toEqual([`open_dir ${at('open')} ${place(0)}`]);
    symlinkSync('loop', at('loop'));
    expect(await states([at('loop')], {})).toEqual([]);
    mkdirSync(join(temp.workspace, 'tools'));
    expect(await states([join(temp.workspace, 'tools')], {})).toEqual([
      `open_dir ${join(temp.workspace, 'tools')} ${place(0)}`,
    ]);
  });

  it('is a warning of vet, with the digest that was found', async () => {
    const tool = put(at('bin', 'tool'));
    const { policy } = await load({ trusted_binaries: { hashes: { [tool]: '0'.repeat(64) } } });
    const binaries = await declaredStates(policy.trusted_binaries, {
      read: realBinaries().read,
      root: temp.workspace,
    });
    expect(vetPolicy(policy, { binaries })).toEqual([
      {
        severity: 'warn',
        path: `$.trusted_binaries.hashes["${tool}"]`,
        code: 'mismatch',
        message: `${tool} has another content now, sha256 ${await digest(tool)}`,
      },
    ]);
    expect(binaries[0]?.found).toBe(await digest(tool));
  });
});
