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

test('a real model takes the place of the script with one command, and no demo stays behind', async () => {
  await world.run(['init', 'scripted']);
  const added = await world.run(['backend', 'add', 'local', '--type', 'ollama', '--url', 'http://127.0.0.1:9']);
  expect(added.stderr).toBe(
    'default-provider is scripted: others are asked only where a run names them; ' +
      'reins config set default-provider ollama\n',
  );
  const refused = await world.run(['--model', 'qwen2.5:7b', 'hi']);
  expect(refused).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('No backend of type scripted serves "qwen2.5:7b"; served: scripted/demo'),
  });
  const init = await world.run(['init', 'ollama']);
  expect(init.stdout).toMatch(/^Set default-provider = ollama$/m);
  expect(init.stderr).toContain('default-model = demo is no longer set: it is the model of the script\n');
  expect((await world.run(['config', 'get', 'default-model'])).stdout).toBe('qwen2.5:7b\n');
  await world.run(['config', 'set', 'default-model', 'demo']);
  await world.run(['init', 'openai']);
  expect((await world.run(['config', 'get', 'default-model'])).stdout).toBe('demo\n');
});

test('a question that is withdrawn leaves its run at rest, and says how it goes on', async () => {
  await world.run(['init', 'scripted']);
  expect((await world.run(['--on-ask', 'suspend', 'write a note'])).code).toBe(4);
  const [{ id, run_id }] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
  expect(await world.run(['approvals', 'respond', id, '--cancel'])).toMatchObject({
    code: 0,
    stdout: `cancelled ${id}\n`,
    stderr: `its run rests: reins state resume ${run_id} goes on without the call, reins state cancel ${run_id} ends it\n`,
  });
  expect((await world.run(['state', 'resume', run_id])).code).toBe(0);
});

test('init says on stderr what comes next', async () => {
  const bare = await world.run(['init']);
  expect(bare.stderr).toBe('Next: reins backend add local --type ollama   or   reins init scripted (offline demo)\n');
  expect((await world.run(['init', 'vllm'])).stderr).toBe('Next: reins backend add vllm --type vllm --url <url>\n');
  expect((await world.run(['init', 'scripted'])).stderr).toBe('Next: reins doctor\n');
  expect((await world.run(['init'])).stderr).toBe('Next: reins doctor\n');
  expect((await world.run(['init', '--quiet'])).stderr).toBe('');
});

test('init says what it waits for where a backend does not answer', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  expect((await world.run(['init'])).code).toBe(0);
  expect((await world.run(['backend', 'add', 'slow', '--type', 'vllm', '--url', url])).code).toBe(0);
  expect((await world.run(['config', 'set', 'default-model', 'far'])).code).toBe(0);
  const { code, stderr } = await world.run(['init', 'gemini']);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
  expect(code).toBe(0);
  expect(stderr.split('\n')[0]).toBe('Asking the backends that are registered…');
});

test('who registered a backend before there was a project is told that the project has its own', async () => {
  const add = ['backend', 'add', 'far', '--type', 'ollama', '--url', environment['OLLAMA_HOST'] ?? ''];
  expect(await world.run(add)).toMatchObject({ code: 0 });
  const note = 'A project has backends of its own: register here what you registered before (far).\n';
  expect((await world.run(['init'])).stderr).toContain(note);
  expect((await world.run(['backend', 'list'])).stdout).not.toContain('far');
  expect((await world.run(['init', '--force'])).stderr).not.toContain(note);
});
