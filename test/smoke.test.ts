import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cliEnvironment } from './support/run-cli.ts';
import { type TempHome, tempHome } from './support/temp-home.ts';

/** The package as it is published: packed, unpacked elsewhere, with the native packages beside it. */

const root = join(import.meta.dirname, '..');
let place: TempHome;
let installed: string;

const run = (argv: readonly string[]): string =>
  execFileSync(process.execPath, [join(installed, 'dist/src/cli/main.js'), ...argv], {
    cwd: place.workspace,
    env: { ...cliEnvironment(place) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

beforeAll(() => {
  place = tempHome();
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', place.dir], {
    cwd: root,
    encoding: 'utf8',
  });
  execFileSync('tar', ['-xzf', join(place.dir, packed.trim().split('\n').at(-1) ?? ''), '-C', place.dir]);
  installed = join(place.dir, 'package');
  mkdirSync(join(installed, 'node_modules'));
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  // What the bundle leaves outside, with what that needs in turn.
  const outside = [
    'better-sqlite3',
    'bindings',
    'file-uri-to-path',
    'bcrypt',
    'node-addon-api',
    'node-gyp-build',
    'piscina',
  ];
  for (const name of outside) {
    const from = join(root, 'node_modules', name);
    if (existsSync(from)) symlinkSync(from, join(installed, 'node_modules', name));
  }
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['better-sqlite3', 'bcrypt', 'piscina']));
});
afterAll(() => place.remove());

it('holds the program, its licence and its documents, and nothing of the sources', () => {
  const files = execFileSync('find', ['.', '-type', 'f', '-not', '-path', './node_modules/*'], {
    cwd: installed,
    encoding: 'utf8',
  });
  const names = files.trim().split('\n');
  expect(names.filter((name) => !name.startsWith('./dist/')).sort()).toEqual([
    './CHANGELOG.md',
    './LICENSE',
    './README.md',
    './docs/beam.md',
    './docs/chains.md',
    './docs/models.md',
    './docs/policies.md',
    './docs/terminal.md',
    './package.json',
  ]);
  expect(names.filter((name) => /\.ts$|\.map$|test/.test(name))).toEqual([]);
});

it('tells nobody where it was built', () => {
  const code = join(installed, 'dist/code');
  const telling = readdirSync(code).filter((name) => readFileSync(join(code, name)).includes(`${root}/`));
  expect(telling).toEqual([]);
  const failed = spawnSync(
    process.execPath,
    [join(installed, 'dist/src/cli/main.js'), '--trace', '--timeout', '5', 'hi'],
    { cwd: place.workspace, env: { ...cliEnvironment(place) }, encoding: 'utf8' },
  );
  expect(failed.stderr).toMatch(/\n {4}at .*\(reins\/code\/start\.js:\d+:\d+\)\n/);
});

it('says its version without anything beside it', () => {
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string };
  expect(run(['--version'])).toBe(`reins ${version}\n`);
});

it('runs a chain in its worker, on SQLite, with a child process', () => {
  run(['init', 'scripted']);
  expect(run(['hello'])).toContain('(scripted demo) Hello. You said: hello');
  expect(run(['demo'])).toContain('the program that ran: ');
});

it('loads bcrypt from where it is installed', async () => {
  const bcrypt = createRequire(join(installed, 'package.json'))('bcrypt') as {
    hash(text: string, rounds: number): Promise<string>;
    compare(text: string, hash: string): Promise<boolean>;
  };
  expect(await bcrypt.compare('a password', await bcrypt.hash('a password', 4))).toBe(true);
});

it('runs from its text where its bytecode is of no use', () => {
  const code = join(installed, 'dist/code');
  const kept = readdirSync(code).filter((name) => name.endsWith('.bytecode'));
  expect(kept).toContain('start.js.bytecode');
  for (const name of kept) writeFileSync(join(code, name), 'made by another version');
  expect(run(['hello again'])).toContain('You said: hello again');
});
