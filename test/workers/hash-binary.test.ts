import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import hashBinary from '../../workers/hash-binary.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

it('hashes a file of several blocks and says which file that was', async () => {
  const path = join(temp.workspace, 'program');
  writeFileSync(path, Buffer.alloc(3 * 1024 * 1024 + 7, 'a'));
  const stat = statSync(path, { bigint: true });
  const [sha256] = execFileSync('sha256sum', [path], { encoding: 'utf8' }).split(' ');
  expect(await hashBinary({ path })).toEqual({
    kind: 'hash',
    sha256,
    dev: String(stat.dev),
    ino: String(stat.ino),
    size: '3145735',
    mtime_ns: String(stat.mtimeNs),
    ctime_ns: String(stat.ctimeNs),
  });
});

it('hashes an empty file', async () => {
  const path = join(temp.workspace, 'empty');
  writeFileSync(path, '');
  expect(await hashBinary({ path })).toMatchObject({
    sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    size: '0',
  });
});

it('says why a file cannot be hashed, and does not wait for a FIFO', async () => {
  const missing = join(temp.workspace, 'missing');
  expect(await hashBinary({ path: missing })).toEqual({
    kind: 'unreadable',
    message: `${missing} could not be read: ENOENT`,
  });
  const fifo = join(temp.workspace, 'fifo');
  execFileSync('mkfifo', [fifo]);
  expect(await hashBinary({ path: fifo })).toEqual({ kind: 'unreadable', message: `${fifo} is not a regular file` });
  const directory = join(temp.workspace, 'dir');
  mkdirSync(directory);
  expect(await hashBinary({ path: directory })).toMatchObject({ kind: 'unreadable' });
});
