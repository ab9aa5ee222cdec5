import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findRepository } from '../../src/gate/repository.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const own = () => join(home.workspace, '.git');
const config = '[core]\n\tbare = false\n';
/** A directory that git takes for a repository. */
function make(): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(own(), name), { recursive: true });
  writeFileSync(join(own(), 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(own(), 'config'), config);
}
const found = () => findRepository(home.workspace, home.workspace);
const readable = () => ({ path: join(own(), 'config'), text: config });
const unreadable = () => ({ path: own(), text: null });

it('reads the configuration of the repository that a directory is in', () => {
  make();
  mkdirSync(join(home.workspace, 'a/b'), { recursive: true });
  expect(findRepository(join(home.workspace, 'a/b'), home.workspace)).toMatchObject({
    outside: false,
    configs: [readable()],
  });
});

// git goes on upwards then, to a repository whose configuration was not looked at.
it('takes what git passes by for one that cannot be read', () => {
  mkdirSync(own());
  writeFileSync(join(own(), 'config'), config);
  expect(found()).toMatchObject({ outside: false, configs: [readable(), unreadable()] });
});

it.each(['main', ''])('takes one whose HEAD is %j for one that cannot be read', (head) => {
  make();
  writeFileSync(join(own(), 'HEAD'), head);
  expect(found()?.configs).toEqual([readable(), unreadable()]);
});

it('takes a .git that leads nowhere for one that cannot be read', () => {
  symlinkSync('nowhere', own());
  expect(found()?.configs).toEqual([{ path: join(home.workspace, 'nowhere'), text: null }]);
});

// `git status` tells the name of what is rebased, `git branch -vv` where another working tree is: all that the file holds.
it.each([
  'rebase-apply/head-name',
  'rebase-merge/done',
  'worktrees/x/gitdir',
  'worktrees/x/rebase-merge/onto',
  'info/x',
])('takes one whose %s is a link out of it for one that lies outside', (file) => {
  make();
  mkdirSync(dirname(join(own(), file)), { recursive: true });
  symlinkSync(join(own(), 'HEAD'), join(own(), file));
  expect(found()?.outside).toBe(false);
  // What else the workspace holds may be kept secret.
  symlinkSync(join(home.workspace, '.env'), join(own(), `${file}-2`));
  expect(found()?.outside).toBe(true);
});

it('looks for no links among refs and hooks, and takes one with too many directories for one that lies outside', () => {
  make();
  mkdirSync(join(own(), 'hooks'));
  symlinkSync('/etc/passwd', join(own(), 'hooks/pre-commit'));
  symlinkSync('/etc/passwd', join(own(), 'refs/x'));
  expect(found()?.outside).toBe(false);
  for (let count = 0; count < 300; count += 1) mkdirSync(join(own(), 'worktrees', String(count)), { recursive: true });
  expect(found()?.outside).toBe(true);
});
