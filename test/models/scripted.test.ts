import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelPart, ModelRequest } from '../../src/models/model.ts';
import { createScripted, listScripted } from '../../src/models/scripted.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { Message, ToolSpec } from '../../src/schema/message.ts';
import type { Route } from '../../src/schema/protocol.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const route = (base_url: string, timeouts: Partial<Route['timeouts']> = {}): Route => ({
  backend: 's',
  type: 'scripted',
  base_url,
  key: null,
  headers: {},
  proxy: null,
  timeouts: { connect_ms: 1000, first_byte_ms: 1000, idle_ms: 1000, ...timeouts },
  model: 'm',
  context: 8192,
  max_output: null,
  capabilities: { chat: true, tools: true },
  num_ctx: { fixed: null, cap: 32768 },
  keep_alive: '10m',
  workspace: home.workspace,
});

function writeScript(script: unknown, name = 'script.json'): string {
  const path = join(home.workspace, name);
  writeFileSync(path, typeof script === 'string' ? script : JSON.stringify(script));
  return path;
}

/** A script of these turns, with model `m`. */
const withTurns = (turns: readonly unknown[], rest: Readonly<Record<string, unknown>> = {}) => ({
  script: 1,
  models: [{ name: 'm' }],
  turns,
  ...rest,
});

let messageNumber = 0;
const message = (role: Message['role'], content: string, rest: Partial<Message> = {}): Message => {
  messageNumber += 1;
  return { id: `m${messageNumber}`, role, content, timestamp: '2026-01-01T00:00:00.000Z', ...rest };
};
const user = (content: string, rest: Partial<Message> = {}): Message => message('user', content, rest);
const toolResult = (tool_name: string, content: string): Message =>
  message('tool', content, { tool_name, tool_call_id: 'c1' });

const tool = (tools: string, name: string): ToolSpec => ({
  tools,
  tool: name,
  description: '',
  input_schema: { type: 'object' },
  read_only: false,
});

const request = (messages: readonly Message[], rest: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  system: '',
  messages,
  tools: [],
  think: 'auto',
  attempt: 1,
  ...rest,
});

async function play(
  script: unknown,
  asked: ModelRequest,
  options: { readonly timeouts?: Partial<Route['timeouts']>; readonly signal?: AbortSignal } = {},
): Promise<ModelPart[]> {
  const model = await createScripted(route(writeScript(script), options.timeouts));
  const parts: ModelPart[] = [];
  for await (const part of model.stream(asked, options.signal ?? new AbortController().signal)) parts.push(part);
  return parts;
}

const textOf = (parts: readonly ModelPart[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

/** The text of the turn that a request gets. */
const answer = async (script: unknown, asked: ModelRequest): Promise<string> => textOf(await play(script, asked));

/** Whether a `match` holds for a request. */
async function holds(match: unknown, asked: ModelRequest): Promise<boolean> {
  const script = withTurns([{ name: 'hit', match, reply: { text: 'hit' } }], { fallback: { text: 'miss' } });
  return (await answer(script, asked)) === 'hit';
}

const loadError = async (script: unknown): Promise<string> => {
  const path = writeScript(script);
  const error = await createScripted(route(path)).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RuntimeError);
  expect((error as RuntimeError).code).toBe('config_invalid');
  return (error as RuntimeError).message.replaceAll(path, 'FILE');
};

describe('choosing a turn', () => {
  it('plays the first turn in file order whose conditions all hold', async () => {
    const script = withTurns([
      { name: 'a', match: { role: 'user', last_user: 'apple' }, reply: { text: 'a' } },
      { name: 'b', match: { last_user: 'apple pie' }, reply: { text: 'b' } },
      { name: 'c', reply: { text: 'c' } },
    ]);
    expect(await answer(script, request([user('An APPLE pie')]))).toBe('a');
    expect(await answer(script, request([user('apple pie'), message('assistant', 'x')]))).toBe('b');
    expect(await answer(script, request([user('plum')]))).toBe('c');
  });

  it('sees the newest user and assistant texts, the system text and any message', async () => {
    const history = [user('first'), message('assistant', 'reply one'), user('second')];
    expect(await holds({ last_user: { equals: 'second' } }, request(history))).toBe(true);
    expect(await holds({ last_user: 'first' }, request(history))).toBe(false);
    expect(await holds({ last_assistant: 'reply' }, request(history))).toBe(true);
    expect(await holds({ last_assistant: { empty: true } }, request([user('x')]))).toBe(true);
    expect(await holds({ any: 'first' }, request(history))).toBe(true);
    expect(await holds({ any: 'third' }, request(history))).toBe(false);
    expect(await holds({ system: 'plan' }, request(history, { system: 'You make a plan.' }))).toBe(true);
  });

  it('sees the role, the turn numbers, the attempt, the model and the level', async () => {
    const history = [user('a'), message('assistant', 'b'), user('c')];
    expect(await holds({ role: 'user' }, request(history))).toBe(true);
    expect(await holds({ role: 'assistant' }, request(history))).toBe(false);
    expect(await holds({ turn: 2, user_turn: { gte: 2, lt: 3 } }, request(history))).toBe(true);
    expect(await holds({ turn: { gt: 2 } }, request(history))).toBe(false);
    expect(await holds({ attempt: { lte: 2 } }, request(history, { attempt: 2 }))).toBe(true);
    expect(await holds({ attempt: { eq: 1 } }, request(history, { attempt: 2 }))).toBe(false);
    expect(await holds({ model: { starts_with: 'm' } }, request(history))).toBe(true);
    expect(await holds({ think: 'high' }, request(history, { think: 'high' }))).toBe(true);
    expect(await holds({ think: 'high' }, request(history))).toBe(false);
  });

  it('sees which tools are offered', async () => {
    const offered = request([user('a')], { tools: [tool('local_fs', 'read_file'), tool('echo', 'echo')] });
    expect(await holds({ offered: ['echo.echo', 'local_fs.read_file'] }, offered)).toBe(true);
    expect(await holds({ offered: ['local_shell.local_shell'] }, offered)).toBe(false);
    expect(await holds({ not_offered: ['local_shell.local_shell'] }, offered)).toBe(true);
    expect(await holds({ not_offered: ['echo.echo'] }, offered)).toBe(false);
    expect(await holds({ not_offered: ['*'] }, offered)).toBe(false);
    expect(await holds({ not_offered: ['*'] }, request([user('a')]))).toBe(true);
  });

  it('sees a tool result only as the last message, and counts results since the user spoke', async () => {
    const history = [user('go'), message('assistant', ''), toolResult('local_fs.read_file', 'one')];
    const longer = [...history, message('assistant', ''), toolResult('local_fs.read_file', '{"ok":false}')];
    expect(await holds({ tool: { name: 'read_file' } }, request(history))).toBe(true);
    expect(await holds({ tool: { count: 1 } }, request(history))).toBe(true);
    expect(await holds({ tool: { count: 1 } }, request(longer))).toBe(false);
    expect(await holds({ tool: { count: { gte: 2 }, content: { contains: ['ok', 'false'] } } }, request(longer))).toBe(
      true,
    );
    expect(await holds({ tool: { content: { not: 'false' } } }, request(longer))).toBe(false);
    expect(await holds({ tool: {} }, request([...history, user('and?')]))).toBe(false);
    expect(await holds({ tool: { count: 1 } }, request([...history, user('and?'), toolResult('x.y', 'z')]))).toBe(true);
  });

  it('counts the images of the newest user message', async () => {
    const image = { data: 'AA==', mime_type: 'image/png', sha256: '00' };
    expect(await holds({ images: 1 }, request([user('look', { images: [image] })]))).toBe(true);
    expect(await holds({ images: 0 }, request([user('look', { images: [image] }), user('x')]))).toBe(true);
  });

  it.each([
    ['a string is contained, without case', 'NEED', 'a needle', true],
    ['equals', { equals: 'A needle' }, 'a needle', true],
    ['equals, with case', { equals: 'A needle', case: true }, 'a needle', false],
    ['contains all of a list', { contains: ['a', 'needle'] }, 'a needle', true],
    ['contains not all of a list', { contains: ['a', 'thread'] }, 'a needle', false],
    ['any_of', { any_of: ['thread', 'needle'] }, 'a needle', true],
    ['any_of none', { any_of: ['thread'] }, 'a needle', false],
    ['starts_with', { starts_with: 'A n' }, 'a needle', true],
    ['ends_with', { ends_with: 'DLE' }, 'a needle', true],
    ['ends_with, with case', { ends_with: 'DLE', case: true }, 'a needle', false],
    ['empty', { empty: true }, '', true],
    ['not empty', { empty: false }, '', false],
    ['not', { not: 'needle' }, 'a needle', false],
    ['all given must hold', { starts_with: 'a', not: { ends_with: 'x' } }, 'a needle', true],
    ['regex, without case', { regex: '^A\\s+n' }, 'a needle', true],
    ['regex, with case', { regex: '^A\\s+n', case: true }, 'a needle', false],
  ])('matches text: %s', async (_name, matcher, text, expected) => {
    expect(await holds({ last_user: matcher }, request([user(text)]))).toBe(expected);
  });

  it('ends a regular expression that other engines would never finish', async () => {
    expect(await holds({ last_user: { regex: '(a+)+$' } }, request([user(`${'a'.repeat(50_000)}b`)]))).toBe(false);
  });

  it('counts how often a turn was played from the history alone', async () => {
    const script = withTurns([
      { name: 'once', times: 1, reply: { text: 'once' } },
      { name: 'then', reply: { text: 'then' } },
    ]);
    const first = await play(script, request([user('a')]));
    expect(first[0]).toEqual({ kind: 'meta', provider_meta: { scripted: { turn: 'once' } } });
    const played = message('assistant', 'once', { provider_meta: { scripted: { turn: 'once' } } });
    expect(await answer(script, request([user('a'), played, user('b')]))).toBe('then');
    const other = message('assistant', 'once', { provider_meta: { gemini: { turn: 'once' } } });
    expect(await answer(script, request([user('a'), other, user('b')]))).toBe('once');
  });

  it('says what each turn lacked when none fits', async () => {
    const script = withTurns([
      { name: 'greet', match: { role: 'user', last_user: 'hello' }, reply: { text: 'x' } },
      { name: 'late', match: { turn: 5 }, reply: { text: 'x' } },
      { match: { role: 'tool' }, reply: { text: 'x' } },
    ]);
    expect(await play(script, request([user('bye')]))).toEqual([
      {
        kind: 'error',
        error: {
          class: 'permanent',
          message: 'the script has no turn for this request: "bye" (greet: last_user; late: turn; #3: role)',
        },
      },
    ]);
  });

  it('plays the fallback, which counts as no turn', async () => {
    const script = withTurns([{ name: 'a', match: { last_user: 'a' }, reply: { text: 'x' } }], {
      fallback: { text: ['f', 'b'] },
      defaults: { usage: 'none' },
    });
    expect(await play(script, request([user('b')]))).toEqual([
      { kind: 'text', text: 'f' },
      { kind: 'text', text: 'b' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });
});

describe('a reply', () => {
  const only = (reply: unknown, rest: Readonly<Record<string, unknown>> = {}) =>
    withTurns([{ name: 't', reply }], { defaults: { usage: 'none' }, ...rest });
  const deltas = (parts: readonly ModelPart[]): string[] =>
    parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));

  it.each([
    ['word', 'Two words,  three.\nNext', ['Two ', 'words,  ', 'three.\n', 'Next']],
    ['line', 'one\ntwo\r\nthree', ['one\n', 'two\r\n', 'three']],
    ['none', 'all at once', ['all at once']],
    ['char', 'e\u0301\r\n👩‍👧x', ['e\u0301', '\r\n', '👩‍👧', 'x']],
    [2, 'abcde', ['ab', 'cd', 'e']],
  ])('is cut by %s', async (chunk, text, expected) => {
    expect(deltas(await play(only({ text, chunk }), request([user('x')])))).toEqual(expected);
  });

  it('streams thinking before text, and calls after it', async () => {
    const parts = await play(
      only({
        thinking: ['hm'],
        text: ['I will.'],
        tool_calls: [
          { name: 'local_fs.read_file', arguments: { path: 'a', deep: [1] } },
          { name: 'echo.echo', arguments: '{"broken', id: 'c9' },
        ],
      }),
      request([user('x')]),
    );
    expect(parts).toEqual([
      { kind: 'meta', provider_meta: { scripted: { turn: 't' } } },
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'I will.' },
      { kind: 'tool_call', index: 0, name: 'local_fs.read_file', arguments_delta: '{"path":"a","deep":[1]}' },
      { kind: 'tool_call', index: 1, id: 'c9', name: 'echo.echo', arguments_delta: '{"broken' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('estimates usage, reports what is written, or reports nothing', async () => {
    const usage = async (form: unknown): Promise<unknown> =>
      (await play(only({ text: ['12345678'], usage: form }), request([user('1234')], { system: '12345678' }))).find(
        (part) => part.kind === 'usage',
      );
    expect(await usage('estimate')).toEqual({
      kind: 'usage',
      usage: {
        input_tokens: 7,
        output_tokens: 6,
        reasoning_tokens: 0,
        cached_input_tokens: 0,
        total_tokens: 13,
        estimated: true,
      },
    });
    expect(await usage({ input_tokens: 5, output_tokens: 3, reasoning_tokens: 1 })).toEqual({
      kind: 'usage',
      usage: {
        input_tokens: 5,
        output_tokens: 3,
        reasoning_tokens: 1,
        cached_input_tokens: 0,
        total_tokens: 8,
        estimated: false,
      },
    });
    expect(await usage('none')).toBeUndefined();
  });

  it('fills in what the request holds', async () => {
    const history = [
      user('write about oats'),
      message('assistant', 'sure'),
      toolResult('local_fs.write_file', '{"path":"oats.txt","lines":[1,{"n":2}],"none":null}'),
    ];
    const script = JSON.parse(readFileSync('test/fixtures/scripts/substitutions.json', 'utf8'));
    const parts = await play(script, request(history, { tools: [tool('a', 'b'), tool('c', 'd')] }));
    expect(textOf(parts)).toBe(
      `oats||write about oats|sure|m|2|local_fs.write_file|oats.txt|2||a.b,c.d|${home.workspace}|\${last_user}`,
    );
    expect(parts.find((part) => part.kind === 'tool_call')).toMatchObject({
      arguments_delta: '{"raw":[1,{"n":2}],"turn":2,"text":"n=2","none":""}',
    });
  });

  it('fails as written, after as many characters as written', async () => {
    expect(
      await play(
        only({ error: { class: 'rate_limit', status: 429, retry_after_ms: 50, message: 'slow down' } }),
        request([user('x')]),
      ),
    ).toEqual([
      { kind: 'meta', provider_meta: { scripted: { turn: 't' } } },
      { kind: 'error', error: { class: 'rate_limit', message: 'slow down', status: 429, retry_after_ms: 50 } },
    ]);
    const late = await play(
      only({ text: 'partial text', error: { class: 'server_error', after_chars: 7 } }),
      request([user('x')]),
    );
    expect(late.slice(1)).toEqual([
      { kind: 'text', text: 'partial' },
      { kind: 'error', error: { class: 'server_error', message: 'scripted error of class server_error' } },
    ]);
  });

  it('plays steps exactly as they are written', async () => {
    const parts = await play(
      only({
        steps: [
          { thinking: 'h' },
          { text: 'He' },
          { wait_ms: 1 },
          { text: 'y' },
          { tool_call: { index: 0, id: 'c1', name: 'local_fs.read_file', arguments: '{"pa' } },
          { tool_call: { index: 0, arguments: 'th":"a"}' } },
          { usage: { input_tokens: 1, output_tokens: 2 } },
          { finish: 'length' },
        ],
      }),
      request([user('x')]),
    );
    expect(parts.slice(1)).toEqual([
      { kind: 'thinking', text: 'h' },
      { kind: 'text', text: 'He' },
      { kind: 'text', text: 'y' },
      { kind: 'tool_call', index: 0, id: 'c1', name: 'local_fs.read_file', arguments_delta: '{"pa' },
      { kind: 'tool_call', index: 0, arguments_delta: 'th":"a"}' },
      {
        kind: 'usage',
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          reasoning_tokens: 0,
          cached_input_tokens: 0,
          total_tokens: 3,
          estimated: false,
        },
      },
      { kind: 'finish', reason: 'length' },
    ]);
  });

  it('loses the connection: connect before the first delta, server_error after it', async () => {
    const early = await play(only({ steps: [{ drop: true }] }), request([user('x')]));
    const late = await play(only({ steps: [{ text: 'a' }, { drop: true }] }), request([user('x')]));
    expect(early.at(-1)).toMatchObject({ kind: 'error', error: { class: 'connect' } });
    expect(late.slice(1)).toMatchObject([{ kind: 'text' }, { kind: 'error', error: { class: 'server_error' } }]);
  });

  it('ends with malformed at an undecodable chunk', async () => {
    const parts = await play(only({ steps: [{ text: 'a' }, { garbage: '{{' }, { text: 'b' }] }), request([user('x')]));
    expect(parts.slice(1)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'error', error: { class: 'malformed', message: 'backend "s" sent an undecodable chunk: "{{"' } },
    ]);
  });

  it('hangs until a limit of the backend ends it, and names the limit', async () => {
    const idle = await play(only({ text: ['a'], hang: true }), request([user('x')]), { timeouts: { idle_ms: 20 } });
    expect(idle.at(-1)).toEqual({
      kind: 'error',
      error: { class: 'timeout', message: 'backend "s" sent nothing more for 0.02 s (idle limit)' },
    });
    const silent = await play(only({ hang: true }), request([user('x')]), { timeouts: { first_byte_ms: 20 } });
    expect(silent.at(-1)).toEqual({
      kind: 'error',
      error: { class: 'timeout', message: 'backend "s" sent no reply within 0.02 s (first byte limit)' },
    });
    const slow = await play(only({ text: 'a b', delay_ms: 5000 }), request([user('x')]), { timeouts: { idle_ms: 20 } });
    expect(slow.slice(1)).toMatchObject([
      { kind: 'text', text: 'a ' },
      { kind: 'error', error: { class: 'timeout' } },
    ]);
  });

  it('ends with cancelled when the signal aborts during a wait, and sends nothing more', async () => {
    const stop = new AbortController();
    const model = await createScripted(
      route(writeScript(only({ text: 'one two', delay_ms: 60_000 })), { idle_ms: 90_000 }),
    );
    const parts: ModelPart[] = [];
    for await (const part of model.stream(request([user('x')]), stop.signal)) {
      parts.push(part);
      if (part.kind === 'text') stop.abort();
    }
    expect(parts.slice(1)).toEqual([
      { kind: 'text', text: 'one ' },
      { kind: 'error', error: { class: 'cancelled', message: 'the model call was cancelled' } },
    ]);
  });

  it('ends with cancelled when the signal had aborted before', async () => {
    const parts = await play(only({ text: 'a' }), request([user('x')]), { signal: AbortSignal.abort() });
    expect(parts.at(-1)).toMatchObject({ kind: 'error', error: { class: 'cancelled' } });
  });
});

describe('expectations', () => {
  const expecting = (expect: unknown) => withTurns([{ name: 'x', reply: { text: ['ok'], expect } }]);
  const unmet = async (expectation: unknown, asked: ModelRequest): Promise<string> => {
    const [part] = await play(expecting(expectation), asked);
    return part?.kind === 'error' ? part.error.message : 'met';
  };

  it('name the turn and the first field that differs', async () => {
    const asked = request([user('hello')], { system: 'Be kind.', tools: [tool('echo', 'echo')], temperature: 0.5 });
    const start = 'script expectation failed: turn "x": ';
    expect(await unmet({ offered: ['local_shell.local_shell'] }, asked)).toBe(
      `${start}offered lacks local_shell.local_shell`,
    );
    expect(await unmet({ not_offered: ['*'] }, asked)).toBe(`${start}offered has echo.echo`);
    expect(await unmet({ system: 'cruel' }, asked)).toBe(`${start}system is "Be kind."`);
    expect(await unmet({ last_user: 'bye' }, asked)).toBe(`${start}last_user is "hello"`);
    expect(await unmet({ messages: 2 }, asked)).toBe(`${start}messages is 1`);
    expect(await unmet({ max_tokens: { lte: 5 } }, asked)).toBe(`${start}max_tokens is not set`);
    expect(await unmet({ temperature: { gt: 0.5 } }, asked)).toBe(`${start}temperature is 0.5`);
    expect(await unmet({ num_ctx: 1 }, asked)).toBe(`${start}num_ctx is not set`);
    expect(await unmet({ images: { gte: 1 } }, asked)).toBe(`${start}images is 0`);
    expect(await unmet({ think: 'off' }, asked)).toBe(`${start}think is auto`);
  });

  it('let the turn be played when all are met', async () => {
    const asked = request([user('hello')], { system: 'Be kind.', max_tokens: 100, num_ctx: 16000, temperature: 0 });
    const expectation = {
      system: 'kind',
      last_user: 'hello',
      messages: 1,
      max_tokens: 100,
      num_ctx: 16000,
      temperature: 0,
    };
    expect(await unmet(expectation, asked)).toBe('met');
  });
});

describe('a script file', () => {
  it.each([
    ['an unknown field', { ...withTurns([]), colour: 1 }, 'unknown field "colour" at FILE:/colour'],
    [
      'an unknown field of a reply',
      withTurns([{ name: 'a', reply: { text: 'x', textt: 'y' } }]),
      'unknown field "textt" at FILE:/turns/0/reply/textt',
    ],
    [
      'an unknown matcher',
      withTurns([{ name: 'a', match: { last_user: { includes: 'x' } }, reply: { text: 'x' } }]),
      'unknown field "includes" at FILE:/turns/0/match/last_user/includes',
    ],
    [
      'an unknown condition',
      withTurns([{ name: 'a', match: { mood: 'x' }, reply: { text: 'x' } }]),
      'unknown field "mood" at FILE:/turns/0/match/mood',
    ],
    [
      'a second turn of the same name',
      withTurns([
        { name: 'a', reply: { text: 'x' } },
        { name: 'a', reply: { text: 'y' } },
      ]),
      'a second turn named "a" at FILE:/turns/1/name',
    ],
    [
      'a reply without a form',
      withTurns([{ name: 'a', reply: { delay_ms: 1 } }]),
      'a reply needs a form: text, thinking or tool_calls, steps, error, or hang at FILE:/turns/0/reply',
    ],
    [
      'a reply with several forms',
      withTurns([{ name: 'a', reply: { text: 'x', steps: [] } }]),
      'steps stand alone: a reply has one form at FILE:/turns/0/reply',
    ],
    [
      'text beside an error without after_chars',
      withTurns([{ name: 'a', reply: { text: 'x', error: { class: 'connect' } } }]),
      'a reply has one form: error takes a text beside it only with after_chars at FILE:/turns/0/reply',
    ],
    [
      'a step with two keys',
      withTurns([{ name: 'a', reply: { steps: [{ text: 'x', wait_ms: 1 }] } }]),
      'a step has exactly one of text, thinking, wait_ms, tool_call, usage, finish, error, drop, hang, garbage at FILE:/turns/0/reply/steps/0',
    ],
    [
      'an unknown substitution',
      readFileSync('test/fixtures/scripts/unknown-substitution.json', 'utf8'),
      'unknown substitution $\u007bnope} at FILE:/turns/0/reply/tool_calls/0/arguments/a~1b/0',
    ],
    ['a wrong version', { ...withTurns([]), script: 2 }, 'expected the literal `1` at FILE:/script'],
    [
      'a delay out of range',
      withTurns([{ name: 'a', reply: { text: 'x', delay_ms: 60_001 } }]),
      'expected a integer less than or equal to 60000 at FILE:/turns/0/reply/delay_ms',
    ],
    [
      'an expression that the linear engine refuses',
      withTurns([{ name: 'a', match: { last_user: { regex: '(?=x)' } }, reply: { text: 'x' } }]),
      /^The script does not load: the regular expression \(\?=x\) is not valid: .* at FILE:\/turns\/0\/match\/last_user\/regex$/,
    ],
    [
      'one within what must not hold',
      withTurns([{ name: 'a', match: { tool: { content: { not: { regex: '(?=x)' } } } }, reply: { text: 'x' } }]),
      /is not valid: .* at FILE:\/turns\/0\/match\/tool\/content\/not\/regex$/,
    ],
    [
      'one that is expected',
      withTurns([{ name: 'a', reply: { text: 'x', expect: { system: { regex: '(?=x)' } } } }]),
      /is not valid: .* at FILE:\/turns\/0\/reply\/expect\/system\/regex$/,
    ],
    ['no JSON', '{', /^The script does not load: .* at FILE:\/$/],
    // Any file may be named, and the message is shown to whoever sees the backend: nothing of it is quoted.
    ['no JSON at all', 'root:x:0:0\n', 'not JSON at line 1, column 1 at FILE:/'],
  ])('is refused with its place: %s', async (_name, script, expected) => {
    const text = await loadError(script);
    if (typeof expected === 'string') expect(text).toBe(`The script does not load: ${expected}`);
    else expect(text).toMatch(expected);
  });

  it('is refused when it is missing, a directory or larger than 5 MiB', async () => {
    const refused = async (url: string): Promise<string> =>
      createScripted(route(url)).then(
        () => 'loaded',
        (error: Error) => error.message,
      );
    expect(await refused('missing.json')).toBe(
      `The script ${join(home.workspace, 'missing.json')} cannot be read: it does not exist.`,
    );
    mkdirSync(join(home.workspace, 'd.json'));
    expect(await refused('d.json')).toMatch(/cannot be read: it is not a regular file\.$/);
    writeScript(`${' '.repeat(5 * 1024 * 1024)}{}`, 'big.json');
    expect(await refused('big.json')).toMatch(/cannot be read: it is larger than 5 MiB\.$/);
    expect(await refused('builtin:nope')).toBe('There is no built-in script "nope"; the only one is builtin:demo.');
  });

  it('is found relative to the workspace and read anew each time', async () => {
    writeScript(withTurns([{ name: 'a', reply: { text: 'one' } }]), 'r.json');
    const read = async (): Promise<string> => {
      const model = await createScripted(route('r.json'));
      let text = '';
      for await (const part of model.stream(request([user('x')]), new AbortController().signal)) {
        if (part.kind === 'text') text += part.text;
      }
      return text;
    };
    expect(await read()).toBe('one');
    writeScript(withTurns([{ name: 'a', reply: { text: 'two' } }]), 'r.json');
    expect(await read()).toBe('two');
  });

  it('lists its models as written', async () => {
    const path = writeScript({
      script: 1,
      models: [{ name: 'a', context: 100, max_output: 10, capabilities: ['chat', 'vision'] }, { name: 'b' }],
      turns: [],
    });
    expect(await listScripted(path, home.workspace)).toEqual([
      {
        name: 'a',
        context: 100,
        max_output: 10,
        capabilities: { chat: true, tools: false, think: false, vision: true, embed: false },
      },
      {
        name: 'b',
        context: null,
        max_output: null,
        capabilities: { chat: true, tools: true, think: false, vision: false, embed: false },
      },
    ]);
  });
});
