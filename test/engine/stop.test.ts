import { describe, expect, it } from 'vitest';
import type { ModelPart } from '../../src/models/model.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { CheckpointState, ToolOutcome } from '../../src/schema/protocol.ts';
import {
  agent,
  calls,
  ofKind,
  ok,
  type Played,
  play,
  route,
  type Script,
  says,
  type Setup,
  spoken,
} from '../support/recording-host.ts';

/** A reply that says something, then hangs until its run is stopped; `stop` is called once it hangs. */
const hangsAfter = (text: string, stop: () => void): Script =>
  async function* () {
    if (text !== '') yield { kind: 'text', text } satisfies ModelPart;
    setImmediate(stop);
    await new Promise(() => {});
  };

const chat = { tasks: [{ id: 'chat', handler: 'chat_completion' as const }] };

describe('a cancelled run', () => {
  it('keeps the text that had arrived, marked as interrupted', async () => {
    const abort = new AbortController();
    const played = await play({ chain: chat, script: [hangsAfter('half', () => abort.abort())], signal: abort.signal });
    expect(played.end).toEqual({ kind: 'cancelled' });
    expect(played.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'half', interrupted: true });
    expect(played.log.slice(-8)).toEqual([
      'step_chunk',
      'request_over',
      'step_stream_end',
      'turn_usage',
      'token_usage',
      'message',
      'step_failed',
      'captured_step',
    ]);
    expect(ofKind(played, 'step_stream_end')[0]?.finish_reason).toBe('cancelled');
    expect(ofKind(played, 'captured_step')[0]?.step).toMatchObject({ cancelled: true, partial: 'half' });
  });

  it('keeps nothing when nothing had arrived', async () => {
    const abort = new AbortController();
    const played = await play({ chain: chat, script: [hangsAfter('', () => abort.abort())], signal: abort.signal });
    expect(played.end).toEqual({ kind: 'cancelled' });
    expect(spoken(played)).toEqual(['user: hello']);
    expect(ofKind(played, 'turn_usage')).toEqual([]);
  });

  it('answers the call that was under way as cancelled and the others as not executed', async () => {
    const abort = new AbortController();
    const write = (id: string) => ({ id, name: 'local_fs.write_file', args: { path: id } });
    const played = await play({
      chain: agent(),
      script: [calls(write('a'), write('b'), write('c'))],
      signal: abort.signal,
      callTool: (call) => {
        if (call.call_id === 'a') return ok('done');
        abort.abort();
        throw new RuntimeError('cancelled', 'cancelled');
      },
    });
    expect(played.end).toEqual({ kind: 'cancelled' });
    expect(played.messages.slice(2).map((message) => [message.tool_call_id, errorOf(message.content)])).toEqual([
      ['a', 'done'],
      ['b', 'cancelled'],
      ['c', 'not_executed'],
    ]);
  });

  it('tells apart what had begun, what had not and what came back, where the host says so', async () => {
    const abort = new AbortController();
    const read = (id: string) => ({ id, name: 'local_fs.read_file', args: { path: id } });
    const played = await play({
      chain: agent(),
      script: [calls(read('a'), read('b'), read('c'), { id: 'd', name: 'local_fs.write_file', args: { path: 'd' } })],
      signal: abort.signal,
      callTool: async (call) => {
        if (call.call_id === 'b') return ok('done');
        await new Promise((resolve) => setImmediate(resolve));
        abort.abort(new RuntimeError('cancelled', 'cancelled', { data: { begun: ['a', 'b'] } }));
        throw new RuntimeError('cancelled', 'cancelled');
      },
    });
    expect(played.end).toEqual({ kind: 'cancelled' });
    expect(played.messages.slice(2).map((message) => [message.tool_call_id, errorOf(message.content)])).toEqual([
      ['a', 'cancelled'],
      ['b', 'done'],
      ['c', 'not_executed'],
      ['d', 'not_executed'],
    ]);
  });

  it('ends a retry wait at once', async () => {
    const abort = new AbortController();
    const played = await play({
      chain: {
        tasks: [{ id: 'chat', handler: 'chat_completion', execute_config: { retry_policy: { max_attempts: 5 } } }],
      },
      script: [[{ kind: 'error', error: { class: 'server_error', message: 'x' } }]],
      signal: abort.signal,
      clock: {
        now: () => 0,
        waits: [],
        sleep: (_ms, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve());
            abort.abort();
          }),
      },
    });
    expect(played.end).toEqual({ kind: 'cancelled' });
    expect(played.requests).toHaveLength(1);
  });

  it('is cancelled when the host says so first', async () => {
    const played = await play({
      chain: chat,
      openTurn: () => {
        throw new RuntimeError('cancelled', 'cancelled');
      },
    });
    expect(played.end).toEqual({ kind: 'cancelled' });
  });

  it('starts nothing when it is cancelled already', async () => {
    const abort = new AbortController();
    abort.abort();
    const played = await play({ chain: chat, signal: abort.signal });
    expect([played.end, played.log]).toEqual([{ kind: 'cancelled' }, []]);
  });
});

const errorOf = (content: string): string => {
  try {
    return JSON.parse(content).error;
  } catch {
    return content;
  }
};

/** Plays on from the last checkpoint, with the messages that it knows. */
const resume = (played: Played, setup: Setup): Promise<Played> => {
  const state = played.checkpoints.at(-1);
  if (state === undefined) throw new Error('no checkpoint');
  const base = JSON.parse(setup.job?.base_messages ?? '[]').length;
  const messages = JSON.stringify(played.messages.slice(0, state.next_message - 1 - base));
  // What a database gives back is a copy.
  const copy = JSON.parse(JSON.stringify(state)) as CheckpointState;
  return play({ ...setup, job: { ...setup.job, resume: { state: copy, messages } } });
};

describe('a run that rests', () => {
  it('rests when it is stopped while the model speaks, and asks the model again when it goes on', async () => {
    const abort = new AbortController();
    const stop = () => abort.abort(new RuntimeError('interrupted', 'SIGTERM'));
    const first = await play({ chain: chat, script: [hangsAfter('half', stop)], signal: abort.signal });
    expect(first.end).toEqual({ kind: 'suspended' });
    expect(spoken(first)).toEqual(['user: hello']);
    const second = await resume(first, { chain: chat, script: [says('whole')] });
    expect(second.log.slice(0, 3)).toEqual(['step_started', 'openTurn turn', 'model_selected']);
    expect(second.requests[0]?.messages.map((message) => message.content)).toEqual(['hello']);
    expect(ofKind(second, 'message').map((event) => [event.number, event.message.content])).toEqual([[2, 'whole']]);
    expect(second.end).toMatchObject({ kind: 'completed', output: { $history: [[1, 2]] } });
  });

  it('goes on with the call that waited, without calling the others again', async () => {
    const chain = agent({ execute_config: { tools: ['*'], hide_tools: ['x'] } });
    const write = (id: string) => ({ id, name: 'local_fs.write_file', args: { path: id } });
    const outcome = (call: { call_id: string }): ToolOutcome =>
      call.call_id === 'b' ? { kind: 'suspended' } : ok(`did ${call.call_id}`);
    const first = await play({ chain, script: [calls(write('a'), write('b'), write('c'))], callTool: outcome });
    expect(first.end).toEqual({ kind: 'suspended' });
    const second = await resume(first, {
      chain,
      script: [says('all done')],
      callTool: (call) => ok(`did ${call.call_id}`),
    });
    expect(second.calls.map((call) => [call.call_id, call.batch_index, call.batch_size])).toEqual([
      ['b', 1, 3],
      ['c', 2, 3],
    ]);
    expect(second.calls[0]).toMatchObject({ allow: [['*'], null], hide: ['x'], attempt: 1, task_id: 'tools' });
    expect(second.requests[0]?.messages.map((message) => message.content)).toEqual([
      'hello',
      '',
      'did a',
      'did b',
      'did c',
    ]);
    expect(second.end).toMatchObject({ kind: 'completed', output: { $history: [[1, 6]] } });
  });

  it('counts a round that rested once', async () => {
    const write = { id: 'a', name: 'local_fs.write_file' };
    const setup = { chain: agent(), job: { defaults: { max_rounds: 1 } } };
    const first = await play({ ...setup, script: [calls(write)], callTool: () => ({ kind: 'suspended' }) });
    const second = await resume(first, { ...setup, script: [says('done')] });
    expect(second.end).toMatchObject({ kind: 'completed' });
  });

  it('brings variables, counters, attempts and the repetition guard back', async () => {
    const read = (id: string) => ({ id, name: 'local_fs.read_file', args: { path: 'same' } });
    const chain = {
      tasks: [
        {
          id: 'note',
          handler: 'noop' as const,
          prompt_template: 'noted',
          transition: { branches: [{ operator: 'default' as const, goto: 'chat' }] },
        },
        ...agent({ input_var: 'input', system_instruction: 'r{{edge_count:chat->tools}}' }).tasks,
      ],
    };
    const [note, task] = chain.tasks;
    if (note === undefined || task === undefined) throw new Error('three tasks');
    const loop = {
      tasks: [
        note,
        task,
        {
          id: 'tools',
          handler: 'execute_tool_calls' as const,
          transition: { branches: [{ operator: 'default' as const, goto: 'again' }] },
        },
        { ...task, id: 'again', input_var: 'tools', prompt_template: '' },
      ],
    };
    const first = await play({
      chain: loop,
      script: [calls(read('a')), calls(read('b'))],
      callTool: (_call, index) => (index === 0 ? ok('same') : { kind: 'suspended' }),
    });
    expect(first.end).toEqual({ kind: 'suspended' });
    expect(first.checkpoints.at(-1)).toMatchObject({
      task_id: 'tools',
      variables: { note: { type: 'string', value: 'noted' }, chat: { $history: [[1, 2]] } },
      edge_counts: { 'note->chat': 1, 'chat->tools': 1, 'tools->again': 1, 'again->tools': 1 },
      moves: 4,
      rounds: 2,
      next_message: 5,
      step_index: 4,
      engine: { repetition: { count: 1 } },
    });
  });

  it('finds the messages of a session behind which it stands', async () => {
    const base_messages = JSON.stringify([
      { id: 'u', role: 'user', content: 'one', timestamp: 't' },
      { id: 'a', role: 'assistant', content: 'two', timestamp: 't' },
      { id: 'v', role: 'user', content: 'three', timestamp: 't' },
    ]);
    const job = { base_messages, input: { type: 'chat_history' } };
    const write = { id: 'x', name: 'local_fs.write_file' };
    const first = await play({ chain: agent(), job, script: [calls(write)], callTool: () => ({ kind: 'suspended' }) });
    const second = await resume(first, { chain: agent(), job, script: [says('four')] });
    expect(second.requests[0]?.messages.map((message) => message.content)).toEqual(['one', 'two', 'three', '', 'done']);
    expect(ofKind(second, 'message').map((event) => event.number)).toEqual([5, 6]);
  });

  it('makes a direct call under the same id again, so that its outcome is found', async () => {
    const chain = {
      tasks: [{ id: 't', handler: 'tools' as const, tools: { name: 'local_fs', tool_name: 'write_file' } }],
    };
    const first = await play({ chain, callTool: () => ({ kind: 'suspended' }) });
    const second = await resume(first, { chain });
    expect([...first.calls, ...second.calls].map((call) => call.call_id)).toEqual(['call_1_0_0', 'call_1_0_0']);
    expect(second.end).toMatchObject({ kind: 'completed', output: 'done' });
  });

  it('keeps a compacted history', async () => {
    const base_messages = JSON.stringify(
      Array.from({ length: 17 }, (_, index) => ({
        id: `b${index}`,
        role: 'user',
        content: 'x'.repeat(384),
        timestamp: 't',
      })),
    );
    const chain = {
      token_limit: 2000,
      tasks: [
        { id: 'chat', handler: 'chat_completion' as const, execute_config: { compact_policy: { keep_recent: 4 } } },
      ],
    };
    const setup = { chain, job: { base_messages, input: { type: 'chat_history' } } };
    const first = await play({
      ...setup,
      script: [says('summary')],
      openTurn: (request, index) =>
        index === 2 ? { kind: 'suspended' } : { kind: 'go', routes: [{ ...route, backend: request.purpose }] },
    });
    expect(first.end).toEqual({ kind: 'suspended' });
    const second = await resume(first, { ...setup, script: [says('ok')] });
    expect(second.turns.map((turn) => turn.purpose)).toEqual(['turn']);
    expect(second.requests[0]?.messages).toHaveLength(5);
  });
});
