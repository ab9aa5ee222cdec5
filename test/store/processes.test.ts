import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownerIsDead, processOwner } from '../../src/store/owner.ts';
import { machineKey } from '../../src/store/private-file.ts';
import { createSessions } from '../../src/store/sessions.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { bundle, databaseIn, openIn, removeBundles, tenant } from './open.ts';

let temp: TempHome;
const children: ChildProcess[] = [];
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  temp.remove();
});

afterAll(removeBundles);

/** Starts a program that has `store` and `sessions` at hand; its lines of standard output can be awaited. */
async function program(body: string) {
  const code = `
    import { openStore } from ${JSON.stringify(await bundle('src/store/store.ts'))};
    import { createSessions } from ${JSON.stringify(await bundle('src/store/sessions.ts'))};
    import { processOwner } from ${JSON.stringify(await bundle('src/store/owner.ts'))};
    import { machineKey } from ${JSON.stringify(await bundle('src/store/private-file.ts'))};
    const home = ${JSON.stringify(temp.home)};
    const open = () => openStore({ path: ${JSON.stringify(databaseIn(temp))}, mode: 'create', reinsHome: home, version: 't',
      now: Date.now, warn() {} });
    const message = (id, role) => ({ id, role, kind: 'message', payload: JSON.stringify({ id, role, content: id }),
      status: 'complete', run_id: null, error: null, tokens_in: null, tokens_out: null, created_at: 1 });
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: {},
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => String((await lines.next()).value),
    ended: once(child, 'exit'),
  };
}

describe('several processes', () => {
  it('create one database and one machine key together', async () => {
    const body = `const store = await open();
      store.sql.write('full', () => store.sql.run("INSERT INTO kv (key, value, updated_at) VALUES (?, '1', 1)", String(process.pid)));
      store.close();`;
    const programs = await Promise.all([0, 1, 2, 3, 4].map(() => program(body)));
    expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual(programs.map(() => [0, null]));
    const { sql, close } = await openIn(temp);
    expect(sql.get('SELECT count(*) AS n FROM kv')).toEqual({ n: 5 });
    expect(sql.get("SELECT count(*) AS n FROM meta WHERE key = 'instance_id'")).toEqual({ n: 1 });
    close();
  });

  it('append to one session without gaps', async () => {
    const store = await openIn(temp);
    const sessions = createSessions(store.sql, tenant);
    sessions.insert({ id: 's', name: 's', workspace: '/', created_at: 1, forked_from: null });
    const body = (who: string) => `const store = await open();
      const sessions = createSessions(store.sql, ${JSON.stringify(tenant)});
      for (let n = 0; n < 100; n += 1) sessions.appendMessage('s', message('${who}' + n, n % 2 ? 'assistant' : 'user'));
      store.close();`;
    const programs = [await program(body('a')), await program(body('b'))];
    await Promise.all(programs.map(({ ended }) => ended));
    const rows = sessions.messages('s', { tools: true });
    expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(rows.filter((row) => row.id.startsWith('a')).map((row) => row.id)).toEqual(
      Array.from({ length: 100 }, (_, index) => `a${index}`),
    );
    expect(sessions.byId('s')?.message_count).toBe(200);
    store.close();
  });

  it('lose what was not committed, and nothing else, when one is killed', async () => {
    const { child, ended } = await program(`const store = await open();
      const put = (key) => store.sql.run("INSERT INTO kv (key, value, updated_at) VALUES (?, '1', 1)", key);
      store.sql.write('full', () => put('committed'));
      store.sql.write('full', () => { put('open'); process.kill(process.pid, 'SIGKILL'); while (true); });`);
    await ended;
    expect(child.signalCode).toBe('SIGKILL');
    const { sql, close } = await openIn(temp);
    expect(sql.all('SELECT key FROM kv')).toEqual([{ key: 'committed' }]);
    expect(sql.get("SELECT value FROM meta WHERE key = 'clean_shutdown'")).toEqual({ value: '1' });
    close();
  });

  it('wait for a write that ends within the busy time', async () => {
    const holder = await program(`const store = await open();
      store.sql.write('full', () => { console.log('holding');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
        store.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('theirs', '1', 1)"); });
      store.close();`);
    const { sql, close } = await openIn(temp, { busyTimeoutMs: 5000 });
    expect(await holder.line()).toBe('holding');
    sql.write('full', () => sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('ours', '1', 1)"));
    expect(sql.all('SELECT key FROM kv ORDER BY key')).toEqual([{ key: 'ours' }, { key: 'theirs' }]);
    await holder.ended;
    close();
  });
});

describe('many writers', () => {
  it('are a queue: who has waited longer than the busy time still gets his turn', async () => {
    const writer = `const store = await open();
      const pause = new Int32Array(new SharedArrayBuffer(4));
      // Nobody flushes here: a slow disk is no queue that moves.
      for (let n = 0; n < 20; n += 1) store.sql.write('normal', () => {
        if (n === 0) console.log('writing');
        Atomics.wait(pause, 0, 0, 60);
        store.sql.run("INSERT INTO kv (key, value, updated_at) VALUES (?, '1', 1)", process.pid + ' ' + n);
      });
      store.close();`;
    const { sql, close } = await openIn(temp, { busyTimeoutMs: 20 });
    const writers = await Promise.all([0, 1, 2, 3].map(() => program(writer)));
    await Promise.race(writers.map(({ line }) => line()));
    for (let n = 0; n < 3; n += 1) {
      sql.write('normal', () => sql.run("INSERT INTO kv (key, value, updated_at) VALUES (?, '1', 1)", `mine ${n}`));
    }
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(writers.map(() => [0, null]));
    expect(sql.get('SELECT count(*) AS n FROM kv')).toEqual({ n: 83 });
    close();
  });
});

describe('an owner', () => {
  it('is host, boot, process, start and surface', () => {
    const words = processOwner('cli').split(' ');
    expect(words).toHaveLength(5);
    expect(words[0]).toBe(hostname());
    expect(words[2]).toBe(String(process.pid));
    expect(words[4]).toBe('cli');
  });

  it('is dead only when its process is gone for certain', async () => {
    const { line, ended, child } = await program("console.log(processOwner('cli')); process.stdin.resume();");
    const owner = await line();
    expect(ownerIsDead(owner)).toBe(false);
    child.stdin?.end();
    await ended;
    expect(ownerIsDead(owner)).toBe(true);
    const mine = processOwner('cli').split(' ');
    expect(ownerIsDead(mine.with(3, '1').join(' '))).toBe(true);
    expect(ownerIsDead(mine.with(1, 'another-boot').join(' '))).toBe(true);
    expect(ownerIsDead(mine.with(0, 'another-host').with(2, '999999999').join(' '))).toBe(false);
    expect(ownerIsDead(mine.with(3, '-').with(2, '999999999').join(' '))).toBe(false);
    expect(ownerIsDead('')).toBe(false);
  });
});

describe('the machine key', () => {
  it('is made once and read back the same', () => {
    expect(machineKey(temp.home, false)).toBeNull();
    const key = machineKey(temp.home, true);
    expect(key).toHaveLength(32);
    expect(machineKey(temp.home, true)).toEqual(key);
    expect(readFileSync(join(temp.home, 'machine.key'))).toEqual(Buffer.from(key ?? []));
  });

  it('is refused as a link, with another length, or readable by others', () => {
    const path = join(temp.home, 'machine.key');
    writeFileSync(path, 'short', { mode: 0o600 });
    expect(() => machineKey(temp.home, true)).toThrow(
      expect.objectContaining({
        message: `The file ${path} is not used: it does not hold 32 bytes.`,
        hints: [`mv ${path} ${path}.bak`],
      }),
    );
    writeFileSync(path, new Uint8Array(32));
    chmodSync(path, 0o604);
    expect(() => machineKey(temp.home, true)).toThrow('can be read or written by other users');
    symlinkSync(path, join(temp.dir, 'machine.key'));
    expect(() => machineKey(temp.dir, true)).toThrow(
      expect.objectContaining({
        message: `The file ${join(temp.dir, 'machine.key')} is not used: it is a symbolic link.`,
        hints: [`ls -ld ${join(temp.dir, 'machine.key')}`],
      }),
    );
  });
});
