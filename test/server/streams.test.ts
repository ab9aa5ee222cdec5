import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpClient } from '../../src/client/http-client.ts';
import type { FeedEntry } from '../../src/schema/feed.ts';
import { call, calls, says } from '../support/scripted-app.ts';
import { startService } from '../support/service.ts';
import { type Served, served } from './served.ts';

const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ');
let server: Served;
beforeAll(async () => {
  server = await served({
    turns: [
      calls([call('local_fs.write_file', { path: 'a.txt', content: 'one\n' })], { role: 'user', last_user: 'write' }),
      says('It is written.', { role: 'tool' }),
      { match: {}, reply: { text: words, delay_ms: 1 } },
    ],
    policy: { default_action: 'allow', rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }] },
    streams: { perCredential: 250, all: 250, heartbeatMs: 50 },
  });
});
afterAll(() => server.close());

type Stream = { readonly text: Promise<string>; readonly status: number; close(): void };
async function open(path: string, headers: Readonly<Record<string, string>> = {}, until?: RegExp): Promise<Stream> {
  const abort = new AbortController();
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.token}`, accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const read = async (): Promise<string> => {
    let all = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      all += decoder.decode(piece, { stream: true });
      if (until?.test(all)) break;
    }
    return all;
  };
  return { status: response.status, text: read(), close: () => abort.abort() };
}
const idsOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test('two hundred watch one run, and each is told everything that is stored, once and in order', async () => {
  const id = await server.run({ input: 'talk' });
  const streams = await Promise.all(Array.from({ length: 200 }, () => open(`/api/runs/${id}/events`)));
  const texts = await Promise.all(streams.map((stream) => stream.text));
  const stored = (await server.client.pageRunEvents({ id })).items.map(({ seq }) => seq);
  for (const text of texts) {
    expect(idsOf(text)).toEqual(stored);
    expect(text.endsWith('event: end\ndata: {"status":"completed"}\n\n')).toBe(true);
  }
}, 60_000);

test('a run that has said much is told over one connection, as fast as its reader takes it', async () => {
  const id = await server.run({ input: 'talk' });
  await server.app.client.awaitRun({ run_id: id });
  // As much as thousands of calls leave.
  server.app.change(`UPDATE events SET data = json_set(data, '$.more', hex(zeroblob(500000))) WHERE run_id = '${id}'`);
  const stream = await open(`/api/runs/${id}/events`);
  const text = await stream.text;
  expect(text.length).toBeGreaterThan(8_000_000);
  expect(text).not.toContain('event: overflow');
  const { last_seq } = await server.client.getRun({ id });
  expect(idsOf(text)).toEqual(Array.from({ length: last_seq }, (_, index) => index + 1));
  expect(text.endsWith('event: end\ndata: {"status":"completed"}\n\n')).toBe(true);
});

test('a stream that is cut behind each of its events tells every one of them once', async () => {
  const id = await server.run({ input: 'talk' });
  const seen: number[] = [];
  let text = '';
  while (!text.includes('event: end')) {
    const from: Record<string, string> = seen.length === 0 ? {} : { 'last-event-id': String(seen.at(-1)) };
    const stream = await open(`/api/runs/${id}/events`, from, /^id: .*\n.*\ndata: .*\n\n/m);
    text = await stream.text;
    // What came behind the first one is lost on the way.
    seen.push(...idsOf(text).slice(0, 1));
    if (idsOf(text).length > 1) text = '';
    stream.close();
  }
  const stored = (await server.client.pageRunEvents({ id })).items.map(({ seq }) => seq);
  expect(seen).toEqual(stored);
});

test('a stream says that it is alive while nothing happens', async () => {
  const stream = await open('/api/events', {}, /: hb\n\n: hb\n\n/);
  expect(await stream.text).toContain('event: hello\ndata: {"pending_asks":0,');
});

test('a stream that was ended for its slow reader is read on at once, and nobody says that the line is lost', async () => {
  const id = await server.run({ input: 'talk' });
  await server.app.client.awaitRun({ run_id: id });
  const lines: string[] = [];
  const slow = 'retry: 1000\n\nevent: overflow\ndata: {}\n\n';
  const client = createHttpClient({
    base: server.url,
    headers: () => ({ authorization: `Bearer ${server.token}` }),
    connection: (state) => lines.push(state),
    // The first connection is ended before it has told anything.
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (lines.length > 0) return response;
      await response.body?.cancel();
      return new Response(slow, response);
    },
  });
  const { signal } = new AbortController();
  const seen: number[] = [];
  for await (const events of client.watch({ run_id: id, after: 0, signal })) seen.push(...events.map(({ seq }) => seq));
  const { last_seq } = await server.client.getRun({ id });
  expect(seen).toEqual(Array.from({ length: last_seq }, (_, index) => index + 1));
  expect(lines).toEqual(['open', 'open', 'over']);
});

test('a stream that falls silent without ending is read anew, behind what was heard of it', async () => {
  const lines: string[] = [];
  let asleep = false;
  const client = createHttpClient({
    base: server.url,
    headers: () => ({ authorization: `Bearer ${server.token}` }),
    connection: (state) => lines.push(state),
    silentMs: 1000,
    // The first connection is one that something on the way lets go of.
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (lines.length > 0) return response;
      const lossy = new TransformStream({ transform: (piece, out) => (asleep ? undefined : out.enqueue(piece)) });
      return new Response(response.body?.pipeThrough(lossy) ?? null, response);
    },
  });
  const end = new AbortController();
  const started: (string | undefined)[] = [];
  const { newest } = await server.app.client.feedRange({});
  const first = await server.run({ input: 'talk' });
  let second = '';
  for await (const entries of client.watchFeed({ after: newest, signal: end.signal })) {
    started.push(...entries.flatMap(({ kind, run_id }) => (kind === 'chain_started' ? [run_id] : [])));
    if (started.length === 1 && !asleep) {
      asleep = true;
      second = await server.run({ input: 'talk' });
    }
    if (started.length === 2) end.abort();
  }
  expect(started).toEqual([first, second]);
  expect(lines).toEqual(['open', 'lost', 'open', 'over']);
});

test('a run is followed on behind the next login, when the one that followed it has ended', async () => {
  const { app, url, client } = server;
  const { run_id: id } = await app.start({ input: { type: 'string', value: 'write' }, on_ask: 'suspend' });
  const first = server.login();
  let token = first;
  const follower = createHttpClient({
    base: url,
    headers: () => ({ authorization: `Bearer ${token}` }),
    // As the page does it: a request that is refused for its login waits for the next one.
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.status !== 401) return response;
      token = server.login();
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(input, { ...init, headers });
    },
  });
  const kinds: string[] = [];
  const after = async (seq: number): Promise<void> => {
    let last = seq;
    for await (const batch of follower.watch({ run_id: id, after: seq, signal: new AbortController().signal })) {
      last = Math.max(last, ...batch.map((event) => event.seq));
      kinds.push(...batch.map(({ kind }) => kind));
      if (kinds.at(-1) === 'chain_suspended') break;
    }
    if (kinds.at(-1) !== 'chain_suspended') return;
    // The stream goes on over the rest; the login ends while it does.
    const going = after(last);
    await expect.poll(() => ended(first)).toBe(true);
    const [ask] = (await client.pageApprovals({ run: id })).items;
    if (ask === undefined) throw new Error('no ask');
    // What is written would be there for the runs of the other tests.
    await client.answerApproval({ id: ask.id, binding: ask.binding, outcome: 'deny' });
    await going;
  };
  const ended = async (login: string): Promise<boolean> =>
    [204, 401].includes((await server.call('POST', '/api/auth/logout', { token: login })).status);
  await after(0);
  expect(kinds.at(-1)).toBe('chain_completed');
});

test('the feed tells of asks by topic, and goes on behind a cursor', async () => {
  const { newest } = await server.app.client.feedRange({});
  const approvals = await open('/api/events?topics=approvals', {}, /event: verdict\n[\s\S]*?\n\n/);
  const id = await server.run({ input: 'write' });
  const { ask_id } = await server.app.seen(id, 'ask');
  const { binding } = await server.client.getApproval({ id: ask_id });
  await server.client.answerApproval({ id: ask_id, outcome: 'deny', binding });
  const text = await approvals.text;
  const kinds = [...text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind);
  expect(kinds).toEqual(['hello', 'ask', 'verdict']);
  expect(text).not.toContain('"args"');
  const again = await open('/api/events?topics=approvals', { 'last-event-id': String(newest) }, /event: verdict/);
  expect(idsOf(await again.text)).toEqual(idsOf(text));

  const seen: FeedEntry[] = [];
  const abort = new AbortController();
  for await (const batch of server.client.watchFeed({ after: newest, signal: abort.signal })) {
    seen.push(...batch);
    if (seen.some(({ kind }) => kind === 'verdict')) abort.abort();
  }
  expect(seen[0]?.kind).toBe('chain_started');
  const wrong = await server.call('GET', '/api/events?topics=weather');
  expect(wrong.json).toMatchObject({ error: { code: 'invalid_parameter', param: 'topics' } });
});

test('the feed tells that a backend that served is not there any more, to whoever looks at the set-up', async () => {
  const engine = await startService();
  engine.answer((_arrived, response) => response.end('{"models":[]}'));
  const body = { name: 'engine', type: 'ollama', base_url: engine.url };
  expect((await server.call('POST', '/api/backends', { body })).status).toBe(201);
  const look = async () => (await server.call('POST', '/api/setup-status/refresh')).json['ready'];
  await look();
  const setup = await open('/api/events?topics=setup', {}, /event: setup_changed\n[\s\S]*?\n\n/);
  await look();
  await engine.close();
  const ready = await look();
  const text = await setup.text;
  expect(text.match(/^event: .*$/gm)).toEqual(['event: hello', 'event: setup_changed']);
  expect(JSON.parse(text.match(/^data: (.*"kind":"setup_changed".*)$/m)?.[1] ?? '{}')).toMatchObject({
    kind: 'setup_changed',
    data: { ready, issues: { error: expect.any(Number), warning: expect.any(Number), info: expect.any(Number) } },
  });
});

test('a stream ends with its run, whatever it was asked behind', async () => {
  const id = await server.run({ input: 'write' });
  const { ask_id } = await server.app.seen(id, 'ask');
  const { last_seq } = await server.client.getRun({ id });
  const late = await open(`/api/runs/${id}/events?after=${last_seq}`);
  await server.client.endRun({ id, reason: 'enough' });
  const text = await late.text;
  expect(idsOf(text)[0]).toBe(last_seq + 1);
  expect(text).toContain('event: chain_cancelled');
  expect(text.endsWith('event: end\ndata: {"status":"cancelled"}\n\n')).toBe(true);
  expect((await server.client.getApproval({ id: ask_id })).state).toBe('cancelled');
});

test('the stream of a run that was interrupted, and made room for the next turn, ends behind what it has told', async () => {
  const turn = (text: string) =>
    server.client.postMessage({ session: 'default', text, model: 'm', provider: 'scripted' });
  const { run_id: id } = await turn('write');
  await server.app.seen(id, 'ask');
  await server.app.client.stopRun({ run_id: id, reason: 'shutdown', within_ms: 0 });
  // As it is found when its process was killed.
  server.app.change(`UPDATE runs SET status = 'interrupted' WHERE id = '${id}'`);
  expect((await server.call('GET', `/api/runs/${id}/events`)).json).toMatchObject({ ended: false });
  await server.app.client.awaitRun({ run_id: (await turn('talk')).run_id });
  const { items, ended } = await server.client.pageRunEvents({ id });
  expect([items.at(-1)?.kind, ended]).toEqual(['verdict', true]);
  const text = await (await open(`/api/runs/${id}/events`)).text;
  expect(idsOf(text)).toEqual(items.map(({ seq }) => seq));
  expect(text.endsWith('event: end\ndata: {"status":"interrupted"}\n\n')).toBe(true);
  const behind = await (await open(`/api/runs/${id}/events?after=${items.length}`)).text;
  expect(behind).toBe('retry: 1000\n\nevent: end\ndata: {"status":"interrupted"}\n\n');
});

test('a stream that is open ends when its run makes room for the next turn, or is removed', async () => {
  const turn = (text: string) =>
    server.client.postMessage({ session: 'default', text, model: 'm', provider: 'scripted' });
  const { run_id: id } = await turn('write');
  await server.app.seen(id, 'ask');
  await server.app.client.stopRun({ run_id: id, reason: 'shutdown', within_ms: 0 });
  // As it is found when its process was killed.
  server.app.change(`UPDATE runs SET status = 'interrupted' WHERE id = '${id}'`);
  const waits = await open(`/api/runs/${id}/events`);
  await server.app.client.awaitRun({ run_id: (await turn('talk')).run_id });
  expect((await waits.text).endsWith('event: end\ndata: {"status":"interrupted"}\n\n')).toBe(true);

  const gone = await server.run({ input: 'write' });
  await server.app.seen(gone, 'ask');
  const last = await open(`/api/runs/${gone}/events`);
  server.app.change(`DELETE FROM events WHERE run_id = '${gone}'`);
  server.app.change(`DELETE FROM runs WHERE id = '${gone}'`);
  expect((await last.text).endsWith('event: end\ndata: {"status":"removed"}\n\n')).toBe(true);
});

test('a stream says which events were pruned: before, between and behind what is left', async () => {
  const id = await server.run({ input: 'write' });
  const { ask_id } = await server.app.seen(id, 'ask');
  await server.client.endRun({ id, reason: 'enough' });
  expect(ask_id).toBeDefined();
  await server.app.client.awaitRun({ run_id: id });
  const { last_seq } = await server.client.getRun({ id });
  expect(last_seq).toBeGreaterThan(6);
  const told = async (path: string) =>
    [
      ...(await (await open(`/api/runs/${id}/events${path}`)).text).matchAll(
        /^(?:id: (\d+)|event: gap\ndata: (.*))$/gm,
      ),
    ].map(([, seq, gap]) => (gap === undefined ? Number(seq) : JSON.parse(gap)));
  const all = Array.from({ length: last_seq }, (_, index) => index + 1);
  server.app.change(`DELETE FROM events WHERE run_id = '${id}' AND seq IN (1, 2, 4, 5)`);
  expect(await told('')).toEqual([{ from: 1, to: 2 }, 3, { from: 4, to: 5 }, ...all.slice(5)]);
  expect(await told('?after=2')).toEqual([3, { from: 4, to: 5 }, ...all.slice(5)]);
  expect(await told(`?after=${last_seq + 7}`)).toEqual([]);
  server.app.change(`DELETE FROM events WHERE run_id = '${id}'`);
  expect(await told('')).toEqual([{ from: 1, to: null }]);
  expect(await told('?after=4')).toEqual([{ from: 5, to: null }]);
});

test('HTTP-009: a changed password ends the streams of every other session, and not those of the caller', async () => {
  const one = await served({ turns: [], streams: { perCredential: 16, all: 64, heartbeatMs: 50 } });
  try {
    const other = one.login();
    const stream = (token: string) =>
      fetch(`${one.url}/api/events`, { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' } });
    const [ended, kept] = [await stream(other), await stream(one.token)];
    const change = await one.call('POST', '/api/auth/change-password', {
      body: { current_password: 'admin', new_password: 'correct horse battery' },
    });
    expect(change.status).toBe(200);
    // To its end, which comes by itself.
    expect(await ended.text()).toContain('event: hello');
    const reader = kept.body?.getReader();
    for (let beat = 0; beat < 3; beat += 1) expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    const me = (token: unknown) => one.call('GET', '/api/auth/me', { token: String(token) });
    expect([(await me(other)).status, (await me(one.token)).status]).toEqual([401, 401]);
    expect((await me(change.json['token'])).status).toBe(200);
  } finally {
    await one.close();
  }
});

test('only so many streams are open', async () => {
  const few = await served({ turns: [], streams: { perCredential: 2, all: 3, heartbeatMs: 1000 } });
  try {
    const connect = (token: string) =>
      fetch(`${few.url}/api/events`, { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' } });
    const other = few.login();
    const kept = [await connect(few.token), await connect(few.token)];
    expect((await connect(few.token)).status).toBe(429);
    kept.push(await connect(other));
    expect((await connect(other)).status).toBe(429);
    expect(kept.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const response of kept) await response.body?.cancel();
    await expect.poll(async () => (await connect(other)).status).toBe(200);
  } finally {
    await few.close();
  }
});
