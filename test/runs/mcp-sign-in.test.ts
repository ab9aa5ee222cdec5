import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';
import { nothingSaid } from './add-server.ts';
import { type FakeOauth, fakeOauth } from '../tools/mcp/fake-oauth.ts';

let app: ScriptedApp;
let fake: FakeOauth;
beforeEach(async () => {
  fake = await fakeOauth();
  app = await scriptedApp({ turns: [calls([call('cloud.echo', {})], { role: 'user' }), says('end')] });
  await app.client.addMcpServer({
    name: 'cloud',
    transport: null,
    command: null,
    args: [],
    cwd: null,
    url: fake.url,
    pin_command: false,
    headers: null,
    inject: null,
    env: null,
    auth_type: 'oauth',
    auth_env: null,
    auth_token: null,
    oauth_client_id: null,
    oauth_client_secret_env: null,
    oauth_scopes: null,
    connect_timeout_ms: null,
    call_timeout_ms: null,
  });
});
afterEach(async () => {
  await app.close();
  await fake.close();
});

/** What the operator's browser does with the page. */
const follow = async (url: string): Promise<number> => (await fetch(url)).status;
const signIn = async (browser: (url: string) => void = (url) => void follow(url)): Promise<void> =>
  app.client.signInMcpServer({ name: 'cloud' }, browser, new AbortController().signal);
const expire = (): void =>
  app.change(`UPDATE mcp_auth SET token = json_set(token, '$.expires_at', ${Date.now() + 30_000})`);

describe('signing in to a tool server', () => {
  it('registers a client, proves that the answer is its own, and connects with the token', async () => {
    const before = await app.client.checkMcpServer({ name: 'cloud' });
    expect(before).toMatchObject({ reachable: false, server: { state: 'needs_auth', signed_in: false } });
    let asked = new URL('http://x');
    await signIn((url) => {
      asked = new URL(url);
      void follow(url);
    });
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'client-1',
      code_challenge_method: 'S256',
      resource: fake.url,
      scope: 'tools',
    });
    expect(fake.registrations[0]).toMatchObject({
      redirect_uris: [asked.searchParams.get('redirect_uri')],
      token_endpoint_auth_method: 'none',
    });
    expect(fake.tokenRequests[0]).toMatchObject({ grant_type: 'authorization_code', resource: fake.url });
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true, tools: 1 });
  });

  it('finds its way where a page is all that is found, and a challenge of another scheme comes first', async () => {
    fake.hasPages = true;
    let asked = new URL('http://x');
    await signIn((url) => {
      asked = new URL(url);
      void follow(url);
    });
    // From the description that the challenge names; the rest is where it is by default.
    expect([asked.pathname, asked.searchParams.get('scope')]).toEqual(['/authorize', 'tools']);
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true, tools: 1 });
  });

  it('refuses an answer with another state, and takes the right one that follows', async () => {
    let wrong = 0;
    await signIn(async (url) => {
      const redirect = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      redirect.searchParams.set('code', 'stolen');
      redirect.searchParams.set('state', 'guessed');
      wrong = await follow(redirect.href);
      await follow(url);
    });
    expect(wrong).toBe(400);
    expect(fake.tokenRequests).toHaveLength(1);
  });

  it.each([
    ['offers no PKCE', { code_challenge_methods_supported: ['plain'] }, 'does not offer PKCE'],
    ['calls itself otherwise', { issuer: 'http://127.0.0.1:1' }, 'calls itself http://127.0.0.1:1'],
    ['is not encrypted', { token_endpoint: 'http://tokens.example/token' }, 'is not encrypted'],
    ['only looks like this machine', { token_endpoint: 'http://127.tokens.example/token' }, 'is not encrypted'],
  ])('is refused where the authorisation server %s', async (_what, change, message) => {
    Object.assign(fake.metadata, change);
    await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error', message: expect.stringContaining(message) });
    expect(fake.tokenRequests).toEqual([]);
  });

  it('asks nobody over a line that is not encrypted, and the server itself as it was registered', async () => {
    // Nothing is asked there: the name leads nowhere, and that would be the complaint.
    fake.issuer = 'http://sign-in.example';
    await expect(signIn()).rejects.toMatchObject({
      message: 'its sign-in is not encrypted (http://sign-in.example)',
    });
    fake.issuer = null;
    fake.describedAt = 'http://about.example/x';
    await expect(signIn()).rejects.toMatchObject({ message: 'its sign-in is not encrypted (http://about.example)' });
    expect(fake.tokenRequests).toEqual([]);
  });

  it('keeps nothing large of what it is told', async () => {
    fake.metadata['service_documentation'] = 'x'.repeat(1024 * 1024);
    await expect(signIn()).rejects.toMatchObject({
      message: 'an answer of its sign-in is larger than 1048576 bytes',
    });
  });

  it('takes no answer without the issuer that was promised in it, nor one with another', async () => {
    fake.metadata['authorization_response_iss_parameter_supported'] = true;
    await expect(signIn()).rejects.toMatchObject({ message: 'the answer names no issuer' });
    const named = (issuer: string) =>
      signIn(async (url) => {
        const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '');
        back.searchParams.set('iss', issuer);
        await follow(back.href);
      });
    await expect(named('https://evil.example')).rejects.toMatchObject({ message: 'the answer names another issuer' });
    await named(String(fake.metadata['issuer']));
    expect(fake.tokenRequests).toHaveLength(1);
  });

  it('does not wait for a server that says nothing, and ends at once when it is given up', async () => {
    app.change('UPDATE mcp_servers SET connect_timeout_ms = 1000');
    for (const path of ['/mcp', '/.well-known/oauth-authorization-server', '/token']) {
      fake.silentAt = path;
      await expect(signIn()).rejects.toMatchObject({
        code: 'mcp_error',
        message: '127.0.0.1 could not be reached: no answer within 1 s',
      });
    }
    app.change('UPDATE mcp_servers SET connect_timeout_ms = 300000');
    fake.silentAt = '/mcp';
    const stop = new AbortController();
    const given = app.client.signInMcpServer({ name: 'cloud' }, () => {}, stop.signal);
    stop.abort();
    await expect(given).rejects.toMatchObject({ code: 'mcp_error' });
  });

  it('ends with the words of a refusal', async () => {
    const refused = signIn(async (url) => {
      const { searchParams } = new URL(url);
      const redirect = new URL(searchParams.get('redirect_uri') ?? '');
      redirect.searchParams.set('error', 'access_denied');
      redirect.searchParams.set('state', searchParams.get('state') ?? '');
      await follow(redirect.href);
    });
    await expect(refused).rejects.toMatchObject({ message: 'the sign-in was refused (access_denied)' });
  });

  it('ends with the code of a refusal without words, and answers whoever asks for no page', async () => {
    const statuses: number[] = [];
    const refused = signIn(async (url) => {
      const { searchParams } = new URL(url);
      const redirect = new URL(searchParams.get('redirect_uri') ?? '');
      statuses.push(await follow(`${redirect.origin}//`));
      redirect.searchParams.set('code', 'made-up');
      redirect.searchParams.set('state', searchParams.get('state') ?? '');
      statuses.push(await follow(redirect.href));
    });
    await expect(refused).rejects.toMatchObject({ message: 'the server refuses the sign-in (invalid_grant)' });
    expect(statuses).toEqual([404, 200]);
  });

  it('is renewed before the token ends, once among several processes', async () => {
    await signIn();
    expire();
    const other = await app.open();
    const found = await Promise.all([
      app.client.checkMcpServer({ name: 'cloud' }),
      other.checkMcpServer({ name: 'cloud' }),
    ]);
    expect(found.map(({ reachable }) => reachable)).toEqual([true, true]);
    expect(fake.tokenRequests.filter(({ grant_type }) => grant_type === 'refresh_token')).toHaveLength(1);
  });

  it('is renewed when the server takes the token no longer', async () => {
    await signIn();
    fake.valid.clear();
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true });
    expect(fake.tokenRequests.map(({ grant_type }) => grant_type)).toEqual(['authorization_code', 'refresh_token']);
  });

  it('is needed again when the renewal is refused', async () => {
    await signIn();
    expire();
    fake.refusesRefresh = true;
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({
      reachable: false,
      server: { state: 'needs_auth' },
    });
  });

  it.each([
    [503, '{"error":"temporarily_unavailable"}'],
    [429, '{"error":"too_many_requests"}'],
    [502, '<html>bad gateway</html>'],
  ])('lasts until its end where it cannot be renewed just now (%i)', async (status, text) => {
    await signIn();
    expire();
    fake.answersToken = async () => [status, text];
    const [before] = app.rows('SELECT token FROM mcp_auth');
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true });
    expect(app.rows('SELECT token FROM mcp_auth')).toEqual([before]);
    app.change(`UPDATE mcp_auth SET token = json_set(token, '$.expires_at', ${Date.now() - 1})`);
    const own = await app.open();
    expect(await own.checkMcpServer({ name: 'cloud' })).toMatchObject({
      reachable: false,
      server: { state: 'failed' },
    });
    fake.answersToken = null;
    const later = await app.open();
    expect(await later.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true });
  });

  it('stays ended, or new, where somebody signs out or in while the old one is renewed', async () => {
    await signIn();
    expire();
    fake.answersToken = async () => {
      await app.client.signOutMcpServer({ name: 'cloud' });
      return null;
    };
    expect(await app.client.checkMcpServer({ name: 'cloud' })).toMatchObject({ server: { state: 'needs_auth' } });
    expect(app.rows('SELECT token FROM mcp_auth')).toEqual([{ token: null }]);

    fake.answersToken = null;
    await signIn();
    expire();
    fake.answersToken = async ({ grant_type }) => {
      if (grant_type !== 'refresh_token') return null;
      await signIn();
      return [400, '{"error":"invalid_grant"}'];
    };
    const other = await app.open();
    expect(await other.checkMcpServer({ name: 'cloud' })).toMatchObject({ reachable: true });
  });

  it('ends what was said of a server that nobody was signed in to', async () => {
    await app.client.checkMcpServer({ name: 'cloud' });
    await signIn();
    const other = await app.open();
    expect(await other.showMcpServer({ name: 'cloud' })).toMatchObject({ state: 'idle', last_error: null });
  });

  it('shows neither code nor proof where the server repeats them, nor an answer that may hold a token', async () => {
    const code = { value: '', proof: '' };
    fake.answersToken = async (given) => {
      Object.assign(code, { value: given['code'], proof: given['code_verifier'] });
      return [400, JSON.stringify({ error: 'invalid_grant', error_description: `${code.value} with ${code.proof}` })];
    };
    const masked = '•••(cloud.token) with •••(cloud.token)';
    await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error', message: masked });
    expect(code.value).not.toBe('');
    fake.answersToken = async () => [400, 'access_token=abcdefghijkl'];
    const status = 'its authorisation server answered with status 400';
    await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error', message: status });
    fake.answersToken = async () => [200, '{"token_type":"Bearer","refresh_token":"abcdefghijkl"}'];
    const form = 'it answered in a form that the protocol does not have';
    await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error', message: form });
  });

  it('is refused where the token could not be sent, which would be told in words that repeat it', async () => {
    fake.answersToken = async () => [200, JSON.stringify({ access_token: 'abcdefgh\nX-A: 1', token_type: 'Bearer' })];
    const message = 'the token that it gives cannot be sent: it is no line of plain text';
    await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error', message });
    // What an earlier version has kept, or an operator has registered.
    fake.answersToken = null;
    await signIn();
    app.change("UPDATE mcp_auth SET token = json_set(token, '$.access_token', 'abcdefgh' || char(10) || 'X-A: 1')");
    const shown = await app.client.checkMcpServer({ name: 'cloud' });
    expect(shown).toMatchObject({ reachable: false, reason: 'its token is not one line of plain text' });
  });

  it('that does not reach far enough is told so, with what it lacks', async () => {
    await signIn();
    fake.wants = 'tools files:write';
    const { run_id } = await app.start();
    const { result } = await app.seen(run_id, 'tool_call');
    expect(JSON.parse(String(result))).toEqual({
      ok: false,
      error: 'needs_auth',
      message:
        'The server "cloud" wants further rights; the operator grants them with reins mcp update cloud --oauth-scopes "tools files:write" and reins mcp auth cloud.',
    });
  });

  it('asks for other scopes as the client that was registered', async () => {
    const { transport: _t, command: _c, args: _a, cwd: _d, url: _u, pin_command: _p, ...unsaid } = nothingSaid;
    const update = (over: object) => app.client.updateMcpServer({ ...unsaid, name: 'cloud', ...over } as never);
    await update({ oauth_client_id: 'reins-at-acme' });
    await update({ oauth_scopes: 'tools files:write' });
    await untilFree(49152);
    let asked = new URL('http://x');
    await signIn((url) => {
      asked = new URL(url);
      void follow(url);
    });
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: 'reins-at-acme',
      scope: 'tools files:write',
    });
  });

  it('sends the secret of a registered client to no other authorisation server than the one it belongs to', async () => {
    const { transport: _t, command: _c, args: _a, cwd: _d, url: _u, pin_command: _p, ...unsaid } = nothingSaid;
    const update = (over: object) => app.client.updateMcpServer({ ...unsaid, name: 'cloud', ...over } as never);
    await update({ oauth_client_id: 'reins-at-acme' });
    await untilFree(49152);
    await signIn();
    const other = await fakeOauth();
    try {
      fake.issuer = new URL(other.url).origin;
      await untilFree(49152);
      await expect(signIn()).rejects.toMatchObject({
        code: 'mcp_error',
        message:
          `it names the authorisation server ${fake.issuer} now, and the client "reins-at-acme" belongs to ` +
          `${new URL(fake.url).origin}; where that is meant: reins mcp update cloud --oauth-client-id reins-at-acme`,
      });
      await app.client.signOutMcpServer({ name: 'cloud' });
      await expect(signIn()).rejects.toMatchObject({ code: 'mcp_error' });
      expect([fake.tokenRequests.length, other.tokenRequests]).toEqual([1, []]);
      await update({ oauth_client_id: 'reins-at-acme' });
      await signIn();
      expect(other.tokenRequests).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  it('is forgotten by signing out, and with the server', async () => {
    await signIn();
    expect(await app.client.signOutMcpServer({ name: 'cloud' })).toEqual({ signed_out: true });
    expect(await app.client.signOutMcpServer({ name: 'cloud' })).toEqual({ signed_out: false });
    await signIn();
    await app.client.removeMcpServer({ name: 'cloud' });
    expect(app.rows('SELECT * FROM mcp_auth')).toEqual([]);
  });

  it('leaves no token in what is shown or written down', async () => {
    await signIn();
    const { run_id } = await app.start();
    await app.client.awaitRun({ run_id, full: true });
    const token = [...fake.valid][0] ?? 'none';
    const shown = JSON.stringify([
      await app.client.showMcpServer({ name: 'cloud' }),
      await app.client.doctorBundle({ probe: false }),
      app.rows('SELECT * FROM events'),
      app.rows('SELECT * FROM audit'),
    ]);
    expect(shown).not.toContain(token);
  });
});

/** The fixed port of the answer lies where the system takes the own end of a connection from: it may have one just now. */
async function untilFree(port: number): Promise<void> {
  const isFree = () =>
    new Promise<boolean>((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
  while (!(await isFree())) await setTimeout(100);
}
