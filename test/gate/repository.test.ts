import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  expect(findRepository(join(home.workspace, 'a/b'), home.workspace)).toEqual({
    outside: false,
    configs: [readable()],
  });
});

// git goes on upwards then, to a repository whose configuration was not looked at.
it('takes what git passes by for one that cannot be read', () => {
  mkdirSync(own());
  writeFileSync(join(own(), 'config'), config);
  expect(found()).toEqual({ outside: false, configs: [readable(), unreadable()] });
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
