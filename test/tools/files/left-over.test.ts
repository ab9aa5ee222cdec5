import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { leftOver } from '../../../src/tools/files/left-over.ts';
import { tempHome } from '../../support/temp-home.ts';

it('names what a change that was cut off has left a day ago, and nothing else', async () => {
  const temp = tempHome();
  const now = Date.now();
  const file = (name: string, hoursAgo: number): void => {
    const path = join(temp.workspace, name);
    writeFileSync(path, '');
    utimesSync(path, new Date(now), new Date(now - hoursAgo * 3_600_000));
  };
  for (const directory of ['src', 'node_modules', '.a.reins-0a1b2c3d']) mkdirSync(join(temp.workspace, directory));
  file('src/.x.ts.reins-0a1b2c3d', 25);
  file('src/.young.ts.reins-0a1b2c3d', 23);
  file('node_modules/.y.reins-0a1b2c3d', 25);
  file('z.reins-0a1b2c3d', 25);
  file('.z.reins-0a1b2c3', 25);
  symlinkSync('src/.x.ts.reins-0a1b2c3d', join(temp.workspace, '.l.reins-0a1b2c3d'));
  expect(await leftOver(temp.workspace, now)).toEqual([join(temp.workspace, 'src/.x.ts.reins-0a1b2c3d')]);
  temp.remove();
});
