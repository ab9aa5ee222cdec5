import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from './world.ts';

const literal = 'sk-lit/+aaaaBBBBcccc1111==';
const fromEnvironment = 'sk-env/+ddddEEEEffff2222==';
const header = 'hdr-secret-7777xyzQ';
/** Each secret as it stands, in base64 and percent-encoded (11 §5). */
const forbidden = [literal, fromEnvironment, header].flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -2),
  encodeURIComponent(secret),
]);

let world: World;
let server: Server;
const received: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const key = (request.headers.authorization ?? '').replace('Bearer ', '');
    received.push(`${key} ${request.headers['x-secret']}`);
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => void answer(response, request.url ?? '', body, `${key} ${request.headers['x-secret']}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await createProject();
  const add = async (name: string, type: string, ...more: string[]) => {
    const argv = ['backend', 'add', name, '--type', type, '--url', url, '--header', `x-secret: ${header}`, ...more];
    expect(await world.run(argv, { environment: { MY_KEY: fromEnvironment } })).toMatchObject({ code: 0 });
  };
  await add('lit', 'vllm', '--api-key', literal);
  await add('env', 'openai-compatible', '--api-key-env', 'MY_KEY');
});
afterAll(() => {
  world.remove();
  server.close();
});

/** A server that gives back whatever it was sent, in every way that it can. */
async function answer(
  response: import('node:http').ServerResponse,
  path: string,
  body: string,
  secrets: string,
): Promise<void> {
  const json = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (path.endsWith('/models')) return void json(200, { object: 'list', data: [{ id: 'm', object: 'model' }] });
  if (body.includes('deny me')) return void json(401, { error: { message: `bad key ${secrets}`, code: 'bad' } });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: unknown, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  const tool = /"name":"([^"]*read_file)"/.exec(body)?.[1];
  if (body.includes('read it') && !body.includes('"role":"tool"')) {
    const call = { name: tool, arguments: '{"path":"keys.txt"}' };
    chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: call }] });
    chunk({}, 'tool_calls');
  } else {
    // In pieces that no reader joins by itself, so that each secret arrives cut apart.
    const text = `${secrets} ${Buffer.from(secrets.split(' ')[0] ?? '').toString('base64')} ${encodeURIComponent(secrets)}`;
    for (let at = 0; at < text.length; at += 7) {
      chunk({ content: text.slice(at, at + 7) });
      await wait(20);
    }
    chunk({}, 'stop');
  }
  response.end('data: [DONE]\n\n');
}

/** What a reader of a stream sees when it joins the pieces. */
const joined = (stdout: string): string =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{"type":"step_chunk"'))
    .map((line) => (JSON.parse(line) as { content?: string }).content ?? '')
    .join('');

test('no key and no header value reaches an output or a row, however the other side gives it back', async () => {
  world.write('keys.txt', `${literal}\n${fromEnvironment}\n${header}\n`);
  const outputs: string[] = [];
  const run = async (...argv: string[]) => {
    const { stdout, stderr } = await world.run(argv, { environment: { MY_KEY: fromEnvironment } });
    outputs.push(stdout, stderr, joined(stdout));
    return stdout;
  };
  for (const provider of ['vllm', 'openai-compatible']) {
    const model = ['--provider', provider, '--model', 'm'];
    expect(await run(...model, '--trace', 'hi')).toContain('•••');
    await run(...model, '--output-format', 'stream-json', 'hi');
    await run(...model, '--trace', '--json', 'deny me');
    await run('chat', ...model, '--steps', '--raw', 'read it');
    expect(await run(...model, '--trace', '--output-format', 'stream-json', 'read it')).toMatch(/"ok":true/);
  }
  for (const command of ['backend list', 'backend show lit', 'model list', 'config list', 'session show', 'doctor']) {
    await run(...command.split(' '));
    await run(...command.split(' '), '--json');
  }
  // The server did get them: what is not shown was there to be shown.
  expect(new Set(received)).toEqual(new Set([`${literal} ${header}`, `${fromEnvironment} ${header}`]));
  const leaks = forbidden.filter((secret) => outputs.some((output) => output.includes(secret)));
  expect(leaks).toEqual([]);

  const handle = new Database(join(world.workspace, '.reins/local.db'), { readonly: true });
  const tables = handle.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const stored = tables
    // Where the operator put them (11 §5).
    .filter((name) => name !== 'backends')
    .flatMap((name) => handle.prepare(`SELECT * FROM "${name}"`).raw().all())
    .flat()
    .map((value) => (Buffer.isBuffer(value) ? value.toString('utf8') : String(value)));
  handle.close();
  expect(stored.length).toBeGreaterThan(500);
  expect(forbidden.filter((secret) => stored.some((value) => value.includes(secret)))).toEqual([]);
});

test('what looks like a secret does not reach a live stream when it arrives in pieces', async () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ';
  const text = [
    'Authorization: Bearer qwertz-4711',
    'GET https://me:sesame-4712@example.org/a?access_token=tulip-4713&b=1',
    `the token ${token} ends`,
    '-----BEGIN PRIVATE KEY-----\nMIIE4714\n-----END PRIVATE KEY-----',
    'and that is all.\n',
  ].join('\n');
  // Slower than deltas are gathered, so that each piece is shown by itself.
  await addScript(world, [{ match: { role: 'user' }, reply: { text, chunk: 7, delay_ms: 20 } }]);
  const { code, stdout } = await world.run([...tester, '--output-format', 'stream-json', 'go']);
  expect(code).toBe(0);
  expect(stdout).not.toMatch(/qwertz|sesame|tulip|c2ln|MIIE/);
  expect(joined(stdout)).toBe(
    'Authorization: •••\nGET https://•••@example.org/a?access_token=•••&b=1\nthe token ••• ends\n' +
      '-----BEGIN PRIVATE KEY-----•••-----END PRIVATE KEY-----\nand that is all.\n',
  );
});
