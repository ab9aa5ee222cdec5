import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { userDirectories } from '../../src/app-options.ts';

const of = (environment: Readonly<Record<string, string>>) => userDirectories({ environment, cwd: '/srv/p' });

it('are never looked for in the directory that one stands in', () => {
  const home = userInfo().homedir;
  for (const HOME of ['', '.', 'relative']) expect(of({ HOME })).toEqual({ home, reinsHome: `${home}/.reins` });
  expect(of({ HOME: '/home/u', REINS_HOME: '' })).toEqual({ home: '/home/u', reinsHome: '/home/u/.reins' });
});

it('are where they are named', () => {
  expect(of({ HOME: '/home/u', REINS_HOME: 'own' })).toEqual({ home: '/home/u', reinsHome: '/srv/p/own' });
});
