import { describe, expect, it } from 'vitest';
import { agent, calls, fileTools, ofKind, ok, play, route, says, spoken } from '../support/recording-host.ts';

describe('the loop', () => {
  it('answers a text with one model call', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'answer', handler: 'chat_completion', system_instruction: 'Be brief.' }] },
      script: [[{ kind: 'thinking', text: 'hm' }, { kind: 'text', text: 'hi ' }, ...says('there')]],
    });
    expect(played.log).toEqual([
      'step_started',
      'message',
      'checkpoint',
      'openTurn turn',
      'model_selected',
      'step_chunk',
      'step_chunk',
      'step_chunk',
      'request_over',
      'step_stream_end',
      'turn_usage',
      'token_usage',
      'message',
      'step_completed',
      'captured_step',
    ]);
    expect(spoken(played)).toEqual(['user: hello', 'assistant: hi there']);
    expect(played.end).toEqual({
      kind: 'completed',
      status: 'completed',
      output_type: 'chat_history',
      output: { $history: [[1, 2]], model: 'm1', input_tokens: 9, output_tokens: 3, finish_reason: 'stop' },
    });
    expect(played.requests[0]).toMatchObject({
      model: 'm1',
      system: 'Be brief.',
      tools: [],
      think: 'auto',
      attempt: 1,
    });
    expect(played.closed).toBe(1);
  });

  it('goes round between model and tools until the model is done', async () => {
    const played = await play({
      chain: agent(),
      script: [
        calls({ id: 'a', name: 'local_fs.write_file', args: { path: 'x' } }, { id: 'b', name: 'local_fs.read_file' }),
        says('written'),
      ],
      callTool: (call) => ok(`did ${call.name}`),
    });
    expect(played.log.filter((line) => /checkpoint|openTurn|callTool|message/.test(line))).toEqual([
      'message',
      'checkpoint',
      'openTurn turn',
      'message',
      'checkpoint',
      'callTool local_fs.write_file',
      'message',
      'checkpoint',
      'callTool local_fs.read_file',
      'message',
      'checkpoint',
      'openTurn turn',
      'message',
    ]);
    expect(spoken(played)).toEqual([
      'user: hello',
      'assistant: ',
      'tool: did local_fs.write_file',
      'tool: did local_fs.read_file',
      'assistant: written',
    ]);
    expect(played.calls[0]).toEqual({
      task_id: 'tools',
      attempt: 1,
      call_id: 'a',
      name: 'local_fs.write_file',
      arguments: '{"path":"x"}',
      batch_index: 0,
      batch_size: 2,
      allow: [['*'], null],
      hide: [],
      limits: {},
      offered: ['local_fs.read_file', 'local_fs.write_file'],
      direct: false,
      max_result_bytes: 65_536,
    });
    expect(ofKind(played, 'step_completed').map((event) => [event.task_id, event.eval, event.next])).toEqual([
      ['chat', 'tool_call', 'tools'],
      ['tools', 'tools_executed', 'chat'],
      ['chat', 'executed', 'end'],
    ]);
  });

  it('numbers messages behind the base of a session and reports only new ones', async () => {
    const base = [
      { id: 'u1', role: 'user', content: 'one', timestamp: 't' },
      { id: 'a1', role: 'assistant', content: 'two', timestamp: 't' },
      { id: 'u2', role: 'user', content: 'three', timestamp: 't' },
    ];
    const played = await play({
      chain: { tasks: [{ id: 'answer', handler: 'chat_completion' }] },
      script: [says('four')],
      job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
    });
    expect(ofKind(played, 'message').map((event) => [event.number, event.message.content])).toEqual([[4, 'four']]);
    expect(played.requests[0]?.messages.map((message) => message.content)).toEqual(['one', 'two', 'three']);
    expect(played.end).toMatchObject({ kind: 'completed', output: { $history: [[1, 4]] } });
  });

  it('keeps the instruction of the chain out of the history, and system messages of the history in their place', async () => {
    const base = [
      { id: 's1', role: 'system', content: 'Be brief.', timestamp: 't' },
      { id: 's2', role: 'system', content: 'From the import.', timestamp: 't' },
      { id: 'u1', role: 'user', content: 'one', timestamp: 't' },
    ];
    const played = await play({
      chain: { tasks: [{ id: 'answer', handler: 'chat_completion', system_instruction: 'Be brief.' }] },
      script: [says('two')],
      job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
    });
    expect(played.requests[0]?.system).toBe('Be brief.\n\nFrom the import.');
    expect(played.requests[0]?.messages.map((message) => message.content)).toEqual(['one']);
    expect(spoken(played)).toEqual(['assistant: two']);
  });

  it('offers the tools of the allowlist without the hidden ones, sorted, and says when none are left', async () => {
    const offered = async (config: object): Promise<unknown> => {
      const played = await play({
        chain: { tasks: [{ id: 'answer', handler: 'chat_completion', execute_config: config }] },
        script: [says('x')],
      });
      return [played.requests[0]?.tools.map((each) => each.tool), played.requests[0]?.system];
    };
    expect(await offered({})).toEqual([[], '']);
    expect(await offered({ tools: null })).toEqual([[], '']);
    expect(await offered({ tools: ['*'] })).toEqual([['read_file', 'write_file'], '']);
    expect(await offered({ tools: ['*'], hide_tools: ['read_file'] })).toEqual([['write_file'], '']);
    expect(await offered({ tools: ['*', '!local_fs'] })).toEqual([[], 'No tools are available this turn.']);
    expect(await offered({ tools: ['!local_fs'] })).toEqual([[], 'No tools are available this turn.']);
  });

  it('counts edges, branches on them and shows them to macros', async () => {
    const chain = agent({
      system_instruction: 'Round {{edge_count:chat->tools}}.',
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'edge_traversed_at_least', edge: 'chat->tools', when: '2', goto: 'wrap' },
          { operator: 'default', goto: 'tools' },
        ],
      },
    });
    const wrap = { id: 'wrap', handler: 'chat_completion', input_var: 'chat' } as const;
    const played = await play({
      chain: { tasks: [...chain.tasks, wrap] },
      script: [
        calls({ name: 'local_fs.read_file', args: { path: 'a' } }),
        calls({ name: 'local_fs.read_file', args: { path: 'b' } }),
        calls({ name: 'local_fs.read_file', args: { path: 'c' } }),
        says('wrapped up'),
      ],
    });
    expect(played.requests.map((request) => request.system)).toEqual(['Round 0.', 'Round 1.', 'Round 2.', '']);
    expect(played.calls).toHaveLength(2);
    // The third batch was left behind: it has its results before the model is asked again.
    expect(spoken(played).at(-2)).toBe(
      'tool: {"ok":false,"error":"not_executed","message":"the call was not run: the run went on or ended without executing it"}',
    );
    expect(played.end).toMatchObject({ kind: 'completed', status: 'completed' });
  });

  it('ends at a leaf, and fails when branches do not match', async () => {
    const leaf = await play({ chain: { tasks: [{ id: 'n', handler: 'noop' }] } });
    expect(leaf.end).toEqual({ kind: 'completed', status: 'completed', output_type: 'string', output: 'hello' });
    const none = await play({
      chain: {
        tasks: [{ id: 'n', handler: 'noop', transition: { branches: [{ operator: 'equals', when: 'x', goto: 'n' }] } }],
      },
    });
    expect(none.end).toMatchObject({
      kind: 'failed',
      error: { class: 'no_branch', task_id: 'n', message: expect.stringContaining('"noop"') },
    });
  });

  it('fails a run that moves more than 10,000 times', async () => {
    const loop = { transition: { branches: [{ operator: 'default', goto: 'n' }] } } as const;
    const played = await play({ chain: { tasks: [{ id: 'n', handler: 'noop', ...loop }] } });
    expect(played.end).toMatchObject({ kind: 'failed', error: { class: 'step_limit' } });
    expect(ofKind(played, 'step_completed')).toHaveLength(10_001);
  });

  it('leaves alone what a handler does not read', async () => {
    const unread = { system_instruction: '{{var:gone}}', execute_config: { model: '{{var:gone}}' } };
    const played = await play({
      chain: {
        tasks: [
          {
            id: 'n',
            handler: 'noop',
            ...unread,
            transition: { branches: [{ operator: 'default', goto: 't' }] },
          },
          { id: 't', handler: 'tools', prompt_template: 'text', tools: { name: 'local_fs', tool_name: 'read_file' } },
        ],
      },
      job: { input: { type: 'json', value: { path: 'a' } } },
    });
    expect(played.end).toMatchObject({ kind: 'completed' });
    expect(played.calls[0]?.arguments).toBe('{"path":"a"}');
    expect(ofKind(played, 'step_started').map((event) => event.input_type)).toEqual(['json', 'json']);
  });

  it('renders the prompt, prints, and never renders what it inserts', async () => {
    const played = await play({
      chain: {
        tasks: [
          {
            id: 'n',
            handler: 'noop',
            prompt_template: '{{ input }} and {{var:x}}',
            print: 'got {{ n }}',
          },
        ],
      },
      job: { variables: { x: '{{ input }}{{var:model}}' } },
    });
    expect(played.end).toMatchObject({ output: 'hello and {{ input }}{{var:model}}' });
    expect(ofKind(played, 'print').map((event) => event.text)).toEqual(['got hello and {{ input }}{{var:model}}']);
  });

  it('composes an output with a variable and keeps the result', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'chat', handler: 'chat_completion', transition: { branches: [{ operator: 'default', goto: 'note' }] } },
          {
            id: 'note',
            handler: 'noop',
            prompt_template: 'noted',
            transition: { branches: [{ operator: 'default', goto: 'end', compose: { with_var: 'chat' } }] },
          },
        ],
      },
      script: [says('hi')],
    });
    expect(spoken(played)).toEqual(['user: hello', 'assistant: hi', 'assistant: noted']);
    expect(played.end).toMatchObject({ output_type: 'chat_history', output: { $history: [[1, 3]] } });
  });

  it('records one captured step per attempt, with histories as ranges', async () => {
    const played = await play({
      chain: agent(),
      script: [
        [
          {
            kind: 'usage',
            usage: {
              input_tokens: 10,
              output_tokens: 2,
              reasoning_tokens: 0,
              cached_input_tokens: 0,
              total_tokens: 12,
              estimated: false,
            },
          },
          ...calls({ name: 'local_fs.read_file' }),
        ],
        says('done'),
      ],
      openTurn: () => ({ kind: 'go', routes: [{ ...route, digest: 'sha256:ab' }] }),
    });
    const steps = ofKind(played, 'captured_step').map(({ step }) => step);
    expect(steps.map(({ index, task_id, eval: evalText, next }) => [index, task_id, evalText, next])).toEqual([
      [0, 'chat', 'tool_call', 'tools'],
      [1, 'tools', 'tools_executed', 'chat'],
      [2, 'chat', 'executed', 'end'],
    ]);
    expect(steps[0]).toMatchObject({
      input: 'hello',
      output: { $history: [[1, 2]] },
      provider: 'openai',
      backend: 'b1',
      model: 'm1',
      model_digest: 'sha256:ab',
      tool_names: ['local_fs.read_file'],
      usage: { prompt: 10, completion: 2, total: 12, estimated: false },
      finish_reason: 'tool_calls',
      retries: 0,
      error: null,
    });
    expect(ofKind(played, 'token_usage').map((event) => [event.total, event.estimated])).toEqual([
      [12, false],
      [expect.any(Number), true],
    ]);
  });

  it('answers nothing that it does not understand with a throw', async () => {
    const broken = await play({ chain: { tasks: [] } });
    expect(broken.end).toMatchObject({ kind: 'failed', error: { class: 'chain_invalid' } });
    const base = await play({
      chain: { tasks: [{ id: 'n', handler: 'noop' }] },
      job: { base_messages: 'no json', tools: fileTools },
    });
    expect(base.end).toMatchObject({ kind: 'failed', error: { class: 'internal' } });
  });
});
