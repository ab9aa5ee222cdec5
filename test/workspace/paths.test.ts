import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FindWorkspace, findWorkspace } from '../../src/workspace/paths.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let uid: number;
beforeEach(() => {
  temp = tempHome();
  uid = process.getuid?.() ?? 0;
});
afterEach(() => temp.remove());

const find = (options: Partial<FindWorkspace> = {}) =>
  findWorkspace({ cwd: temp.workspace, dataDirFlag: null, dbFlag: null, reinsHome: temp.home, uid, ...options });
const makeDir = (...parts: string[]): string => {
  const path = join(...parts);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
};

describe('the workspace', () => {
  it('is the working directory with the user database when there is no data directory', () => {
    expect(find()).toEqual({
      dataDir: null,
      dataDirExists: false,
      root: temp.workspace,
      cwd: temp.workspace,
      dbPath: join(temp.home, 'local.db'),
      home: temp.home,
      warnings: [],
      passedOver: [],
    });
  });

  it('is found in the nearest ancestor that holds a data directory', () => {
    const far = makeDir(temp.workspace, '.reins');
    const near = makeDir(temp.workspace, 'a', '.reins');
    const cwd = makeDir(temp.workspace, 'a', 'b', 'c');
    expect(find({ cwd })).toMatchObject({
      dataDir: near,
      dataDirExists: true,
      root: join(temp.workspace, 'a'),
      dbPath: join(near, 'local.db'),
    });
    expect(find()).toMatchObject({ dataDir: far, root: temp.workspace });
  });

  it('is looked for from the real path of the working directory', () => {
    const project = makeDir(temp.dir, 'project');
    makeDir(project, '.reins');
    symlinkSync(project, join(temp.workspace, 'link'));
    expect(find({ cwd: join(temp.workspace, 'link') })).toMatchObject({ root: project, cwd: project });
  });

  it('never takes the user-level directory for a project', () => {
    const home = makeDir(temp.dir, 'u', '.reins');
    const cwd = makeDir(temp.dir, 'u', 'x');
    expect(find({ cwd, reinsHome: home })).toMatchObject({
      dataDir: null,
      dbPath: join(home, 'local.db'),
      warnings: [],
      passedOver: [],
    });
    symlinkSync(home, join(temp.dir, 'alias'));
    expect(find({ cwd, reinsHome: join(temp.dir, 'alias') })).toMatchObject({ dataDir: null, home, warnings: [] });
  });

  it.each([
    ['is a symbolic link', () => symlinkSync(makeDir(temp.dir, 'elsewhere'), join(temp.workspace, 'a', '.reins'))],
    [
      'can be written by every user (see chmod o-w, or --data-dir)',
      () => chmodSync(makeDir(temp.workspace, 'a', '.reins'), 0o777),
    ],
  ])('passes over a candidate that %s, with one warning', (why, plant) => {
    const outer = makeDir(temp.workspace, '.reins');
    const cwd = makeDir(temp.workspace, 'a');
    plant();
    expect(find({ cwd })).toMatchObject({
      dataDir: outer,
      warnings: [`The directory ${join(cwd, '.reins')} is not used: it ${why}.`],
    });
  });

  it('passes over a candidate of another user', () => {
    const candidate = makeDir(temp.workspace, '.reins');
    expect(find({ uid: uid + 1 })).toMatchObject({
      dataDir: null,
      warnings: [`The directory ${candidate} is not used: it belongs to another user.`],
      passedOver: [{ path: candidate, fault: 'belongs to another user' }],
    });
  });

  it('takes a file named .reins for nothing', () => {
    writeFileSync(join(temp.workspace, '.reins'), '');
    expect(find()).toMatchObject({ dataDir: null, warnings: [] });
  });

  it('takes a named data directory as it is, and its database with it', () => {
    makeDir(temp.workspace, '.reins');
    const named = join(temp.dir, 'other', 'data');
    expect(find({ dataDirFlag: named })).toMatchObject({
      dataDir: named,
      dataDirExists: false,
      root: join(temp.dir, 'other'),
      dbPath: join(named, 'local.db'),
    });
  });

  it('moves only the database with --db', () => {
    const dataDir = makeDir(temp.workspace, '.reins');
    expect(find({ dbFlag: join(temp.dir, 'x.db') })).toMatchObject({ dataDir, dbPath: join(temp.dir, 'x.db') });
  });
});
