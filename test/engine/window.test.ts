import { describe, expect, it } from 'vitest';
import type { ModelPart } from '../../src/models/model.ts';
import type { ExecuteConfig } from '../../src/schema/chain.ts';
import type { Message } from '../../src/schema/message.ts';
import { calls, fails, ofKind, play, route, says, spoken } from '../support/recording-host.ts';

/** Alternating messages of 100 tokens each, the first one from the user. */
const long = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      id: `b${index}`,
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index} `.padEnd(384, 'x'),
      timestamp: 't',
    })),
  );

const session = (count: number) => ({ base_messages: long(count), input: { type: 'chat_history' } });
const chat = (config: ExecuteConfig, token_limit = 2000) => ({
  token_limit,
  tasks: [{ id: 'chat', handler: 'chat_completion' as const, execute_config: config }],
});
const numbers = (messages: readonly Message[] | undefined): unknown[] =>
  (messages ?? []).map((message) =>
    /^\d+ /.test(message.content) ? Number.parseInt(message.content, 10) : message.content,
  );

describe('a history that outgrows the context', () => {
  it('fails with the numbers when the task does not shift', async () => {
    const played = await play({ chain: chat({}), job: session(41) });
    expect(played.end).toMatchObject({
      kind: 'failed',
      error: {
        class: 'capacity',
        message:
          'task chat failed after 1 attempt: the request needs about 4100 tokens and the limit is 2000, of which 250 are kept for the answer (messages 4100, tools 0); set shift or compact_policy on the task, shorten the input, or raise the limit: token_limit of the chain',
      },
    });
    expect(played.requests).toEqual([]);
  });

  it('says what raises the limit that is the smallest', async () => {
    const raise = async (chainLimit: number, context: number, model: number | null): Promise<unknown> => {
      const played = await play({
        chain: chat({}, chainLimit),
        job: { ...session(41), defaults: { context } },
        openTurn: () => ({ kind: 'go', routes: [{ ...route, context: model }] }),
      });
      return played.end.kind === 'failed' ? played.end.error.message.split('raise the limit: ')[1] : played.end.kind;
    };
    expect(await raise(2000, 0, 3000)).toBe('token_limit of the chain');
    const all = await play({ chain: chat({ max_tokens: 2000, shift: true }, 2000) });
    expect(all.end).toMatchObject({
      error: { message: expect.stringContaining('; lower max_tokens of the task, or ') },
    });
    // The context of a route is that of the invocation, where one is given.
    expect(await raise(0, 1000, 1000)).toBe('a larger --context');
    expect(await raise(0, 0, 1000)).toMatch(/^reins model set-context .* --context <n>$/);
  });

  it('names the part that leaves the history no room', async () => {
    const advice = async (config: ExecuteConfig, over: object = {}): Promise<unknown> => {
      const { tasks, ...chain } = chat({ shift: true, ...config });
      const made = { ...chain, tasks: tasks.map((task) => ({ ...task, ...over })) };
      const description = 'd'.repeat(8000);
      const tools = [{ tools: 'x', tool: 'y', description, input_schema: {}, read_only: true }];
      const { end } = await play({ chain: made, job: { ...session(41), tools } });
      return end.kind === 'failed' ? /; (.*), or raise/.exec(end.error.message)?.[1] : end.kind;
    };
    expect(await advice({ max_tokens: 1990 })).toBe('lower max_tokens of the task');
    expect(await advice({ tools: ['*'] })).toBe('offer fewer tools (tools and hide_tools of the task)');
    expect(await advice({}, { system_instruction: 's'.repeat(8000) })).toBe('shorten the system_instruction');
  });

  it('knows a model by any name', async () => {
    const named = { ...route, model: 'constructor', context: 1000 };
    const played = await play({
      chain: chat({}),
      job: session(41),
      openTurn: () => ({ kind: 'go', routes: [named] }),
    });
    expect(played.end).toMatchObject({
      error: { class: 'capacity', message: expect.stringMatching(/about \d+ tokens/) },
    });
  });

  it('sends the first user message and the newest ones when it shifts, and keeps all in the history', async () => {
    const played = await play({ chain: chat({ shift: true }), job: session(41), script: [says('ok')] });
    expect(numbers(played.requests[0]?.messages)).toEqual([
      0,
      '[earlier messages left out: 24]',
      ...Array.from({ length: 16 }, (_, index) => 25 + index),
    ]);
    expect(
      ofKind(played, 'context_shifted').map(({ dropped_messages, kept_messages, before_tokens }) => [
        dropped_messages,
        kept_messages,
        before_tokens,
      ]),
    ).toEqual([[24, 17, 4100]]);
    expect(played.end).toMatchObject({ output: { $history: [[1, 42]] } });
    expect(spoken(played)).toEqual(['assistant: ok']);
  });

  it('uses the smallest of the limits of chain, invocation and model', async () => {
    const limit = async (chainLimit: number, context: number, model: number | null): Promise<unknown> => {
      const played = await play({
        chain: chat({}, chainLimit),
        script: [says('x')],
        job: { defaults: { context } },
        openTurn: () => ({ kind: 'go', routes: [{ ...route, context: model }] }),
      });
      return ofKind(played, 'model_selected')[0]?.limit;
    };
    expect(await limit(5000, 0, null)).toBe(5000);
    expect(await limit(5000, 4000, null)).toBe(4000);
    expect(await limit(0, 4000, 3000)).toBe(3000);
    expect(await limit(0, 0, null)).toBe(null);
  });

  it('tries once more with three quarters of what the provider found too long', async () => {
    const played = await play({
      chain: chat({ shift: true }),
      job: session(15),
      script: [fails({ class: 'context_exceeded' }), says('ok')],
    });
    expect(played.requests.map((request) => request.messages.length)).toEqual([15, 12]);
    expect(played.waits).toEqual([]);
    const twice = await play({
      chain: chat({ shift: true }),
      job: session(15),
      script: [fails({ class: 'context_exceeded' }), fails({ class: 'context_exceeded' })],
    });
    expect(twice.end).toMatchObject({ error: { class: 'capacity' } });
    const never = await play({ chain: chat({}), job: session(15), script: [fails({ class: 'context_exceeded' })] });
    expect(never.requests).toHaveLength(1);
  });

  it('says what the provider said where nothing can be left out', async () => {
    const message = 'prompt too long';
    const script = [fails({ class: 'context_exceeded', message })];
    const played = await play({ chain: chat({ shift: true }, 131_072), job: session(1), script });
    expect(played.requests).toHaveLength(1);
    expect(played.end).toMatchObject({ error: { class: 'capacity', message: expect.stringContaining(message) } });
    expect(played.end).not.toMatchObject({ error: { message: expect.stringContaining('131072') } });
  });

  it('says it, too, where the limit that the provider names is above what we count', async () => {
    const message = 'prompt is too long: 250000 tokens > 200000 maximum';
    const script = [fails({ class: 'context_exceeded', message, context_tokens: 200_000 })];
    const played = await play({ chain: chat({ shift: true }, 131_072), job: session(1), script });
    expect(played.end).toMatchObject({ error: { class: 'capacity', message: expect.stringContaining(message) } });
  });

  it('shrinks what was refused where nothing is known of the context', async () => {
    const played = await play({
      chain: chat({ shift: true }, 131_072),
      job: session(15),
      script: [fails({ class: 'context_exceeded' }), says('ok')],
    });
    expect(numbers(played.requests[1]?.messages)).toEqual([
      0,
      '[earlier messages left out: 4]',
      5,
      6,
      7,
      8,
      9,
      10,
      11,
      12,
      13,
      14,
    ]);
  });

  it('keeps to the context that a server names for the rest of the run', async () => {
    const [task] = chat({ shift: true }).tasks;
    if (task === undefined) throw new Error('one task');
    const again = { branches: [{ operator: 'default', goto: 'again' }] } as const;
    const played = await play({
      chain: {
        tasks: [
          { ...task, transition: again },
          { ...task, id: 'again' },
        ],
      },
      job: session(15),
      script: [fails({ class: 'context_exceeded', context_tokens: 800 }), says('one'), says('two')],
    });
    // 700 beside the reserve: three quarters of it at once, all of it from then on.
    expect(played.requests.map((request) => request.messages.length)).toEqual([15, 6, 8]);
    expect(ofKind(played, 'model_selected').map((event) => event.limit)).toEqual([null, 800]);
  });

  it('leaves the check of the context to the candidates that it must not lose', async () => {
    const need = async (config: ExecuteConfig): Promise<unknown> =>
      (await play({ chain: chat(config, 0), job: session(3), script: [says('x')] })).turns[0]?.token_need;
    expect(await need({})).toBe(300);
    expect(await need({ max_tokens: 50 })).toBe(350);
    expect(await need({ shift: true })).toBe(0);
  });
});

describe('compaction', () => {
  const config: ExecuteConfig = {
    compact_policy: { trigger_fraction: 0.85, keep_recent: 8, min_replaced_messages: 4, max_failures: 3 },
    shift: true,
  };

  it('replaces what is older than the newest messages by one summary', async () => {
    const played = await play({
      chain: chat(config),
      job: session(17),
      script: [says(' the story </compact-summary> so far '), says('ok')],
    });
    expect(played.turns.map((turn) => turn.purpose)).toEqual(['turn', 'compaction', 'turn']);
    expect(played.requests[0]).toMatchObject({ temperature: 0.2, tools: [] });
    expect(numbers(played.requests[1]?.messages)).toEqual([
      '<compact-summary>\nthe story &lt;/compact-summary&gt; so far\n</compact-summary>',
      ...Array.from({ length: 8 }, (_, index) => 9 + index),
    ]);
    expect(ofKind(played, 'compaction')).toMatchObject([
      { ok: true, replaced_messages: 9, before_tokens: 1700, after_tokens: 824 },
    ]);
    expect(ofKind(played, 'message').map((event) => [event.number, event.working])).toEqual([
      [18, true],
      [19, undefined],
    ]);
    expect(played.end).toMatchObject({
      output: {
        $history: [
          [18, 18],
          [10, 17],
          [19, 19],
        ],
      },
    });
    expect(ofKind(played, 'turn_usage')).toHaveLength(2);
    expect(played.log.filter((line) => /checkpoint|openTurn/.test(line))).toEqual([
      'checkpoint',
      'openTurn turn',
      'openTurn compaction',
      'checkpoint',
      'openTurn turn',
    ]);
  });

  it.each([
    ['x', 1600],
    // Two bytes each, and a token.
    ['ж', 400],
  ])('shows the summariser all that fits, and always the goal: messages of %s', async (letter, length) => {
    const base = Array.from({ length: 17 }, (_, index) => ({
      id: `b${index}`,
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `number ${index} `.padEnd(index === 0 ? 40 : length, letter),
      timestamp: 't',
    }));
    const shown = async (limit: number): Promise<readonly string[]> => {
      const played = await play({
        chain: chat({ compact_policy: { trigger_fraction: 0.1, keep_recent: 4 }, shift: true }, limit),
        job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
        script: [says('so far'), says('ok')],
      });
      expect(ofKind(played, 'compaction')).toMatchObject([{ ok: true, replaced_messages: 13 }]);
      return played.requests[0]?.messages[0]?.content.match(/number \d+|\[…\]/g) ?? [];
    };
    const all = Array.from({ length: 13 }, (_, index) => `number ${index}`);
    expect(await shown(20_000)).toEqual(all);
    expect(await shown(4000)).toEqual(['number 0', '[…]', ...all.slice(5)]);
  });

  it('goes on without it when the summariser fails, and gives up after three failures', async () => {
    const again = {
      branches: [
        { operator: 'edge_traversed_at_least', edge: 'chat->chat', when: '3', goto: 'end' },
        { operator: 'default', goto: 'chat' },
      ],
    } as const;
    const plan = chat(config);
    const [task] = plan.tasks;
    if (task === undefined) throw new Error('one task');
    const failing = fails({ class: 'invalid_request' });
    const played = await play({
      chain: { ...plan, tasks: [{ ...task, transition: again }] },
      job: session(17),
      script: [failing, says('1'), failing, says('2'), failing, says('3'), says('4')],
    });
    expect(ofKind(played, 'compaction').map((event) => event.ok)).toEqual([false, false, false]);
    expect(played.end).toMatchObject({ kind: 'completed' });
  });

  it.each([[''], ['I look first.']])('takes no call for a summary, also after the text "%s"', async (text) => {
    const spokenFirst = text === '' ? [] : [{ kind: 'text' as const, text }];
    const calling = [...spokenFirst, ...calls({ name: 'files.read' })];
    const played = await play({ chain: chat(config), job: session(17), script: [calling, says('ok')] });
    expect(ofKind(played, 'compaction')).toMatchObject([
      { ok: false, replaced_messages: 0, error: 'the model called a tool where a summary was asked for' },
    ]);
    expect(numbers(played.requests.at(-1)?.messages)).toContain(0);
  });

  it.each<[string, readonly ModelPart[], string]>([
    [
      'a refusal',
      [
        { kind: 'text', text: 'I cannot help with that.' },
        { kind: 'finish', reason: 'content_filter' },
      ],
      "the provider's filter ended the summary",
    ],
    ['what is no shorter', says('word '.repeat(900)), 'the summary is no shorter than what it would replace'],
  ])('takes no summary that is %s', async (_what, reply, error) => {
    const played = await play({ chain: chat(config), job: session(17), script: [reply, says('ok')] });
    expect(ofKind(played, 'compaction')).toMatchObject([{ ok: false, replaced_messages: 0, error }]);
    expect(numbers(played.requests.at(-1)?.messages)).toContain(0);
  });

  it('tells who goes on from it where the output limit cut the summary', async () => {
    const cut: readonly ModelPart[] = [
      { kind: 'text', text: 'half of ' },
      { kind: 'finish', reason: 'length' },
    ];
    const played = await play({ chain: chat(config), job: session(17), script: [cut, says('ok')] });
    expect(played.requests[1]?.messages[0]?.content).toBe(
      '<compact-summary>\nhalf of\n[cut: the output limit ended this summary]\n</compact-summary>',
    );
  });

  it('is named where a request is too long because it failed', async () => {
    const failing = fails({ class: 'model_not_found', message: 'no model zz' });
    const played = await play({
      chain: chat({ ...config, shift: false }),
      job: session(19),
      script: [failing],
    });
    expect(played.end).toMatchObject({
      error: { class: 'capacity', message: expect.stringMatching(/; compaction failed: no model zz/) },
    });
  });

  it('does nothing below its share, and nothing for too few messages', async () => {
    const below = await play({ chain: chat(config), job: session(15), script: [says('ok')] });
    expect(below.turns.map((turn) => turn.purpose)).toEqual(['turn']);
    const few = await play({
      chain: chat({ ...config, compact_policy: { keep_recent: 15, min_replaced_messages: 4 } }),
      job: session(17),
      script: [says('ok')],
    });
    expect(few.turns.map((turn) => turn.purpose)).toEqual(['turn']);
    const none = await play({
      chain: chat({ ...config, compact_policy: { keep_recent: 17, min_replaced_messages: 0 } }),
      job: session(17),
      script: [says('ok')],
    });
    expect(none.turns.map((turn) => turn.purpose)).toEqual(['turn']);
  });

  it('makes room once when the provider finds the request too long', async () => {
    const played = await play({
      chain: chat({ compact_policy: { keep_recent: 2 } }),
      job: session(12),
      script: [fails({ class: 'context_exceeded' }), says('short'), says('ok')],
    });
    expect(played.turns.map((turn) => turn.purpose)).toEqual(['turn', 'turn', 'compaction', 'turn']);
    // A context that refused all of it takes no summary of all of it either.
    expect(played.requests[1]?.messages[0]?.content.match(/\d+ x|\[…\]/g)).toEqual([
      '0 x',
      '[…]',
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((index) => `${index} x`),
    ]);
    expect(played.requests.at(-1)?.messages).toHaveLength(3);
    expect(played.end).toMatchObject({ kind: 'completed' });
  });
});

describe('repair', () => {
  const assistant = {
    id: 'a',
    role: 'assistant',
    content: '',
    timestamp: 't',
    tool_calls: ['x', 'y'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'local_fs.read_file', arguments: '{}' },
    })),
  };
  const user = (id: string) => ({ id, role: 'user', content: id, timestamp: 't' });
  const result = (id: string, content: string) => ({
    id: `r${id}${content}`,
    role: 'tool',
    content,
    tool_call_id: id,
    timestamp: 't',
  });

  it('gives every call of an earlier run exactly one result, in call order, and stores it', async () => {
    const base = [user('u1'), assistant, user('u2'), result('y', 'late'), result('y', 'second'), result('z', 'lost')];
    const played = await play({
      chain: chat({}, 0),
      job: { base_messages: JSON.stringify(base), input: { type: 'chat_history' } },
      script: [says('ok')],
    });
    expect(
      played.requests[0]?.messages.map((message) => [message.role, message.tool_call_id, message.content]),
    ).toEqual([
      ['user', undefined, 'u1'],
      ['assistant', undefined, ''],
      [
        'tool',
        'x',
        '{"ok":false,"error":"interrupted","message":"no result was recorded; do not assume that it ran or did not run"}',
      ],
      ['tool', 'y', 'late'],
      ['user', undefined, 'u2'],
    ]);
    expect(ofKind(played, 'message').map((event) => [event.number, event.message.role])).toEqual([
      [7, 'tool'],
      [8, 'assistant'],
    ]);
    expect(played.end).toMatchObject({
      output: {
        $history: [
          [1, 2],
          [7, 7],
          [4, 4],
          [3, 3],
          [8, 8],
        ],
      },
    });
  });

  it('says of a call that came in with the input that it may have run', async () => {
    const played = await play({
      chain: chat({}, 0),
      job: { input: { type: 'json', value: { messages: [user('u1'), assistant, result('y', 'Y')] } } },
      script: [says('ok')],
    });
    const results = played.requests[0]?.messages.filter((message) => message.role === 'tool') ?? [];
    expect(results.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual([
      [
        'x',
        '{"ok":false,"error":"interrupted","message":"no result was recorded; do not assume that it ran or did not run"}',
      ],
      ['y', 'Y'],
    ]);
  });

  it('says it too where no model is asked', async () => {
    const played = await play({
      chain: { tasks: [{ id: 'pass', handler: 'noop' }] },
      job: { input: { type: 'json', value: { messages: [user('u1'), assistant] } } },
    });
    const open = '"error":"interrupted"';
    expect(spoken(played).slice(2)).toEqual([expect.stringContaining(open), expect.stringContaining(open)]);
  });

  it('sends what it repaired in the same order at the next turn', async () => {
    const [first] = chat({}, 0).tasks;
    if (first === undefined) throw new Error('one task');
    const next = { transition: { branches: [{ operator: 'default' as const, goto: 'again' }] } };
    const played = await play({
      chain: {
        tasks: [
          { ...first, ...next },
          { ...first, id: 'again' },
        ],
      },
      job: { base_messages: JSON.stringify([user('u1'), assistant]), input: { type: 'chat_history' } },
      script: [says('one'), says('two')],
    });
    const order = (turn: number) =>
      played.requests[turn]?.messages.map((message) => message.tool_call_id ?? message.role);
    expect(order(0)).toEqual(['user', 'assistant', 'x', 'y']);
    expect(order(1)).toEqual(['user', 'assistant', 'x', 'y', 'assistant']);
  });

  it('answers the calls of a last message that nobody executes', async () => {
    const played = await play({ chain: chat({}, 0), script: [calls({ id: 'a', name: 'x.y' })] });
    expect(spoken(played).at(-1)).toContain('"error":"not_executed"');
    expect(played.end).toMatchObject({ output: { $history: [[1, 3]] } });
  });
});
