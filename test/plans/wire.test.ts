import { afterEach, describe, expect, test } from 'vitest';
import { createProject, type World } from '../cli/world.ts';
import { type WireServer, wireServer } from '../models/wire-server.ts';
import { summary } from './support.ts';

/** Plans against a server of a real wire format: planner, executor and summariser are models of their own (07 §4.1). */

let world: World | undefined;
let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
  world?.remove();
});

type Body = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

/** What each model is to say, by the beginning of the system text. */
function answerOf({ messages }: Body): { readonly content?: string; readonly tool_calls?: unknown } {
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  if (system.startsWith('You turn a goal into a plan'))
    return { content: 'Sure:\n```json\n["look around", "sum up"]\n```' };
  if (system.startsWith('You condense')) return { content: summary() };
  if (messages.at(-1)?.role === 'tool') return { content: 'I looked around.' };
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'local_fs_list_dir', arguments: '{}' } };
  return { tool_calls: [call] };
}

describe('a plan on a server that speaks the OpenAI format', () => {
  test('asks each model for its own part, and completes', async () => {
    server = await wireServer(({ path, body }, response) => {
      if (path.endsWith('/models')) {
        const data = ['thinker', 'worker', 'writer'].map((id) => ({ id, object: 'model' }));
        response.end(JSON.stringify({ object: 'list', data }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const delta = answerOf(body as Body);
      const choices = [{ index: 0, delta, finish_reason: delta.content === undefined ? 'tool_calls' : 'stop' }];
      response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
    });
    world = await createProject();
    const run = async (...argv: string[]) => {
      const result = await world?.run(argv);
      expect(result?.code, result?.stderr).toBe(0);
      return result?.stdout ?? '';
    };
    await run('backend', 'add', 'wire', '--type', 'openai-compatible', '--url', `${server.url}/v1`);
    await run('config', 'set', 'default-provider', 'openai-compatible');
    await run('config', 'set', 'default-model', 'worker');
    await run('config', 'set', 'summarizer-model', 'writer');
    expect(await run('plan', 'new', 'see what is there', '--planner-model', 'thinker')).toContain(
      '1. [ ] look around\n2. [ ] sum up\n',
    );
    expect(await run('plan', 'next', '--auto')).toBe(
      'Step 1 of 2 completed: It was done.\nStep 2 of 2 completed: It was done.\n',
    );
    const asked = server.requests
      .filter(({ path }) => path.endsWith('/chat/completions'))
      .map(({ body }) => (body as Body).model);
    const step = ['worker', 'worker', 'writer'];
    expect(asked).toEqual(['thinker', ...step, ...step]);

    // A planner of another provider is asked at its own place.
    await run('backend', 'add', 'far', '--type', 'vllm', '--url', `${server.url}/far/v1`);
    await run('config', 'set', 'planner-provider', 'vllm');
    await run('config', 'set', 'planner-model', 'thinker');
    const before = server.requests.length;
    await run('plan', 'new', 'see once more');
    await run('plan', 'next');
    const places = server.requests
      .slice(before)
      .filter(({ path }) => path.endsWith('/chat/completions'))
      .map(({ path, body }) => [path, (body as Body).model]);
    const near = (model: string) => ['/v1/chat/completions', model];
    expect(places).toEqual([['/far/v1/chat/completions', 'thinker'], near('worker'), near('worker'), near('writer')]);
  });
});
