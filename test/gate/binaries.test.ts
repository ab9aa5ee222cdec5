import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBinaries } from '../../src/gate/binaries.ts';
import hashBinary from '../../workers/hash-binary.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let path: string;
let hashed: string[];
beforeEach(() => {
  temp = tempHome();
  path = join(temp.dir, 'tool');
  put('one', 1_700_000_000);
  hashed = [];
});
afterEach(() => temp.remove());

function put(content: string, second: number): void {
  writeFileSync(path, content);
  utimesSync(path, second, second);
}
const sum = (content: string): string =>
  execFileSync('sha256sum', { input: content, encoding: 'utf8' }).split(' ')[0] ?? '';
const hash = (file: string) => {
  hashed.push(file);
  return hashBinary({ path: file });
};
/** Long after the file was made. */
const later = () => Date.now() + 60_000;

/** One call: what it sees first, and what after the digests were taken. */
async function look(binaries: ReturnType<typeof createBinaries>, file = path) {
  const view = binaries.view();
  const first = view.look(file, true);
  const asked = await view.hashAsked();
  const last = view.look(file, true);
  return { first: first.state, asked, last: last.state === 'read' ? last.sha256 : last.state };
}

describe('a digest', () => {
  it('is taken when it is first asked for, and kept', async () => {
    const binaries = createBinaries({ hash, now: later });
    expect(await look(binaries)).toEqual({ first: 'unhashed', asked: true, last: sum('one') });
    expect(await look(binaries)).toEqual({ first: 'read', asked: false, last: sum('one') });
    expect(hashed).toEqual([path]);
  });

  it('is taken again for another content of the same size and mtime', async () => {
    const binaries = createBinaries({ hash, now: later });
    await look(binaries);
    const { size, mtimeNs } = statSync(path, { bigint: true });
    put('two', 1_700_000_000);
    expect(statSync(path, { bigint: true })).toMatchObject({ size, mtimeNs });
    expect(await look(binaries)).toEqual({ first: 'unhashed', asked: true, last: sum('two') });
  });

  it('of a file that has just changed serves one call only', async () => {
    const binaries = createBinaries({ hash, now: Date.now });
    expect(await look(binaries)).toMatchObject({ last: sum('one') });
    expect(await look(binaries)).toMatchObject({ first: 'unhashed', last: sum('one') });
    const view = binaries.view();
    view.look(path, true);
    await view.hashAsked();
    expect(view.look(path, true)).toMatchObject({ state: 'read', young: true });
  });

  it('of a file from the future is not kept', async () => {
    const binaries = createBinaries({ hash, now: () => Date.now() - 60_000 });
    await look(binaries);
    expect(await look(binaries)).toMatchObject({ first: 'unhashed' });
  });

  it('is forgotten when 1,024 others were used since', async () => {
    const binaries = createBinaries({ hash, now: later });
    const many = Array.from({ length: 1024 }, (_, index) => join(temp.dir, 'many', String(index)));
    mkdirSync(join(temp.dir, 'many'));
    await look(binaries);
    for (const file of many) {
      writeFileSync(file, 'x');
      await look(binaries, file);
      if (file === many[0]) await look(binaries);
    }
    expect(await look(binaries)).toMatchObject({ first: 'read' });
    expect(await look(binaries, many[0])).toMatchObject({ first: 'unhashed' });
  });
});

describe('a look', () => {
  it('without a digest gives the beginning of the file and who may write it', () => {
    writeFileSync(path, `#!/bin/sh\n${'x'.repeat(1000)}`);
    chmodSync(path, 0o757);
    const view = createBinaries({ hash, now: later }).view();
    expect(view.look(path, false)).toMatchObject({
      state: 'read',
      head: `#!/bin/sh\n${'x'.repeat(246)}`,
      others_write: true,
      sha256: null,
    });
    expect(hashed).toEqual([]);
  });

  it('is taken where one call first asked for the file without it', async () => {
    const view = createBinaries({ hash, now: later }).view();
    view.look(path, false);
    expect(view.look(path, true)).toEqual({ state: 'unhashed' });
    expect(await view.hashAsked()).toBe(true);
    expect(view.look(path, true)).toMatchObject({ state: 'read', sha256: sum('one') });
  });

  it('says what cannot be read, and does not wait for a FIFO', async () => {
    const binaries = createBinaries({ hash, now: later });
    const fifo = join(temp.dir, 'fifo');
    execFileSync('mkfifo', [fifo]);
    expect(binaries.view().look(fifo, true)).toEqual({ state: 'unreadable', message: 'it is not a regular file' });
    expect(binaries.view().look(join(temp.dir, 'none'), true)).toEqual({ state: 'unreadable', message: 'ENOENT' });
    expect(await binaries.read(join(temp.dir, 'none'))).toEqual({ state: 'unreadable', message: 'ENOENT' });
  });

  it('stays with what one call saw first, and a lost thread leaves the file unreadable', async () => {
    const lost = createBinaries({ hash: () => Promise.reject(new Error('the thread is gone')), now: later });
    expect(await look(lost)).toEqual({ first: 'unhashed', asked: true, last: 'unreadable' });
    const view = createBinaries({ hash, now: later }).view();
    view.look(path, true);
    await view.hashAsked();
    put('two', 1_700_000_000);
    expect(view.look(path, true)).toMatchObject({ sha256: sum('one') });
  });

  it('finds a file unreadable that changes while it is hashed', async () => {
    const changing = createBinaries({
      hash: async (file) => {
        put('changed', 1_700_000_001);
        return hash(file);
      },
      now: later,
    });
    expect(await look(changing)).toMatchObject({ last: 'unreadable' });
  });
});
