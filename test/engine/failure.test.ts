import { describe, expect, it } from 'vitest';
import type { Task } from '../../src/schema/chain.ts';
import { fails, ofKind, play, route, says, spoken } from '../support/recording-host.ts';

const to = (goto: string, on_failure?: string): Pick<Task, 'transition'> => ({
  transition: { branches: [{ operator: 'default', goto }], ...(on_failure === undefined ? {} : { on_failure }) },
});

describe('a failed task', () => {
  it('is tried again with the same input, and its message is not said twice', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'chat', handler: 'chat_completion', retry_on_failure: 2 }] },
      script: [fails({ class: 'server_error' }), fails({ class: 'server_error' }), says('third')],
    });
    expect(ofKind(played, 'step_failed').map((event) => [event.attempt, event.will_retry])).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(ofKind(played, 'captured_step').map(({ step }) => [step.index, step.attempt, step.error?.class])).toEqual([
      [0, 1, 'server_error'],
      [1, 2, 'server_error'],
      [2, 3, undefined],
    ]);
    expect(spoken(played)).toEqual(['user: hello', 'assistant: third']);
    expect(played.checkpoints.map((state) => state.attempt)).toEqual([1, 2, 3]);
  });

  it('ends the run with the number of attempts', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'n', handler: 'prompt_to_int', retry_on_failure: 1 }] },
      script: [says('none'), says('nothing')],
    });
    expect(played.end).toEqual({
      kind: 'failed',
      error: {
        class: 'task_error',
        task_id: 'n',
        message: 'task n failed after 2 attempts: no_number: "nothing" holds no number',
      },
    });
  });

  it('takes its on_failure edge, with the message as a variable and its input as its output', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'ask', handler: 'prompt_to_int', ...to('end', 'mend') },
          {
            id: 'mend',
            handler: 'noop',
            prompt_template:
              '{{ ask }}|{{ previous_output }}|{{ last_error }}|{{ ask_error }}|{{edge_count:ask->mend}}',
          },
        ],
      },
      script: [says('none')],
    });
    const message = 'task ask failed after 1 attempt: no_number: "none" holds no number';
    expect(ofKind(played, 'step_failed')[0]).toMatchObject({
      error: { class: 'task_error', message: 'no_number: "none" holds no number' },
      will_retry: false,
      on_failure: 'mend',
    });
    expect(played.end).toMatchObject({ kind: 'completed', output: `hello|hello|${message}|${message}|1` });
  });

  it('leaves what it had as its output', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'chat', handler: 'chat_completion', ...to('end', 'mend') },
          { id: 'mend', handler: 'noop', input_var: 'chat' },
        ],
      },
      script: [[{ kind: 'text', text: 'half' }, ...fails({ class: 'server_error' })]],
    });
    expect(played.end).toMatchObject({ output_type: 'chat_history', output: { $history: [[1, 2]] } });
  });

  it('gives a recovering chat something to answer', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'bad', handler: 'noop', input_var: 'nope', ...to('end', 'chat') },
          { id: 'chat', handler: 'chat_completion' },
        ],
      },
      script: [says('mended')],
      job: { input: { type: 'chat_history' } },
    });
    expect(spoken(played)).toEqual([
      'user: Task bad failed: "task bad failed after 1 attempt: missing_variable: task bad takes its input from "nope", which has no value yet"',
      'assistant: mended',
    ]);
  });

  it('reports the first error beside the last, until another task succeeded', async () => {
    const raise: Task = { id: 'raise', handler: 'raise_error', prompt_template: 'gave up' };
    const failing: Task = { id: 'ask', handler: 'prompt_to_int', ...to('end', 'raise') };
    const direct = await play({ chain: { tasks: [failing, raise] }, script: [says('none')] });
    const root = 'task ask failed after 1 attempt: no_number: "none" holds no number';
    expect(direct.end).toEqual({
      kind: 'failed',
      error: {
        class: 'raised',
        task_id: 'raise',
        message: `task raise failed after 1 attempt: gave up: ${root}`,
        root,
      },
    });
    const mended = await play({
      chain: {
        tasks: [
          { ...failing, ...to('end', 'mend') },
          { id: 'mend', handler: 'noop', ...to('fine') },
          { id: 'fine', handler: 'noop', ...to('raise') },
          raise,
        ],
      },
      script: [says('none')],
    });
    expect(mended.end).toEqual({
      kind: 'failed',
      error: { class: 'raised', task_id: 'raise', message: 'task raise failed after 1 attempt: gave up' },
    });
  });

  it('says the first error once where the template of raise_error says it', async () => {
    const raise: Task = { id: 'raise', handler: 'raise_error', prompt_template: 'gave up, since {{ last_error }}' };
    const failing: Task = { id: 'ask', handler: 'prompt_to_int', ...to('end', 'raise') };
    const root = 'task ask failed after 1 attempt: no_number: "none" holds no number';
    expect((await play({ chain: { tasks: [failing, raise] }, script: [says('none')] })).end).toMatchObject({
      error: { message: `task raise failed after 1 attempt: gave up, since ${root}`, root },
    });
  });

  it('still reports the first error when the task that should mend it succeeded', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'ask', handler: 'prompt_to_int', ...to('end', 'mend') },
          { id: 'mend', handler: 'noop', ...to('raise') },
          { id: 'raise', handler: 'raise_error', prompt_template: 'gave up' },
        ],
      },
      script: [says('none')],
    });
    expect(played.end).toMatchObject({
      error: {
        message: 'task raise failed after 1 attempt: gave up',
        root: 'task ask failed after 1 attempt: no_number: "none" holds no number',
      },
    });
  });

  it('names the task, the field and the variable of a macro that has no value', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'chat', handler: 'chat_completion', system_instruction: 'x {{var:who}}' }] },
    });
    expect(played.end).toMatchObject({
      error: {
        class: 'task_error',
        message: expect.stringMatching(/chat.*system_instruction.*who|who.*chat.*system_instruction/),
      },
    });
  });

  it('stops a template in the middle of a step that takes too long', async () => {
    const compared = Array.from({ length: 4000 }, () => 'input contains "zz"').join(' or ');
    const startedAt = performance.now();
    const played = await play({
      chain: { tasks: [{ id: 'n', handler: 'noop', prompt_template: `{% if ${compared} %}x{% endif %}` }] },
      job: { input: { type: 'string', value: 'z '.repeat(2_000_000) } },
    });
    expect(played.end).toMatchObject({
      error: { class: 'template_limit', message: expect.stringContaining('rendering took over 1000 ms') },
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('fails an input that is missing or of the wrong type', async () => {
    const wrong = await play({ chain: { tasks: [{ id: 't', handler: 'execute_tool_calls' }] } });
    expect(wrong.end).toMatchObject({
      error: { class: 'task_error', message: expect.stringContaining('bad_input_type') },
    });
    const empty = await play({
      chain: { tasks: [{ id: 'c', handler: 'chat_completion' }] },
      job: { input: { type: 'chat_history' } },
    });
    expect(empty.end).toMatchObject({
      error: { class: 'task_error', message: expect.stringContaining('empty_history') },
    });
  });

  it('stops after 1 s a task with that limit whose model says nothing, and goes where it says', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'chat', handler: 'chat_completion', timeout: '1s', ...to('end', 'mend') },
          { id: 'mend', handler: 'noop', prompt_template: '{{ last_error }}' },
        ],
      },
      script: [
        async function* () {
          await new Promise(() => {});
        },
      ],
    });
    expect(played.waits).toEqual([1000]);
    expect(played.end).toMatchObject({
      output: 'task chat failed after 1 attempt: the time limit of the task (1s) is over',
    });
    expect(ofKind(played, 'captured_step')[0]?.step).toMatchObject({ timed_out: true, error: { class: 'timeout' } });
  });

  it('counts the waits for retries toward the limit', async () => {
    const played = await play({
      chain: {
        tasks: [
          {
            id: 'chat',
            handler: 'chat_completion',
            timeout: '5s',
            execute_config: { retry_policy: { max_attempts: 9, initial_backoff: '2s', max_backoff: '2s' } },
          },
        ],
      },
      script: Array.from({ length: 9 }, () => fails({ class: 'server_error' })),
    });
    expect(played.requests).toHaveLength(3);
    expect(played.end).toMatchObject({
      error: {
        class: 'timeout',
        message: expect.stringMatching(/the time limit of the task \(5s\) is over; before that: .+ \(model /),
      },
    });
  });

  it('tells the gate what a call has left, and does not count the time of people', async () => {
    let time = 0;
    const clock = { now: () => time, waits: [], sleep: () => new Promise<void>(() => {}) };
    const outcome = (waited_ms: number, ms: number) => {
      time += ms;
      return { kind: 'result' as const, ok: true, content: 'x', waited_ms };
    };
    const play_ = (waited: number) => {
      time = 0;
      return play({
        chain: { tasks: [{ id: 't', handler: 'execute_tool_calls', timeout: '1s' }] },
        clock,
        job: {
          input: { type: 'chat_history' },
          base_messages: JSON.stringify([
            {
              id: 'a',
              role: 'assistant',
              content: '',
              timestamp: 't',
              tool_calls: ['x', 'y'].map((id) => ({
                id,
                type: 'function',
                function: { name: 'a.b', arguments: `{"n":"${id}"}` },
              })),
            },
          ]),
        },
        callTool: (_call, index) => outcome(waited, index === 0 ? 5000 : 100),
      });
    };
    const waited = await play_(4800);
    expect(waited.calls.map((call) => call.time_left_ms)).toEqual([1000, 800]);
    const slow = await play_(0);
    expect(slow.calls).toHaveLength(1);
    expect(slow.end).toMatchObject({
      error: { class: 'timeout', message: 'task t failed after 1 attempt: the time limit of the task (1s) is over' },
    });
  });

  it('does not let a chain catch a bound', async () => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'chat', handler: 'chat_completion', retry_on_failure: 3, ...to('end', 'mend') },
          { id: 'mend', handler: 'noop' },
        ],
      },
      openTurn: () => ({
        kind: 'refused',
        error: { code: 'compute_exhausted', message: 'compute bound exhausted: maxTurns 3/3' },
      }),
    });
    expect(played.turns).toHaveLength(1);
    expect(played.end).toMatchObject({ error: { class: 'compute_exhausted' } });
  });

  it('reports an adapter that throws as a failure of the call', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'chat', handler: 'chat_completion' }] },
      openTurn: () => ({ kind: 'go', routes: [route] }),
      script: [
        async function* () {
          yield* [];
          throw new Error('broken adapter');
        },
      ],
    });
    expect(played.end).toMatchObject({
      error: { class: 'permanent', message: expect.stringContaining('broken adapter') },
    });
  });
});
