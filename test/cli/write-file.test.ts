import { chmodSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeWhole } from '../../src/cli/write-file.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const old = new Date('2026-01-01');

it('removes what a writer that was killed has left beside its file, and nothing else', async () => {
  const directory = join(temp.home, 'out');
  mkdirSync(directory);
  const put = (name: string, time: Date | null, mode = 0o600): void => {
    writeFileSync(join(directory, name), 'half of it');
    chmodSync(join(directory, name), mode);
    if (time !== null) utimesSync(join(directory, name), time, time);
  };
  const left = '.talk.md.reins-tmp-0123456789ab';
  put(left, old);
  const others = [
    '.talk.md.reins-tmp-ffffffffffff',
    '.talk.md.reins-tmp-0123',
    'talk.md.reins-tmp-0123456789ab',
    '.env',
  ];
  put('.talk.md.reins-tmp-ffffffffffff', null);
  for (const name of others.slice(1)) put(name, old);
  put('.mine.reins-tmp-aaaaaaaaaaaa', old, 0o644);
  symlinkSync('.env', join(directory, '.link.reins-tmp-aaaaaaaaaaaa'));
  await writeWhole(join(directory, 'talk.md'), false, ['whole']);
  expect(readdirSync(directory).sort()).toEqual(
    [...others, '.mine.reins-tmp-aaaaaaaaaaaa', '.link.reins-tmp-aaaaaaaaaaaa', 'talk.md'].sort(),
  );
});

it('makes a file whose name is as long as a name may be', async () => {
  const name = `${'語'.repeat(84)}.md`;
  await writeWhole(join(temp.home, name), false, ['whole']);
  expect(readdirSync(temp.home)).toContain(name);
});
