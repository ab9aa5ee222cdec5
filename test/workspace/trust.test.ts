import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processOwner } from '../../src/store/owner.ts';
import { createTrust, type TrustSubject } from '../../src/workspace/trust.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let now: number;
beforeEach(() => {
  temp = tempHome();
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
});
afterEach(() => temp.remove());

const uid = process.getuid?.() ?? 0;
const trustIn = (home = temp.home) => createTrust({ home, uid, now: () => now });
const file = (): string => join(temp.home, 'trust.json');
const subject = (rest: Partial<TrustSubject> = {}): TrustSubject => ({
  kind: 'chain',
  root: temp.workspace,
  path: join(temp.workspace, '.reins', 'default-run-chain.json'),
  sha256: 'a'.repeat(64),
  ...rest,
});

describe('trust', () => {
  it('is written down as one private object per decision and found again by another process', async () => {
    await trustIn().add([subject()], 'init');
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual([
      {
        kind: 'chain',
        root: temp.workspace,
        path: '.reins/default-run-chain.json',
        sha256: 'a'.repeat(64),
        trustedAt: '2026-01-02T03:04:05.000Z',
        by: 'init',
      },
    ]);
    expect((statSync(file()).mode & 0o777).toString(8)).toBe('600');
    expect(trustIn().isTrusted(subject())).toBe(true);
    expect(readdirSync(temp.home)).toEqual(['trust.json']);
  });

  it('binds to kind, root, path and content', async () => {
    const trust = trustIn();
    await trust.add([subject()], 'command');
    const others: Partial<TrustSubject>[] = [
      { kind: 'policy' },
      { root: temp.dir },
      { path: join(temp.workspace, '.reins', 'renamed.json') },
      { sha256: 'b'.repeat(64) },
    ];
    expect(others.map((other) => trust.isTrusted(subject(other)))).toEqual([false, false, false, false]);
  });

  it('accepts the hashes of one invocation without writing them down', () => {
    const trust = trustIn();
    expect(trust.isTrusted(subject(), ['A'.repeat(64)])).toBe(true);
    expect(trust.isTrusted(subject(), ['b'.repeat(64)])).toBe(false);
    expect(readdirSync(temp.home)).toEqual([]);
  });

  it('keeps each decision once, several versions beside each other, and lets go of them by path or hash', async () => {
    const trust = trustIn();
    await trust.add([subject(), subject({ sha256: 'b'.repeat(64) })], 'init');
    await trust.add([subject(), subject({ kind: 'policy', path: join(temp.workspace, '.reins', 'p.json') })], 'prompt');
    expect(trust.list().map((entry) => [entry.kind, entry.sha256[0], entry.by])).toEqual([
      ['chain', 'a', 'init'],
      ['chain', 'b', 'init'],
      ['policy', 'a', 'prompt'],
    ]);
    expect((await trust.remove({ path: subject().path })).map(({ sha256 }) => sha256[0])).toEqual(['a', 'b']);
    expect(await trust.remove({ sha256: 'A'.repeat(64) })).toMatchObject([{ kind: 'policy', path: '.reins/p.json' }]);
    expect(await trust.remove({ sha256: 'a'.repeat(64) })).toEqual([]);
    expect(trust.list()).toEqual([]);
  });

  it('sees what another process has decided', async () => {
    const trust = trustIn();
    expect(trust.isTrusted(subject())).toBe(false);
    await trustIn().add([subject()], 'command');
    expect(trust.isTrusted(subject())).toBe(true);
  });

  it('makes the user-level directory when it is missing', async () => {
    const home = join(temp.dir, 'new', 'home');
    await trustIn(home).add([subject()], 'init');
    expect((statSync(home).mode & 0o777).toString(8)).toBe('700');
  });

  it('keeps all decisions of writers at the same time', async () => {
    const hashes = Array.from({ length: 8 }, (_, index) => String(index).repeat(64));
    await Promise.all(hashes.map((sha256) => trustIn().add([subject({ sha256 })], 'command')));
    expect(
      trustIn()
        .list()
        .map((entry) => entry.sha256)
        .sort(),
    ).toEqual(hashes);
    expect(readdirSync(temp.home)).toEqual(['trust.json']);
  });

  it('drops the oldest decision after 10,000', async () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => ({
      kind: 'chain',
      root: temp.workspace,
      path: `.reins/${index}.json`,
      sha256: 'c'.repeat(64),
      trustedAt: '2026-01-01T00:00:00.000Z',
      by: 'command',
    }));
    writeFileSync(file(), JSON.stringify(entries), { mode: 0o600 });
    const trust = trustIn();
    await trust.add([subject()], 'command');
    expect(trust.list()).toHaveLength(10_000);
    expect(trust.list()[0]?.path).toBe('.reins/1.json');
    expect(trust.isTrusted(subject())).toBe(true);
  });

  it('drops what nothing uses any more before what is used, however old', async () => {
    const used = subject();
    mkdirSync(dirname(used.path), { recursive: true });
    writeFileSync(used.path, 'x');
    const trust = trustIn();
    await trust.add([used], 'command');
    const [first] = trust.list();
    const gone = Array.from({ length: 9_999 }, (_, index) => ({ ...first, path: `.reins/gone-${index}.json` }));
    writeFileSync(file(), JSON.stringify([first, ...gone]), { mode: 0o600 });
    const firstPaths = () =>
      trust
        .list()
        .slice(0, 2)
        .map(({ path }) => path);
    await trust.add([{ ...used, path: file() }], 'command');
    expect(firstPaths()).toEqual(['.reins/default-run-chain.json', '.reins/gone-1.json']);
    // Another content at the same place: the decision about the one before is used no more.
    await trust.add([{ ...used, sha256: 'd'.repeat(64) }], 'command');
    expect(firstPaths()).toEqual(['.reins/gone-1.json', '.reins/gone-2.json']);
    expect(trust.list()).toHaveLength(10_000);
  });

  it('takes over the lock of a process that is gone, and refuses one that is held', async () => {
    const gone = processOwner('trust').split(' ').with(2, '999999999').join(' ');
    writeFileSync(`${file()}.lock`, `${gone} 00000000`);
    await trustIn().add([subject()], 'command');
    expect(trustIn().isTrusted(subject())).toBe(true);

    writeFileSync(`${file()}.lock`, `${processOwner('trust')} 00000000`);
    now = statSync(`${file()}.lock`).mtimeMs;
    let calls = 0;
    const hurried = createTrust({ home: temp.home, uid, now: () => now + (calls++ === 0 ? 0 : 5000) });
    await expect(hurried.add([subject({ sha256: 'b'.repeat(64) })], 'command')).rejects.toMatchObject({
      code: 'in_use',
    });
    expect(trustIn().list()).toHaveLength(1);
  });

  it.each([
    ['a directory', () => mkdirSync(`${file()}.lock`)],
    ['a link that leads nowhere', () => symlinkSync('nowhere', `${file()}.lock`)],
  ])('says so at once where its lock is %s, which no process takes away', async (_what, plant) => {
    plant();
    await expect(trustIn().add([subject()], 'command')).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The file ${file()}.lock cannot be locked: it is not a regular file.`,
      hints: [`ls -ld ${file()}.lock`],
    });
    expect(readdirSync(temp.home)).toEqual(['trust.json.lock']);
  });
});

describe('a list of decisions that may not be believed', () => {
  it.each([
    [
      'is a symbolic link',
      () => {
        writeFileSync(join(temp.dir, 'real'), '[]', { mode: 0o600 });
        symlinkSync(join(temp.dir, 'real'), file());
      },
    ],
    ['is not a regular file', () => mkdirSync(file())],
    [
      'can be read or written by other users',
      () => {
        writeFileSync(file(), '[]');
        chmodSync(file(), 0o644);
      },
    ],
    ['is not JSON at line 2, column 7', () => writeFileSync(file(), '[\n{"a":1', { mode: 0o600 })],
    ['is not a list of trust decisions', () => writeFileSync(file(), '{"a":1}', { mode: 0o600 })],
    [
      'is not a list of trust decisions: $[0].root is wrong or missing',
      () => writeFileSync(file(), '[{"kind":"chain"}]', { mode: 0o600 }),
    ],
    [
      'is not a list of trust decisions: $[0] is wrong or missing',
      () => writeFileSync(file(), '["chain"]', { mode: 0o600 }),
    ],
  ])('is refused, not taken as empty: it %s', async (why, plant) => {
    plant();
    const trust = trustIn();
    const message = `The file ${file()} is not used: it ${why}.`;
    expect(() => trust.isTrusted(subject())).toThrow(message);
    // And says what to do next.
    const hints = [expect.stringContaining(file())];
    await expect(trust.add([subject()], 'command')).rejects.toMatchObject({ code: 'config_invalid', message, hints });
  });

  it('names the line that mends its mode', () => {
    writeFileSync(file(), '[]');
    chmodSync(file(), 0o604);
    let error: unknown;
    try {
      trustIn().list();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'config_invalid', hints: [`chmod 600 ${file()}`] });
  });
});
