import { describe, expect, it } from 'vitest';
import type { Handler, Task } from '../../src/schema/chain.ts';
import { ofKind, play, says } from '../support/recording-host.ts';

const ask = async (handler: Handler, reply: string, more: Partial<Task> = {}): Promise<unknown> => {
  const played = await play({ chain: { tasks: [{ id: 'p', handler, ...more }] }, script: [says(reply)] });
  const { end } = played;
  if (end.kind === 'failed') return `${end.error.class}: ${end.error.message}`;
  return end.kind === 'completed' ? [end.output_type, end.output, ofKind(played, 'step_completed')[0]?.eval] : end;
};

describe('prompt_to_*', () => {
  it('reads a whole number, also out of a sentence', async () => {
    expect(await ask('prompt_to_int', 'The answer is -12 apples')).toEqual(['int', -12, '-12']);
    expect(await ask('prompt_to_int', ' "7" ')).toEqual(['int', 7, '7']);
    expect(await ask('prompt_to_int', '1.5')).toContain('task_error: task p failed after 1 attempt: not_whole:');
    expect(await ask('prompt_to_int', 'none')).toContain('no_number:');
  });

  it('reads a number and shows it with two decimals to the branches', async () => {
    expect(await ask('prompt_to_float', 'about 2.71999')).toEqual(['float', 2.71999, '2.72']);
    expect(await ask('prompt_to_float', 'none')).toContain('no_number:');
  });

  it('reads a range, or one number as a range of one', async () => {
    expect(await ask('prompt_to_range', '" 1 - 5 "')).toEqual(['string', '1-5', '1-5']);
    expect(await ask('prompt_to_range', '-10--2')).toEqual(['string', '-10--2', '-10--2']);
    expect(await ask('prompt_to_range', '4')).toEqual(['string', '4-4', '4-4']);
    expect(await ask('prompt_to_range', '5-1')).toContain('bad_range:');
    expect(await ask('prompt_to_range', 'many')).toContain('bad_range:');
  });

  it('reads a condition ignoring case, and lists the keys otherwise', async () => {
    const more = { valid_conditions: { yes: true, no: false } };
    expect(await ask('prompt_to_condition', ' YES ', more)).toEqual(['bool', true, 'true']);
    expect(await ask('prompt_to_condition', 'No', more)).toEqual(['bool', false, 'false']);
    expect(await ask('prompt_to_condition', 'maybe', more)).toContain('not_a_condition: "maybe" is none of yes, no');
  });

  it('trims a string; its text is the eval', async () => {
    expect(await ask('prompt_to_string', ' hi \n')).toEqual(['string', 'hi', 'hi']);
  });

  it('asks without tools and without streaming, at temperature 0, with its line behind the instruction', async () => {
    const played = await play({
      chain: {
        tasks: [
          {
            id: 'p',
            handler: 'prompt_to_int',
            system_instruction: 'Count.',
            prompt_template: 'How many {{ input }}?',
            execute_config: { tools: ['*'] },
          },
        ],
      },
      script: [says('3')],
    });
    expect(played.requests[0]).toMatchObject({
      system: 'Count.\n\nAnswer with one whole number and nothing else.',
      temperature: 0,
      tools: [],
      messages: [{ role: 'user', content: 'How many hello?' }],
    });
    expect(played.log).toEqual([
      'step_started',
      'checkpoint',
      'openTurn prompt',
      'model_selected',
      'request_over',
      'step_stream_end',
      'turn_usage',
      'token_usage',
      'step_completed',
      'captured_step',
    ]);
  });

  it('refuses an empty prompt', async () => {
    expect(await ask('prompt_to_string', 'x', { prompt_template: '  ' })).toContain('empty_prompt:');
  });

  it('cuts what it receives to input_max_bytes', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'p', handler: 'prompt_to_string', input_max_bytes: 3 }] },
      script: [says('x')],
    });
    expect(played.requests[0]?.messages[0]?.content).toBe('hel\n[cut: 3 of 5 bytes]');
  });

  it('fails with more than input_max_bytes of what cannot be cut, and asks nobody', async () => {
    const given = (value: unknown) =>
      play({
        chain: { tasks: [{ id: 'p', handler: 'prompt_to_string', input_max_bytes: 8 }] },
        script: [says('x')],
        job: { input: { type: 'json', value } },
      });
    expect((await given({ a: 12 })).requests[0]?.messages[0]?.content).toBe('{"a":12}');
    const { end, requests } = await given({ a: 123 });
    expect(end).toMatchObject({
      kind: 'failed',
      error: { class: 'input_too_large', message: expect.stringContaining('has 9 bytes, input_max_bytes allows 8') },
    });
    expect(requests).toEqual([]);
  });
});

describe('route', () => {
  const branches = [
    { operator: 'equals', when: 'normal', goto: 'n' },
    { operator: 'equals', when: 'abnormal', goto: 'a' },
    { operator: 'default', goto: 'd' },
  ] as const;
  const end = { handler: 'noop' } as const;
  const choose = async (reply: string): Promise<unknown> => {
    const played = await play({
      chain: {
        tasks: [
          { id: 'r', handler: 'route', transition: { branches } },
          { id: 'n', ...end },
          { id: 'a', ...end },
          { id: 'd', ...end },
        ],
      },
      script: [says(reply)],
    });
    const [first, second] = ofKind(played, 'step_completed');
    return [first?.eval, second?.task_id, played.end.kind === 'completed' && played.end.output];
  };

  it('takes the label that the answer is, or the only one that it holds; the input passes', async () => {
    expect(await choose('abnormal')).toEqual(['abnormal', 'a', 'hello']);
    expect(await choose('I think abnormal.')).toEqual(['abnormal', 'a', 'hello']);
    expect(await choose('"Normal".')).toEqual(['normal', 'n', 'hello']);
    expect(await choose('`normal.`')).toEqual(['normal', 'n', 'hello']);
  });

  it('takes default for several labels or none', async () => {
    expect(await choose('normal or abnormal')).toEqual(['normal or abnormal', 'd', 'hello']);
    expect(await choose('no idea')).toEqual(['no idea', 'd', 'hello']);
    const long = `${'x'.repeat(70_000)} normal`;
    expect(await choose(long)).toEqual([long, 'd', 'hello']);
  });

  it.each(['x', 'ж', '漢'])(
    'shows the newest of a history that fits, whatever it is written in: %s',
    async (letter) => {
      const base = Array.from({ length: 20 }, (_, index) => ({
        id: `b${index}`,
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `number ${index} ${letter.repeat(600)}`,
        timestamp: 't',
      }));
      const played = await play({
        chain: { token_limit: 2000, tasks: [{ id: 'r', handler: 'route', transition: { branches: [branches[2]] } }] },
        script: [says('normal')],
        job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
      });
      const shown = (played.requests[0]?.messages[0]?.content ?? '').match(/number \d+/g) ?? [];
      expect(shown.at(-1)).toBe('number 19');
      expect(shown.length).toBeGreaterThan(1);
    },
  );

  it('lists the labels and shows a history as its transcript', async () => {
    const base = [
      { id: 'u', role: 'user', content: 'one', timestamp: 't' },
      { id: 'a', role: 'assistant', content: 'two', timestamp: 't' },
    ];
    const played = await play({
      chain: {
        tasks: [
          {
            id: 'r',
            handler: 'route',
            system_instruction: 'Sort.',
            transition: { branches: [...branches.slice(0, 2)].map((each) => ({ ...each, goto: 'end' })) },
          },
        ],
      },
      script: [says('normal')],
      job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
    });
    expect(played.requests[0]?.system).toBe(
      'Sort.\n\nAnswer with exactly one of these labels and nothing else:\nnormal\nabnormal',
    );
    expect(played.requests[0]?.messages.map((message) => message.content)).toEqual(['user: one\n\nassistant: two']);
    expect(played.end).toMatchObject({ output_type: 'chat_history', output: { $history: [[1, 2]] } });
  });
});
