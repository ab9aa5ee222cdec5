import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Field } from './field.ts';
import { everyCommand, git, granting, inRepository, repository, secret } from './repository.ts';

/** Attacks by what a repository configures, with the real `git`, through the whole program. */

let field: Field | undefined;
afterEach(() => field?.app.close());

const start = async (): Promise<Field> => {
  field = await inRepository();
  return field;
};

const mark = (on: Field): string => join(on.place.dir, 'canary');
/** What an unguarded `git` makes of it, which then is removed. */
function bites(on: Field, ...words: readonly string[]): boolean {
  const env = { PATH: '/usr/bin:/bin', HOME: on.place.home, GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat' };
  spawnSync('git', words, { cwd: on.place.workspace, env, stdio: 'ignore' });
  const found = existsSync(mark(on));
  rmSync(mark(on), { force: true });
  return found;
}

describe('GIT-001: what a repository configures', () => {
  /** Where each is run by a `git` that nobody guards. */
  const settings: readonly (readonly [string, string, readonly string[]])[] = [
    ['core.fsmonitor', 'touch CANARY; false', ['status']],
    ['alias.st', '!touch CANARY', ['st']],
    ['filter.evil.clean', 'touch CANARY; cat', ['diff']],
    ['diff.evil.textconv', 'touch CANARY; cat', ['diff']],
    ['diff.evil.command', 'touch CANARY; true', ['diff']],
    ['diff.external', 'touch CANARY; true', ['diff']],
  ];

  it.each(settings)('is not run: %s', async (key, value, words) => {
    const on = await start();
    const { workspace } = on.place;
    writeFileSync(join(workspace, '.gitattributes'), 'notes diff=evil filter=evil\n');
    git(on, workspace, 'config', key, value.replace('CANARY', mark(on)));
    expect(bites(on, ...words)).toBe(true);
    for (const command of [...everyCommand, `git ${words.join(' ')}`]) {
      const outcome = await on.shell(command, { policy: granting('git') });
      expect([command, existsSync(mark(on))]).toEqual([command, false]);
      if (outcome.action !== 'allow') expect(outcome.detail).toMatch(/^(git_config: |git: subcommand )/);
    }
  });

  it('is named when it withdraws the allow', async () => {
    const on = await start();
    git(on, on.place.workspace, 'config', 'core.fsmonitor', `touch ${mark(on)}`);
    expect(await on.shell('git status', { policy: granting('git status') })).toMatchObject({
      action: 'approve',
      state: 'skipped',
      detail: 'git_config: core.fsmonitor',
    });
  });

  it('is not run either when a second repository lies in the first', async () => {
    const on = await start();
    const inner = join(on.place.workspace, 'inner');
    repository(on, inner);
    writeFileSync(join(inner, '.gitattributes'), 'notes filter=evil diff=evil\n');
    git(on, on.place.workspace, 'add', 'inner');
    git(on, on.place.workspace, 'commit', '-qm', 'inner');
    git(on, inner, 'config', 'filter.evil.clean', `touch ${mark(on)}; cat`);
    git(on, inner, 'config', 'diff.evil.textconv', `touch ${mark(on)}; cat`);
    git(on, on.place.workspace, 'config', 'diff.submodule', 'diff');
    git(on, on.place.workspace, 'config', 'status.submoduleSummary', 'true');
    git(on, on.place.workspace, 'config', 'submodule.recurse', 'true');
    expect(bites(on, 'status')).toBe(true);
    expect(bites(on, 'diff')).toBe(true);
    for (const command of [...everyCommand, 'git ls-files -m', 'git grep one', 'git describe --always']) {
      const outcome = await on.shell(command, { policy: granting('git') });
      expect([command, outcome.state, existsSync(mark(on))]).toEqual([command, 'done', false]);
    }
  });
});

describe('GIT-003: hooks', () => {
  it.each([
    ['post-checkout', 'checkout -q -b other'],
    ['post-index-change', 'add notes'],
    ['pre-commit', 'commit -qam x'],
  ])('are not run: %s', async (hook, words) => {
    const on = await start();
    const path = join(on.place.workspace, '.git', 'hooks', hook);
    writeFileSync(path, `#!/bin/sh\n: > '${mark(on)}'\n`);
    chmodSync(path, 0o755);
    const outcome = await on.shell(`git ${words}`, { policy: granting('git,git checkout,git add,git commit') });
    expect(outcome).toMatchObject({ action: 'approve', state: 'skipped' });
    for (const command of everyCommand) {
      expect((await on.shell(command, { policy: granting('git') })).state).toBe('done');
    }
    expect(existsSync(mark(on))).toBe(false);
    git(on, on.place.workspace, 'config', 'user.name', 'u');
    git(on, on.place.workspace, 'config', 'user.email', 'u@x.test');
    expect(bites(on, ...words.split(' '))).toBe(true);
  });
});

describe('GIT-004: options before the subcommand', () => {
  it('void the allow, in every form', async () => {
    const on = await start();
    const alias = `alias.st='!touch ${mark(on)}'`;
    for (const line of [
      `git -C . -c ${alias} st`,
      `git -c ${alias} st`,
      `git --config-env=alias.st=HOME st`,
      `git -c core.fsmonitor='touch ${mark(on)}' status`,
      `git -p log`,
      `git --paginate status`,
      `git --exec-path=. status`,
      `git --git-dir=.git status`,
      `git --work-tree=. status`,
      `git --namespace=x status`,
    ]) {
      const { action, state } = await on.shell(line, { policy: granting('git,git st,git status,git log') });
      expect([line, action, state]).toEqual([line, 'approve', 'skipped']);
    }
    expect(existsSync(mark(on))).toBe(false);
    expect(bites(on, '-c', `alias.st=!touch ${mark(on)}`, 'st')).toBe(true);
  });

  it('and behind it: what starts, writes or looks elsewhere', async () => {
    const on = await start();
    for (const line of [
      `git grep -O'touch ${mark(on)};true' one`,
      `git grep --open-files-in-pager='touch ${mark(on)}' one`,
      `git grep --open='touch ${mark(on)}' one`,
      `git grep -nO'touch ${mark(on)}' one`,
      'git grep --no-index canary ../private',
      'git grep -f ../private/key',
      'git diff --no-index notes ../private/key',
      'git diff --output=M',
      'git diff --ext-diff',
      'git log -p --textconv',
      'git log --show-signature',
      'git blame --contents ../private/key notes',
      'git show :0:.env',
      'git show HEAD:.env',
      "git log -p -- ':(top).env'",
      'git log -p -- :/.env',
      'git difftool -yx touch',
      'git bisect run touch M',
      "git submodule foreach 'touch M'",
      'git rebase -x touch',
      'git ls-remote ext::touch',
      'git archive --remote=ext::touch',
      'git branch --edit-description',
      'git branch x',
      'git tag x',
      'git cat-file --textconv HEAD:notes',
      'git cat-file --filters HEAD:notes',
      'git rev-parse --parseopt',
    ]) {
      const outcome = await on.shell(line, { policy: granting('git') });
      expect([line, outcome.action, outcome.state]).toEqual([line, 'approve', 'skipped']);
      expect(outcome.row).not.toContain(secret);
    }
    expect(on.marks().filter((name) => !name.startsWith('ws/.git') && name !== 'ws/notes')).toEqual([]);
  });
});
