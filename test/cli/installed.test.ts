import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cliEnvironment } from '../support/run-cli.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

/** What `npm pack` puts into the tarball, laid out as `npm install -g` does. `npm test` has built `dist` before. */

const root = join(import.meta.dirname, '../..');
let place: TempHome;
let installed: string;
beforeAll(() => {
  place = tempHome();
  installed = join(place.dir, 'lib/node_modules/reins');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--pack-destination', place.dir];
  execFileSync('npm', pack, { cwd: root, stdio: 'pipe' });
  const packed = readdirSync(place.dir).find((name) => name.endsWith('.tgz')) ?? '';
  execFileSync('tar', ['-xzf', join(place.dir, packed), '-C', installed, '--strip-components', '1']);
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
});
afterAll(() => place.remove());

const node = (file: string, argv: readonly string[]): string =>
  execFileSync(process.execPath, [file, ...argv], {
    cwd: place.workspace,
    env: { ...cliEnvironment(place) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

test('an installed package opens its database and runs a chain in its worker', () => {
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const program = join(installed, bin.reins);
  node(program, ['init', 'scripted']);
  expect(node(program, ['--provider', 'scripted', 'hello there'])).toContain('You said: hello there');
  expect(node(program, ['session', 'new', 'work'])).toContain('work');
  expect(node(program, ['session', 'list'])).toContain('work');
});

test('a bundle of an installed package loads better-sqlite3 and bcrypt from beside it', async () => {
  const outfile = join(installed, 'dist/probe.mjs');
  await build({
    stdin: {
      contents: `import bcrypt from 'bcrypt';
        import Database from 'better-sqlite3';
        const hash = bcrypt.hashSync('word', 4);
        const one = new Database(':memory:').prepare('SELECT 1 AS one').get();
        console.log(JSON.stringify([bcrypt.compareSync('word', hash), bcrypt.compareSync('other', hash), one]));`,
      resolveDir: root,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['bcrypt', 'better-sqlite3'],
    outfile,
    logLevel: 'error',
  });
  expect(JSON.parse(node(outfile, []))).toEqual([true, false, { one: 1 }]);
});
