import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createUserSettings } from '../../src/registry/user-settings.ts';
import {
  findDocument,
  identityOf,
  layersOf,
  readDocument,
  removeLeftovers,
  writeAtomic,
} from '../../src/workspace/files.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
const uid = process.getuid?.() ?? 0;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const put = (name: string, text: string, mode = 0o644): string => {
  const path = join(temp.workspace, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};
const fault = (path: string, place: 'project' | 'user' | 'file' = 'file') => {
  const read = readDocument(path, place, uid);
  return read.ok ? null : [read.fault, read.message];
};

describe('reading a document', () => {
  it('gives bytes, the hash of exactly these bytes, and the identity of the file', () => {
    const path = put('a.json', 'abc');
    expect(readDocument(path, 'project', uid)).toEqual({
      ok: true,
      path,
      bytes: new Uint8Array([97, 98, 99]),
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      identity: identityOf(path),
      warnings: [],
    });
  });

  it('says missing, and says unreadable for a directory, a FIFO and a device without waiting', () => {
    expect(fault(join(temp.workspace, 'none'))).toEqual(['missing', 'there is no such file']);
    mkdirSync(join(temp.workspace, 'dir'));
    expect(fault(join(temp.workspace, 'dir'))).toEqual(['unreadable', 'it is a directory']);
    execFileSync('mkfifo', [join(temp.workspace, 'fifo')]);
    expect(fault(join(temp.workspace, 'fifo'))).toEqual(['unreadable', 'it is not a regular file']);
    expect(fault('/dev/zero')).toEqual(['unreadable', 'it is not a regular file']);
  });

  it('refuses more than 1 MiB and takes exactly that', () => {
    expect(readDocument(put('fits.json', 'x'.repeat(1024 * 1024)), 'file', uid)).toMatchObject({ ok: true });
    expect(fault(put('big.json', 'x'.repeat(1024 * 1024 + 1)))).toEqual(['too_large', 'it is larger than 1 MiB']);
  });

  it('refuses a file that everybody may write, and only warns of its group', () => {
    expect(fault(put('a.json', '{}', 0o666))).toEqual(['unsafe_permissions', 'every user may write to it (chmod o-w)']);
    const path = put('b.json', '{}', 0o664);
    expect(readDocument(path, 'file', uid)).toMatchObject({
      ok: true,
      warnings: [`The file ${path} can be written by its group.`],
    });
    expect(readDocument(put('c.json', '{}', 0o666), 'file', null)).toMatchObject({ ok: true, warnings: [] });
  });

  it('refuses a file of another user', () => {
    const path = put('a.json', '{}');
    const read = readDocument(path, 'file', uid + 1);
    // Root's own files are taken from every user.
    expect(read.ok ? statSync(path).uid : read.fault).toBe(uid === 0 ? 0 : 'unsafe_permissions');
  });

  it('refuses a file in a directory that everybody may write, unless the directory is sticky', () => {
    const path = put('a.json', '{}');
    chmodSync(temp.workspace, 0o777);
    expect(fault(path)?.[0]).toBe('unsafe_permissions');
    chmodSync(temp.workspace, 0o1777);
    expect(fault(path)).toBeNull();
    chmodSync(temp.workspace, 0o755);
  });

  it('follows a link that the user made, but none of a project', () => {
    const link = join(temp.workspace, 'link.json');
    symlinkSync(put('a.json', '{}'), link);
    expect(readDocument(link, 'user', uid)).toMatchObject({ ok: true });
    expect(fault(link, 'project')).toEqual(['unsafe_permissions', 'it is a symbolic link']);
    const circle = join(temp.workspace, 'circle.json');
    symlinkSync('circle.json', circle);
    expect(fault(circle, 'user')).toEqual(['unreadable', 'it cannot be opened: too many symbolic links encountered']);
  });

  it('has another identity after an edit, a replacement and a deletion', () => {
    const path = put('a.json', 'one');
    const first = identityOf(path);
    writeFileSync(path, 'two');
    const second = identityOf(path);
    writeAtomic(path, 'two', 0o644);
    const third = identityOf(path);
    renameSync(path, `${path}.away`);
    expect(new Set([first, second, third, identityOf(path)]).size).toBe(4);
    expect(identityOf(path)).toBe('');
  });
});

describe('writing a file of ours', () => {
  it('creates or replaces it with its final mode whatever the umask, and leaves no temporary', () => {
    const path = join(temp.workspace, 'a');
    const umask = process.umask(0o077);
    writeAtomic(path, 'one', 0o644);
    process.umask(0);
    writeAtomic(path, 'two', 0o600);
    process.umask(umask);
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(temp.workspace)).toEqual(['a']);
  });

  it('replaces a link by a file instead of writing through it', () => {
    const target = put('target', 'kept');
    const path = join(temp.workspace, 'link');
    symlinkSync(target, path);
    writeAtomic(path, 'new', 0o600);
    expect([readFileSync(target, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['kept', 'new']);
  });

  it('says where it cannot write', () => {
    const path = join(temp.workspace, 'none', 'a');
    expect(() => writeAtomic(path, '', 0o600)).toThrow(`The file ${path} cannot be written: no such file or directory`);
  });

  // Nobody may make a file there, not even root.
  it.skipIf(process.platform !== 'linux')(
    'says once that a place is not to be written to, which is no fault of the disk',
    () => {
      const said =
        /^The file \/sys\/config\.json cannot be written: (permission denied|operation not permitted|read-only file system)\.$/;
      const settings = createUserSettings({ reinsHome: '/sys' });
      for (const write of [() => writeAtomic('/sys/config.json', '', 0o600), () => settings.set('shell', '"true"')]) {
        expect(write).toThrow(
          expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(said) }),
        );
      }
    },
  );

  it('removes what dead writers left an hour ago, and nothing else', () => {
    const old = put('trust.json.tmp-0123456789ab', '');
    put('trust.json.tmp-ba9876543210', '');
    put('mine.tmp-notes', '');
    put('local.db', '');
    const now = Date.now();
    for (const name of readdirSync(temp.workspace)) {
      if (name !== 'trust.json.tmp-ba9876543210') {
        utimesSync(join(temp.workspace, name), now / 1000 - 4000, now / 1000 - 4000);
      }
    }
    removeLeftovers(temp.workspace, now);
    removeLeftovers(join(temp.workspace, 'none'), now);
    expect(existsSync(old)).toBe(false);
    expect(readdirSync(temp.workspace).sort()).toEqual(['local.db', 'mine.tmp-notes', 'trust.json.tmp-ba9876543210']);
  });
});

describe('the overlay', () => {
  it('finds a document in the project first, then in the user directory, whatever it is', () => {
    const dataDir = join(temp.workspace, '.reins');
    mkdirSync(dataDir);
    const layers = layersOf({ dataDir, home: temp.home });
    expect(findDocument(layers, 'a.json')).toBeNull();
    writeFileSync(join(temp.home, 'a.json'), '{}');
    expect(findDocument(layers, 'a.json')).toEqual({ place: 'user', path: join(temp.home, 'a.json') });
    symlinkSync('/nowhere', join(dataDir, 'a.json'));
    expect(findDocument(layers, 'a.json')).toEqual({ place: 'project', path: join(dataDir, 'a.json') });
    expect(findDocument(layers, '../../a.json')).toEqual({ place: 'project', path: join(dataDir, 'a.json') });
    expect(findDocument(layersOf({ dataDir: null, home: temp.home }), 'a.json')?.place).toBe('user');
  });
});
