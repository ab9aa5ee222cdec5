import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TempHome } from '../support/temp-home.ts';

/** The text of a program that does nothing but write down with which words it was started, in a file of its own. */
export const recorder = (records: string): string => `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" > "${records}/$$"\n`;

/** What such programs have written: the words of each, in no order. */
export const recorded = (records: string): readonly (readonly string[])[] =>
  readdirSync(records).map((name) => readFileSync(join(records, name), 'utf8').split('\0').slice(0, -1));

/** Programs that do nothing but write down with which words they were started, and the shells that start them. */
export function createRecorders(home: TempHome, names: readonly string[]) {
  const programs = join(home.dir, 'programs');
  const records = join(home.dir, 'records');
  mkdirSync(programs);
  for (const name of names) writeFileSync(join(programs, name), recorder(records), { mode: 0o755 });
  return {
    /** Their directory, which alone is in PATH. */
    programs,
    /** What a shell starts for a line: the words of each program, as JSON, in alphabetical order. */
    started(text: string, shell: readonly [string, ...string[]] = ['/bin/sh']): readonly string[] {
      rmSync(records, { recursive: true, force: true });
      mkdirSync(records);
      const [program, ...options] = shell;
      // A recording program never fails, but a grammar error does; what was started before it counts.
      spawnSync(program, [...options, '-c', text], {
        cwd: home.workspace,
        env: { PATH: programs },
        stdio: 'ignore',
        timeout: 10_000,
      });
      return recorded(records)
        .map((words) => JSON.stringify(words))
        .sort();
    },
  };
}
