import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BeamProgram, startBeamProgram, withAccessToken } from '../support/beam-program.ts';
import { ownAddress } from '../support/own-address.ts';
import { startCli } from '../support/run-cli.ts';
import { addScript, createProject, tester, type World, writingTurns } from './world.ts';

const good = 'correct horse battery';
let world: World;
beforeAll(async () => {
  world = await createProject();
});
afterAll(() => world.remove());

const serve = (argv: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) =>
  startBeamProgram(world, argv, environment);
const stop = async ({ cli }: BeamProgram) => {
  // What is said after the ready line is said before anything else happens.
  await cli.saw('access token: ');
  cli.child.kill('SIGTERM');
  return cli.ended;
};
const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const login = async ({ url }: BeamProgram, password: string) => {
  const answer = await post(`${url}/api/login`, { email: 'admin', password });
  return { status: answer.status, token: ((await answer.json()) as { token?: string }).token };
};

describe('reins beam', () => {
  it('answers 503 and ends with exit 3 when its database is removed under it', async () => {
    const own = await createProject();
    const path = join(own.workspace, '.reins/local.db');
    const cli = startCli(own, ['beam', '--port', '0', '--json']);
    let ready = '';
    cli.child.stdout.on('data', (piece: string) => {
      ready += piece;
    });
    await cli.saw('\n', 'stdout');
    await cli.saw('access token: ');
    const { url } = JSON.parse(ready) as { url: string };
    const headers = {
      authorization: `Bearer ${readFileSync(join(own.home, '.reins/beam-token'), 'utf8').trim()}`,
      'content-type': 'application/json',
    };
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    const reply = await fetch(`${url}/api/sessions`, { method: 'POST', headers, body: '{"name":"lost"}' });
    const message = `The database ${path} was removed or moved while this process had it open, so nothing more is written: start it again.`;
    expect([reply.status, await reply.json()]).toEqual([
      503,
      { error: { message, type: 'api_error', code: 'database_damaged' } },
    ]);
    const { code, stderr } = await cli.ended;
    expect([code, stderr.split('\n').filter((line) => line.includes('was removed'))]).toEqual([
      3,
      [`reins: ${message}`],
    ]);
    own.remove();
  });

  it('says in one line that it is ready, and stops when it is told to', async () => {
    const server = await serve();
    expect(await (await fetch(`${server.url}/api/health`)).json()).toEqual({ status: 'ok' });
    const { code, stdout, stderr } = await stop(server);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toEqual({
      url: server.url,
      host: '127.0.0.1',
      port: server.port,
      pid: server.cli.child.pid,
      tenant_id: '00000000-0000-0000-0000-000000000001',
      database: join(world.workspace, '.reins/local.db'),
      token_file: join(world.home, '.reins/beam-token'),
      version: expect.any(String),
    });
    expect(stderr.split('\n').map((line) => line.split(/[ :]/)[0])).toEqual([
      'workspace',
      'policy',
      'no',
      'access',
      '1',
      '',
    ]);
    expect(stderr).not.toContain(readFileSync(join(world.home, '.reins/beam-token'), 'utf8').trim());
    expect(statSync(join(world.home, '.reins/beam-token')).mode & 0o777).toBe(0o600);
  });

  it('tells of the policy that governs what it runs', async () => {
    const policy = JSON.stringify({ default_action: 'deny', rules: [{ tools: 'nosuch', action: 'allow' }] });
    const path = world.write('.reins/hitl-policy-narrow.json', policy);
    const sha256 = createHash('sha256').update(policy).digest('hex');
    expect((await world.run(['trust', 'add', path, '--sha256', sha256])).code).toBe(0);
    world.write('.reins/hitl-policy-theirs.json', policy);
    const server = await serve(['--policy', 'narrow', '--print-link']);
    const token = readFileSync(join(world.home, '.reins/beam-token'), 'utf8').trim();
    const read = async (path: string) =>
      (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
    expect(await read('/api/setup-status')).toMatchObject({ hitlPolicyName: 'narrow' });
    // One that nobody trusts is not called broken: nothing was read in it.
    const { items } = (await read('/api/policies')) as { items: { name: string; [fact: string]: unknown }[] };
    const facts = items
      .filter(({ source }) => source === 'project')
      .map((one) => [one.name, one['valid'], one['trusted']]);
    expect(facts).toEqual([
      ['narrow', true, true],
      ['theirs', true, false],
    ]);
    const { stderr } = await stop(server);
    expect(stderr).toContain('\npolicy narrow (project, ');
  });

  it('is found by name on both loopback addresses, and by the variables that begin with its name', async () => {
    const server = await serve([], { PORT: '1', TOKEN: 'x', ADDR: '0.0.0.0', REINS_ADDR: 'localhost' });
    expect((await fetch(`http://localhost:${server.port}/api/health`)).status).toBe(200);
    await stop(server);
    const refused = await world.run(['beam'], { environment: { REINS_PORT: 'x' } });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('REINS_PORT')]);
    for (const flag of [['--input', 'x'], ['--raw'], ['--steps'], ['--think']]) {
      expect([flag, (await world.run(['beam', ...flag])).code]).toEqual([flag, 2]);
    }
  });

  it('HTTP-006: listens on other addresses only when everything is said', async () => {
    for (const host of ['0.0.0.0', '::', '*', '0x0', '::ffff:0.0.0.0', '192.0.2.7']) {
      const { code, stderr, stdout } = await world.run(['beam', '--host', host, '--port', '0']);
      expect([host, code, stdout]).toEqual([host, 3, '']);
      for (const word of ['--allow-remote', 'set-password', '--public-origin']) expect(stderr).toContain(word);
    }
    expect((await world.run(['beam', '--host', 'example.org'])).code).toBe(2);
  });

  it('tells who has its port', async () => {
    const server = await serve();
    const own = await world.run(['beam', '--port', String(server.port)]);
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining(`reins beam link --port ${server.port}`)]);
    const link = await world.run(['beam', 'link', '--port', String(server.port)]);
    const isLink = new RegExp(`^http://127.0.0.1:${server.port}/#code=[\\w-]{43}\\n$`);
    expect(link.stdout).toMatch(isLink);
    // Nobody has to remember on which port it was started.
    expect((await world.run(['beam', 'link'])).stdout).toMatch(isLink);
    await stop(server);
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const taken = await world.run(['beam', '--port', String(port)]);
    other.close();
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('another program has that port')]);
    expect((await world.run(['beam', 'link', '--port', '1'])).code).toBe(1);
  });

  it('believes no secret that is short, and no file that others can read', async () => {
    const refused = async (environment: Readonly<Record<string, string>>) => {
      const { code, stdout, stderr } = await world.run(['beam', '--port', '0'], { environment });
      expect([code, stdout]).toEqual([3, '']);
      return stderr;
    };
    const file = world.write('../secret', Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64url'));
    chmodSync(file, 0o644);
    expect(await refused({ REINS_JWT_SECRET: 'MDEyMzQ1Njc4OWFiY2RlZg' })).toContain('REINS_JWT_SECRET');
    expect(await refused({ REINS_JWT_SECRET: 'A'.repeat(64) })).toContain('REINS_JWT_SECRET');
    expect(await refused({ REINS_JWT_SECRET_FILE: file })).toContain(`chmod 600 ${file}`);
    expect(await refused({ REINS_BEAM_TOKEN: 'short' })).toContain('REINS_BEAM_TOKEN');
    const token = join(world.home, '.reins/beam-token');
    chmodSync(token, 0o644);
    expect(await refused({})).toContain(`chmod 600 ${token}`);
    renameSync(token, `${token}.real`);
    symlinkSync(`${token}.real`, token);
    expect(await refused({})).toContain('symbolic link');
    renameSync(`${token}.real`, token);
    chmodSync(token, 0o600);
    chmodSync(file, 0o600);
    const server = await serve([], { REINS_JWT_SECRET_FILE: file });
    expect((await login(server, 'admin')).status).toBe(200);
    await stop(server);
  });

  it('uses a certificate only with a key that fits and that nobody else reads', async () => {
    const cert = world.write('../cert.pem', 'no certificate');
    const key = world.write('../key.pem', 'no key');
    const refused = async (...flags: string[]) => {
      const { code, stderr } = await world.run(['beam', '--port', '0', ...flags]);
      return [code, stderr.split('\n')[0]];
    };
    chmodSync(key, 0o644);
    expect(await refused('--tls-cert', cert)).toEqual([2, expect.stringContaining('belong together')]);
    expect(await refused('--tls-cert', cert, '--tls-key', key)).toEqual([3, expect.stringContaining('by other users')]);
    chmodSync(key, 0o600);
    expect(await refused('--tls-cert', cert, '--tls-key', key)).toEqual([3, expect.stringContaining('cannot be used')]);
    const environment = { REINS_TLS_CERT: cert, REINS_TLS_KEY: key };
    const { code, stderr } = await world.run(['beam', '--port', '0'], { environment });
    expect([code, stderr]).toEqual([3, expect.stringContaining('cannot be used')]);
  });

  it('answers to the names that a variable gives it', async () => {
    const server = await serve([], { REINS_PUBLIC_ORIGIN: 'https://reins.test,https://other.test' });
    const asked = (host: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port: server.port, path: '/api/health', headers: { host } });
        sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
        sent.on('error', reject).end();
      });
    expect([await asked('reins.test'), await asked('other.test'), await asked('third.test')]).toEqual([200, 200, 421]);
    await stop(server);
  });

  it('goes on with a run that was answered and not told of it when the server was killed, and with no other one', async () => {
    await addScript(world, writingTurns);
    const policy = world.write('../approve.json', JSON.stringify({ default_action: 'approve', rules: [] }));
    const flags = [...tester, '--policy', policy, '--print-link'];
    const killed = await serve(flags, { REINS_FAIL_POINT: 'after verdict' });
    const link = { code: killed.login_url?.split('#code=')[1] };
    const [cookie = ''] = (await post(`${killed.url}/api/auth/link`, link)).headers.getSetCookie();
    const headers = { authorization: `Bearer ${cookie.split(/[=;]/)[1]}`, 'content-type': 'application/json' };
    type Reply = {
      readonly status?: string;
      readonly run_id: string;
      readonly waiting_on?: string;
      readonly binding?: string;
    };
    const ask = async (url: string, body?: object): Promise<Reply> =>
      (
        await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      ).json() as Promise<Reply>;
    const begun = async () => {
      const { run_id } = await ask(`${killed.url}/api/runs`, { input: 'go' });
      const run = `/api/runs/${run_id}`;
      await expect.poll(async () => (await ask(`${killed.url}${run}`)).status).toBe('waiting');
      return { run, waits: (await ask(`${killed.url}${run}`)).waiting_on };
    };
    const [answered, other] = [await begun(), await begun()];
    const { binding } = await ask(`${killed.url}/api/approvals/${answered.waits}`);
    const answer = ask(`${killed.url}/api/approvals/${answered.waits}/answer`, { outcome: 'approve', binding });
    await expect(answer).rejects.toThrow();
    expect((await killed.cli.ended).signal).toBe('SIGKILL');
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
    const again = await serve(flags);
    await expect.poll(async () => (await ask(`${again.url}${answered.run}`)).status).toBe('completed');
    expect(readFileSync(join(world.workspace, 'new.txt'), 'utf8')).toBe('hello\n');
    expect(await ask(`${again.url}${other.run}`)).toMatchObject({ status: 'interrupted', waiting_on: other.waits });
    expect((await stop(again)).stderr).toContain('\ninterrupted: ');
    // As one that made room for the next turn of its session.
    const database = new Database(join(world.workspace, '.reins/local.db'));
    database.exec("UPDATE runs SET ended_at = 1 WHERE status = 'interrupted'");
    database.close();
    expect((await stop(await serve())).stderr).not.toContain('interrupted');
  });

  it('says of the set-up what doctor says of it', async () => {
    const server = await serve();
    const { code, stdout } = await world.run(['doctor', '--json']);
    const answer = await fetch(`${server.url}/api/setup-status/refresh`, {
      method: 'POST',
      headers: withAccessToken(world),
      body: '{}',
    });
    // When it was looked at, and how long that took, differ.
    const steady = (_key: string, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { ...value, checkedAt: null, latencyMs: null }
        : value;
    const [told, served] = [stdout, await answer.text()].map((text) => JSON.parse(text, steady));
    expect([code, answer.status, served.ready]).toEqual([0, 200, true]);
    expect(told).toEqual({ ...told, ...served });
    const read = await fetch(`${server.url}/api/setup-status`, { headers: withAccessToken(world) });
    expect(JSON.parse(await read.text(), steady)).toEqual(served);
    await stop(server);
  });

  it('does nothing for what a tool has started', async () => {
    const environment = { REINS_RUN_ID: 'run_x' };
    for (const words of [
      [],
      ['link'],
      ['reset-password', '--yes'],
      ['set-password', '--stdin'],
      ['rotate-secret'],
      ['token', 'show', '--yes'],
      ['sessions', 'list'],
    ]) {
      expect([words, (await world.run(['beam', ...words], { environment })).code]).toEqual([words, 5]);
    }
    expect((await world.run(['beam', 'status', '--json'], { environment })).code).toBe(0);
  });
});

describe('the credentials on the command line', () => {
  it('are seen by a running server', async () => {
    const server = await serve(['--print-link']);
    const opened = await post(`${server.url}/api/auth/link`, { code: server.login_url?.split('#code=')[1] });
    expect(opened.status).toBe(200);
    expect((await login(server, 'admin')).status).toBe(200);
    const status = async () => JSON.parse((await world.run(['beam', 'status', '--json'])).stdout);
    expect(await status()).toEqual({
      password_set: false,
      epoch: 0,
      default_login_in_force: true,
      live_sessions: expect.any(Number),
      failed_logins_24h: 0,
      token_file: join(world.home, '.reins/beam-token'),
      token_file_state: 'private',
      secret_source: 'database',
    });

    const weak = await world.run(['beam', 'set-password', '--stdin'], { stdin: 'short\n' });
    expect([weak.code, weak.stderr]).toEqual([1, expect.stringContaining('12 characters')]);
    expect((await world.run(['beam', 'set-password'])).code).toBe(2);
    expect((await world.run(['beam', 'set-password', '--stdin'], { stdin: `${good}\n` })).code).toBe(0);
    expect((await login(server, 'admin')).status).toBe(401);
    const { token } = await login(server, good);
    const me = () => fetch(`${server.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    expect((await me()).status).toBe(200);

    const wrong = await world.run(['beam', 'set-password', '--stdin'], { stdin: `not ${good}\n${good} 2\n` });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('current password is wrong')]);
    expect((await world.run(['beam', 'set-password', '--stdin'], { stdin: `${good}\n${good} 2\n` })).code).toBe(0);
    expect((await me()).status).toBe(401);
    expect((await world.run(['beam', 'set-password', '--stdin', '--force'], { stdin: `${good} 3\n` })).code).toBe(0);
    const audited = await world.run(['audit', 'list', '--json']);
    expect(audited.stdout).toContain('credential_reset');
    expect(audited.stdout).not.toContain(good);

    expect((await login(server, `${good} 3`)).status).toBe(200);
    const listed = JSON.parse((await world.run(['beam', 'sessions', 'list', '--json'])).stdout) as { id: string }[];
    expect(listed).toHaveLength(1);
    expect((await world.run(['beam', 'sessions', 'revoke', listed[0]?.id ?? ''])).code).toBe(0);
    expect((await world.run(['beam', 'sessions', 'revoke', listed[0]?.id ?? ''])).code).toBe(1);
    expect((await world.run(['beam', 'sessions', 'revoke'])).code).toBe(2);
    expect((await world.run(['beam', 'rotate-secret'])).code).toBe(0);
    const kept = await world.run(['beam', 'rotate-secret'], { environment: { REINS_JWT_SECRET: 'x' } });
    expect([kept.code, kept.stderr]).toEqual([3, expect.stringContaining('REINS_JWT_SECRET')]);

    expect((await world.run(['beam', 'token', 'show'])).code).toBe(2);
    const shown = async () => (await world.run(['beam', 'token', 'show', '--yes'])).stdout.trim();
    const before = await shown();
    expect(before).toMatch(/^rbt_[\w-]{43}$/);
    expect((await world.run(['beam', 'token', 'rotate'])).code).toBe(0);
    expect(await shown()).not.toBe(before);

    expect((await world.run(['beam', 'reset-password'])).code).toBe(2);
    expect((await world.run(['beam', 'reset-password', '--yes'])).code).toBe(0);
    expect((await login(server, 'admin')).status).toBe(200);
    const { stderr } = await stop(server);
    expect(stderr).toMatch(/open this once within 10 minutes: http:\/\/127\.0\.0\.1:\d+\/#code=/);
    expect(stderr).not.toContain(good);
  });

  it('HTTP-015: leave nothing of a page that opened the browser, and the code in no list of processes', async () => {
    const bin = join(world.dir, 'bin');
    const opened = join(world.dir, 'opened');
    world.write(
      '../bin/xdg-open',
      `#!/bin/sh\nstat -c %a "$(echo "$1" | sed s,file://,,)" > ${opened}.mode\ncp "$(echo "$1" | sed s,file://,,)" ${opened}.tmp\nmv ${opened}.tmp ${opened}\n`,
    );
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const server = await serve(['--open'], { PATH: `${bin}:${process.env['PATH']}` });
    while (!existsSync(opened)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(readFileSync(opened, 'utf8')).toMatch(/#code=[\w-]{43}"/);
    expect(readFileSync(`${opened}.mode`, 'utf8').trim()).toBe('600');
    const { stderr } = await stop(server);
    expect(stderr).not.toContain('#code=');
    expect(readdirSync(join(world.workspace, '.reins')).filter((name) => name.startsWith('open-'))).toEqual([]);
  });

  it.skipIf(ownAddress === undefined)(
    'let in by a link where the server has an address of the network alone',
    async () => {
      expect((await world.run(['beam', 'set-password', '--stdin'], { stdin: `${good}\n` })).code).toBe(0);
      const beyond = ['--host', String(ownAddress), '--allow-remote', '--public-origin', 'https://reins.test'];
      const server = await serve([...beyond, '--print-link']);
      const { stdout } = await world.run(['beam', 'link', '--port', String(server.port)]);
      for (const link of [server.login_url ?? '', stdout.trim()]) {
        const [origin, code] = link.split('/#code=');
        expect(origin).toBe(`http://${ownAddress}:${server.port}`);
        expect((await post(`${origin}/api/auth/link`, { code })).status).toBe(200);
      }
      await stop(server);
      expect((await world.run(['beam', 'reset-password', '--yes'])).code).toBe(0);
    },
  );

  it('HTTP-006: lets a server beyond this machine say what can be read, and hand out a link that is good here', async () => {
    expect((await world.run(['beam', 'set-password', '--stdin'], { stdin: `${good}\n` })).code).toBe(0);
    const beyond = ['--host', '0.0.0.0', '--allow-remote', '--public-origin', 'http://reins.test:8787'];
    const server = await serve([...beyond, '--print-link']);
    const [origin, code] = server.login_url?.split('/#code=') ?? [];
    expect(origin).toBe(`http://127.0.0.1:${server.port}`);
    expect((await post(`${origin}/api/auth/link`, { code })).status).toBe(200);
    const { code: ended, stderr } = await stop(server);
    expect([ended, stderr]).toEqual([0, expect.stringContaining('can be read on the network')]);
    expect((await world.run(['beam', 'reset-password', '--yes'])).code).toBe(0);
  });
});
