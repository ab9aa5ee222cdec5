import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createField, type Field } from './field.ts';

/** Real repositories for attacks by `git`. */

/** What a file outside the workspace holds: nothing that is refused may show it. */
export const secret = 'the-canary-sings';

export const granting = (entries: string) => ({
  default_action: 'approve',
  rules: [{ tools: 'local_shell', action: 'allow', when: [{ op: 'command_prefix_allowlist', value: entries }] }],
});

/** One of every subcommand that shows content. */
export const everyCommand = [
  'git status',
  'git status --short',
  'git diff',
  'git log -p',
  'git show',
  'git blame notes',
];

/** The real `git`, without anything of the person who runs the tests. */
export function git(on: Field, cwd: string, ...words: readonly string[]): string {
  const env = { PATH: '/usr/bin:/bin', HOME: on.place.home, GIT_CONFIG_NOSYSTEM: '1' };
  const own = ['-c', 'user.name=u', '-c', 'user.email=u@x.test', '-c', 'core.hooksPath=/dev/null'];
  return execFileSync('git', [...own, ...words], { cwd, env, stdio: 'pipe' }).toString();
}

/** A repository with one commit, and a change that is not in it. */
export function repository(on: Field, directory: string): void {
  mkdirSync(directory, { recursive: true });
  git(on, directory, 'init', '-q', '-b', 'main');
  writeFileSync(join(directory, 'notes'), 'one\n');
  git(on, directory, 'add', '.');
  git(on, directory, 'commit', '-qm', 'first');
  writeFileSync(join(directory, 'notes'), 'two\n');
}

/** A field whose workspace is a repository, with a file of secrets beside it. */
export async function inRepository(): Promise<Field> {
  const made = await createField({ files: { 'private/key': `${secret}\n` } });
  repository(made, made.place.workspace);
  return made;
}
