import { afterEach, expect, test } from 'vitest';
import { type WireServer, wireServer } from '../models/wire-server.ts';
import { createProject, type World } from './world.ts';

/** A chat with a reasoning model of OpenAI: what it thought goes back through the database, in a process of its own. */

let world: World | undefined;
let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
  world?.remove();
});

type Item = Readonly<Record<string, unknown>>;
type Body = { readonly input: readonly Item[] };

test('a chat hands the reasoning of its calls back, in the next turn too', async () => {
  let replies = 0;
  server = await wireServer(({ path, body }, response) => {
    if (path.endsWith('/models')) {
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'gpt-5', object: 'model' }] }));
      return;
    }
    replies += 1;
    const reasoning = {
      type: 'reasoning',
      id: `rs_${replies}`,
      summary: [{ type: 'summary_text', text: `thought ${replies}` }],
      encrypted_content: `sealed ${replies}`,
    };
    const last = (body as Body).input.at(-1);
    const reads = last?.['role'] === 'user' && replies === 1;
    const answer = reads
      ? { type: 'function_call', call_id: 'call_1', name: 'local_fs_read_file', arguments: '{"path":"a.txt"}' }
      : { type: 'message', phase: 'final_answer', content: [{ type: 'output_text', text: `answer ${replies}` }] };
    const events = [
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      { type: 'response.output_item.done', output_index: 1, item: answer },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  world = await createProject({ environment: { OPENAI_API_KEY: 'sk-test-key-1234' } });
  world.write('a.txt', 'alpha\n');
  const run = async (...argv: string[]) => {
    const result = await world?.run(argv);
    expect(result?.code, result?.stderr).toBe(0);
    return result;
  };
  await run('backend', 'add', 'o', '--type', 'openai', '--url', `${server.url}/v1`, '--api-key-env', 'OPENAI_API_KEY');
  await run('config', 'set', 'default-provider', 'openai');
  await run('config', 'set', 'default-model', 'gpt-5');
  const first = await run('chat', '--think', 'what is in it');
  expect(first?.stdout).toBe('answer 2\n');
  expect(first?.stderr).toContain('thought 1');
  await run('chat', 'and now?');
  const sent = server.requests.filter(({ path }) => path === '/v1/responses').map(({ body }) => (body as Body).input);
  const said = (item: Item) => {
    const { type, content, encrypted_content: sealed, output, call_id: id, role } = item;
    return sealed ?? output ?? (type === 'function_call' ? id : [role, (content as readonly Item[])[0]?.['text']]);
  };
  expect(sent.at(-1)?.map(said)).toEqual([
    ['user', 'what is in it'],
    'sealed 1',
    'call_1',
    'alpha\n',
    'sealed 2',
    ['assistant', 'answer 2'],
    ['user', 'and now?'],
  ]);
  expect(sent.map((items) => items.length)).toEqual([1, 4, 7]);
});
