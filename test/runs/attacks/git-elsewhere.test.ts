import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Field } from './field.ts';
import { everyCommand, git, granting, inRepository, repository, secret } from './repository.ts';

/** Attacks by repositories whose parts lie elsewhere, with the real `git`, through the whole program. */

let field: Field | undefined;
afterEach(() => field?.app.close());

const start = async (): Promise<Field> => {
  field = await inRepository();
  return field;
};

describe('GIT-006: a git directory elsewhere', () => {
  it('is not asked: a worktree whose common directory lies outside', async () => {
    const on = await start();
    const { dir, workspace } = on.place;
    rmSync(join(workspace, '.git'), { recursive: true });
    repository(on, join(dir, 'main'));
    git(on, join(dir, 'main'), 'worktree', 'add', '-q', '-b', 'side', join(dir, 'tree'));
    writeFileSync(join(workspace, '.git'), readFileSync(join(dir, 'tree', '.git'), 'utf8'));
    const [file, common, log] = await on.attempt(
      {
        tool: 'local_fs.write_file',
        args: { path: 'e/.git', content: 'gitdir: /elsewhere' },
        policy: { default_action: 'allow', rules: [] },
      },
      {
        tool: 'local_fs.write_file',
        args: { path: 'd/.git/commondir', content: '/elsewhere' },
        policy: { default_action: 'allow', rules: [] },
      },
      { tool: 'local_shell.local_shell', args: { command: 'git log' }, policy: granting('git log') },
    );
    expect([file?.action, common?.action]).toEqual(['approve', 'approve']);
    expect(log).toMatchObject({
      action: 'approve',
      state: 'skipped',
      detail: 'git_config: the git directory, or a part of it, lies elsewhere',
    });
    expect([existsSync(join(workspace, 'd')), existsSync(join(workspace, 'e'))]).toEqual([false, false]);
  });

  it('is not asked for an object that a partial clone lacks, nor anything written for it', async () => {
    const on = await start();
    const { dir, workspace } = on.place;
    const other = join(dir, 'other');
    repository(on, other);
    writeFileSync(join(other, 'key'), `${secret}\n`);
    git(on, other, 'add', '.');
    git(on, other, 'commit', '-qm', secret);
    for (const key of ['uploadpack.allowAnySHA1InWant', 'uploadpack.allowFilter'])
      git(on, other, 'config', key, 'true');
    const blob = git(on, other, 'rev-parse', 'HEAD:key').trim();
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'o'],
      ['remote.o.url', other],
      ['remote.o.promisor', 'true'],
      ['protocol.file.allow', 'always'],
    ] as const) {
      git(on, workspace, 'config', key, value);
    }
    for (const command of [`git show ${blob}`, `git cat-file -p ${blob}`, `git diff ${blob} HEAD:notes`]) {
      const outcome = await on.shell(command, { policy: granting('git') });
      expect([command, outcome.row.includes(secret)]).toEqual([command, false]);
    }
    expect(on.marks().filter((name) => name.endsWith('.pack'))).toEqual([]);
    expect(git(on, workspace, 'show', blob)).toBe(`${secret}\n`);
  });

  it.each([
    [
      'packed-refs',
      (place: { dir: string; workspace: string }) =>
        symlinkSync(join(place.dir, 'private', 'key'), join(place.workspace, '.git', 'packed-refs')),
    ],
    [
      'alternates',
      (place: { dir: string; workspace: string }) =>
        writeFileSync(
          join(place.workspace, '.git', 'objects', 'info', 'alternates'),
          `${place.dir}/other/.git/objects\n`,
        ),
    ],
    [
      'objects',
      (place: { dir: string; workspace: string }) => {
        rmSync(join(place.workspace, '.git', 'objects'), { recursive: true });
        symlinkSync(join(place.dir, 'other', '.git', 'objects'), join(place.workspace, '.git', 'objects'));
      },
    ],
    [
      'rebase-merge',
      (place: { dir: string; workspace: string }) => {
        mkdirSync(join(place.workspace, '.git', 'rebase-merge'));
        writeFileSync(join(place.workspace, '.git', 'rebase-merge', 'onto'), '1');
        symlinkSync(join(place.dir, 'private', 'key'), join(place.workspace, '.git', 'rebase-merge', 'head-name'));
      },
    ],
    [
      'a file of the workspace that nobody may read',
      (place: { dir: string; workspace: string }) => {
        writeFileSync(join(place.workspace, '.env'), secret);
        symlinkSync('../.env', join(place.workspace, '.git', 'BISECT_START'));
      },
    ],
  ])('is not looked into by a part of one inside: %s', async (_name, plant) => {
    const on = await start();
    repository(on, join(on.place.dir, 'other'));
    plant(on.place);
    for (const command of everyCommand) {
      const outcome = await on.shell(command, { policy: granting('git') });
      expect([command, outcome.state, outcome.row.includes(secret)]).toEqual([command, 'skipped', false]);
    }
  });

  it('is not hidden by a directory that git passes by on its way up', async () => {
    const on = await start();
    const { workspace } = on.place;
    const mark = join(on.place.dir, 'mark');
    git(on, workspace, 'config', 'filter.evil.clean', `touch ${mark}; cat`);
    writeFileSync(join(workspace, '.gitattributes'), 'notes filter=evil\n');
    mkdirSync(join(workspace, 'empty', '.git'), { recursive: true });
    for (const name of ['objects', 'refs']) mkdirSync(join(workspace, 'bare', name), { recursive: true });
    writeFileSync(join(workspace, 'bare', 'HEAD'), '');
    for (const cwd of ['empty', 'bare']) {
      writeFileSync(join(workspace, 'notes'), `${cwd}\n`);
      const outcome = await on.shell('git diff', { policy: granting('git diff'), args: { cwd } });
      expect([cwd, outcome.state, existsSync(mark)]).toEqual([cwd, 'skipped', false]);
    }
    git(on, join(workspace, 'empty'), 'diff');
    expect(existsSync(mark)).toBe(true);
  });

  it('is not read line by line as a list of revisions', async () => {
    const on = await start();
    git(on, on.place.workspace, 'config', 'blame.ignoreRevsFile', join(on.place.dir, 'private', 'key'));
    const outcome = await on.shell('git blame notes', { policy: granting('git') });
    expect([outcome.state, outcome.row.includes(secret)]).toEqual(['done', false]);
    expect(outcome.row).toContain('two');
  });
});

describe('a diff without a name for what it shows', () => {
  it('is asked about while a tracked file that looks like a secret holds something that was not committed', async () => {
    const on = await start();
    const { workspace } = on.place;
    mkdirSync(join(workspace, 'src'));
    for (const name of ['.env', 'src/a']) writeFileSync(join(workspace, name), 'A=1\n');
    git(on, workspace, 'add', '-f', '.env', 'src/a');
    git(on, workspace, 'commit', '-qm', 'x');
    for (const name of ['.env', 'src/a']) writeFileSync(join(workspace, name), `A=${secret}\n`);
    const outcome = async (command: string) => {
      const { state, row } = await on.shell(command, { policy: granting('git diff') });
      return [command, state, row.includes(secret)];
    };
    for (const command of ['git diff', 'git diff HEAD', 'git diff --stat -p', "git diff -- '*'", 'git diff .'])
      expect(await outcome(command)).toEqual([command, 'skipped', false]);
    for (const command of ['git diff --stat', 'git diff --cached', 'git diff HEAD HEAD', 'git diff HEAD..HEAD'])
      expect(await outcome(command)).toEqual([command, 'done', false]);
    for (const command of ['git diff src', 'git diff HEAD -- src/a'])
      expect(await outcome(command)).toEqual([command, 'done', true]);
    git(on, workspace, 'checkout', '.env');
    expect(await outcome('git diff')).toEqual(['git diff', 'done', true]);
  });
});
