import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from './world.ts';

/** A model server of the local kind with one model, as a newcomer has it. */
function localServer(): Server {
  return createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.url === '/api/tags') response.end(JSON.stringify({ models: [{ name: 'tiny:1b', size: 1_000_000 }] }));
      else if (request.url === '/api/show') {
        response.end(
          JSON.stringify({
            capabilities: ['completion', 'tools'],
            model_info: { 'general.architecture': 'x', 'x.context_length': 32768 },
          }),
        );
      } else if (request.url === '/api/chat') {
        response.end(
          `${JSON.stringify({ model: 'tiny:1b', message: { role: 'assistant', content: 'Hello, newcomer.' }, done: true, done_reason: 'stop' })}\n`,
        );
      } else response.end('{}');
    });
  });
}

let world: World;
let server: Server;
let environment: Readonly<Record<string, string>>;
beforeEach(async () => {
  world = createWorld();
  server = localServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  environment = { OLLAMA_HOST: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  world.remove();
});

const advice = (stdout: string) => [...stdout.matchAll(/^ {4}Try: reins (.*)$/gm)].map((found) => found[1]?.split(' '));

test('on an empty machine the commands of doctor, typed in the order shown, lead to an answer', async () => {
  const first = await world.run(['doctor'], { environment });
  expect(first.code).toBe(1);
  // What is set before there is a project is stored elsewhere, so that step stands first; then the errors (06 §15).
  expect([...first.stdout.matchAll(/^\[(\w+)\] (\w+):/gm)].map((found) => `${found[1]} ${found[2]}`)).toEqual([
    'info no_project',
    'error missing_default_model',
    'error no_backends',
    'warning missing_default_provider',
  ]);
  for (const argv of advice(first.stdout)) {
    expect(await world.run(argv ?? [], { environment })).toMatchObject({ code: 0 });
  }
  expect(await world.run(['doctor'], { environment })).toMatchObject({ code: 0 });
  expect(await world.run(['say', 'hello'], { environment })).toMatchObject({
    code: 0,
    stdout: 'Hello, newcomer.\n',
  });
});

test('a backend that lacks its key is named by the command that tests it', async () => {
  const { stderr: added } = await world.run(['backend', 'add', 'far', '--type', 'openai', '--api-key-env', 'FAR_KEY']);
  expect(added).toBe('reins: warning: the variable FAR_KEY is not set now; it is read when the backend is used\n');
  expect(await world.run(['backend', 'test', 'far'])).toMatchObject({
    code: 7,
    stderr: 'reins: backend "far": needs the variable FAR_KEY, which is not set (auth)\n  export FAR_KEY=…\n',
  });
});

test('what init writes down is noted for the database that it has made, also where another one was there before', async () => {
  await world.run(['doctor']);
  expect((await world.run(['init', 'scripted'])).code).toBe(0);
  const check = await world.run(['audit', 'verify', '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject({ ok: true, copies: [], noted: 1 });
});

test('init says on stderr what comes next', async () => {
  const bare = await world.run(['init']);
  expect(bare.stderr).toBe('Next: reins backend add local --type ollama   or   reins init scripted (offline demo)\n');
  expect((await world.run(['init', 'vllm'])).stderr).toBe('Next: reins backend add vllm --type vllm --url <url>\n');
  expect((await world.run(['init', 'scripted'])).stderr).toBe('Next: reins doctor\n');
  expect((await world.run(['init'])).stderr).toBe('Next: reins doctor\n');
  expect((await world.run(['init', '--quiet'])).stderr).toBe('');
});
