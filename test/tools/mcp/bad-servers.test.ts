import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { badServer, callWith, resultOf, type Tried, tryChild } from './support.ts';

let opened: Tried[] = [];
let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-mcp-'));
});
afterEach(async () => {
  await Promise.all(opened.map((connection) => connection.close()));
  opened = [];
  rmSync(directory, { recursive: true });
});

type Options = NonNullable<Parameters<typeof tryChild>[2]>;
const start = (mode: string, options: Options & { readonly more?: readonly string[] } = {}): Tried => {
  const connection = tryChild([badServer, mode, ...(options.more ?? [])], { env: { MARK: mark() } }, options);
  opened.push(connection);
  return connection;
};
const mark = (): string => join(directory, 'marks');
const marks = (): readonly string[] => readFileSync(mark(), 'utf8').trim().split('\n');
const failure = async (connection: Tried): Promise<string> => {
  const connected = await connection.connect(false);
  return connected.kind === 'failed' ? connected.reason : connected.kind;
};

describe('a server that cannot be used is one clear sentence', () => {
  it('when its program does not exist', async () => {
    const reason = (command: string, cwd = '/') => failure(tryChild([], { command, cwd }));
    expect(await reason('no-such-program-here')).toBe('the program "no-such-program-here" was not found');
    expect(await reason('node server.js')).toBe(
      'the program "node server.js" was not found; what stands behind its name is given by --arg or --args',
    );
    expect(await reason('node', '/no-such-place')).toBe(
      'the directory /no-such-place, in which it is to be started, does not exist',
    );
  });

  it('when its program may not be run', async () => {
    const file = join(directory, 'plain');
    writeFileSync(file, 'text', { mode: 0o644 });
    expect(await failure(tryChild([], { command: file }))).toBe(`"${file}" is not an executable file`);
    expect(await failure(tryChild([], { command: 'plain', env: { PATH: directory } }))).toBe(
      'the program "plain" was not found where PATH may be read, or it is not an executable file',
    );
  });

  it('when it ends at once, with what it said last', async () => {
    expect(await failure(start('exit'))).toBe('the server ended with exit code 3: no configuration found');
  });

  it('when it never answers', async () => {
    const connection = start('hang', { connectTimeoutMs: 1_000 });
    expect(await failure(connection)).toBe('no answer within 1 s');
    expect(connection.state()).toBe('failed');
  });

  it('when it speaks a version of the protocol that nobody knows', async () => {
    expect(await failure(start('version'))).toBe("Server's protocol version is not supported: 1999-01-01");
  });

  it('when it answers what is no answer', async () => {
    expect(await failure(start('nonsense'))).toBe('it answered in a form that the protocol does not have');
  });

  it.each(['flood-lines', 'flood-one-line'])(
    'MCP-005: when it floods its output (%s), and memory stays as it was',
    async (mode) => {
      const before = process.memoryUsage().rss;
      const connection = start(mode);
      expect(await failure(connection)).toBe('the server writes something else than messages to its standard output');
      expect(connection.state()).toBe('failed');
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    },
  );
});

describe('a server whose output begins with a byte order mark', () => {
  it('is understood', async () => {
    expect(await failure(start('mark-first', { connectTimeoutMs: 10_000 }))).toBe('ready');
  });
});

describe('a server that floods its stderr', () => {
  it('MCP-005: works, and of its words the last are kept', async () => {
    const before = process.memoryUsage().rss;
    const connection = start('flood-stderr');
    expect(await failure(connection)).toBe('ready');
    expect(await resultOf(connection, 'echo', { message: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    expect(connection.lastLines(2).join('')).toMatch(/^(?:noise )+n?o?i?s?e?$/);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('the list of tools', () => {
  it('is followed through its pages', async () => {
    const connection = start('pages');
    await connection.connect(false);
    expect(connection.listings).toEqual([['a', 'b', 'c', 'd']]);
  });

  it('ends where a page comes again, and after fifty pages', async () => {
    const [again, endless] = [start('repeats'), start('endless')];
    await Promise.all([again.connect(false), endless.connect(false)]);
    expect(again.notices).toEqual([
      'a second tool named a is left out',
      'its list of tools repeats a page; the rest is left out',
    ]);
    expect(endless.listings[0]).toHaveLength(50);
    expect(endless.notices).toEqual(['its list of tools has more than 50 pages; the rest is left out']);
  });

  it('is cut at a thousand tools', async () => {
    const connection = start('many', { more: ['1500'] });
    await connection.connect(false);
    expect(connection.listings[0]).toHaveLength(1000);
    expect(connection.notices).toEqual(['it has more than 1000 tools; the rest is left out']);
  });

  it('keeps no more of all its pages than one message holds, and names a few of what is left out', async () => {
    const told = async (mode: string) => {
      const connection = start(mode);
      await connection.connect(false);
      return { tools: connection.listings[0]?.length, notices: connection.notices };
    };
    const [empty, same, cursor, large] = await Promise.all(
      ['empty-pages', 'same-names', 'long-cursor', 'large'].map(told),
    );
    expect(empty).toEqual({
      tools: 0,
      notices: [
        `2000000 tools are left out for want of a usable name or schema: ${Array(5).fill('one without a name').join(', ')} and 1999995 more`,
      ],
    });
    expect(same).toEqual({
      tools: 20,
      notices: ['60 tools named as one before them are left out: t0, t1, t2, t3, t4 and 55 more'],
    });
    expect(cursor).toEqual({
      tools: 1,
      notices: ['its list of tools goes on at a place of more than 4096 characters; the rest is left out'],
    });
    expect(large).toEqual({
      tools: 2,
      notices: ['its list of tools is larger than 16 MiB; what goes beyond is left out'],
    });
  });

  it('leaves out what is no tool', async () => {
    const connection = start('odd');
    await connection.connect(false);
    expect(connection.listings).toEqual([['good']]);
    expect(connection.notices).toEqual([
      '5 tools are left out for want of a usable name or schema: "bad name", "none", one without a name, "text", "deep"',
      'a second tool named good is left out',
    ]);
  });

  it('is read again when the server says that it has changed', async () => {
    const connection = start('tools');
    await connection.connect(false);
    await resultOf(connection, 'grow', {});
    await vi.waitFor(() => expect(connection.listings).toHaveLength(2), 20_000);
    expect(connection.listings[1]).toContain('grown');
  });
});

describe('a call', () => {
  it('MCP-008: keeps the server from what it asks for', async () => {
    const connection = start('asks');
    await connection.connect(false);
    await resultOf(connection, 'echo', { message: 'x' });
    await vi.waitFor(() => expect(marks().filter((line) => line.startsWith('{'))).toHaveLength(4), 20_000);
    const answers = marks()
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const codes = Object.fromEntries(answers.map(({ id, error }) => [id, error?.code ?? 'answered']));
    expect(codes).toEqual({ 900: -32601, 901: -32601, 902: -32601, 903: 'answered' });
    expect(connection.notices).toEqual([
      'it asked for sampling/createMessage, which Reins does not offer',
      'it asked for elicitation/create, which Reins does not offer',
      'it asked for roots/list, which Reins does not offer',
    ]);
  });

  it('MCP-008: ends with a server that asks without end and reads no answer', async () => {
    const connection = start('tools');
    await connection.connect(false);
    const before = process.memoryUsage().rss;
    expect((await callWith(connection, 'beg', {})).end).toEqual({
      kind: 'lost',
      reason: 'the server asks on and on, and does not read what it is answered',
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect(connection.notices).toEqual(['it asked for sampling/createMessage, which Reins does not offer']);
    expect(await resultOf(connection, 'echo', { message: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
  });

  it('of which the server dies is unknown, is not sent again, and the next one reconnects', async () => {
    const connection = start('tools');
    const first = await resultOf(connection, 'pid', {});
    expect((await callWith(connection, 'die', {})).end).toEqual({
      kind: 'lost',
      reason: 'the server ended with exit code 1',
    });
    expect(connection.state()).toBe('failed');
    expect(await resultOf(connection, 'pid', {})).not.toEqual(first);
    expect(marks().filter((line) => line === 'call die')).toHaveLength(1);
  });

  it('that gets no answer ends after its time, and the server is told', async () => {
    const connection = start('tools', { callTimeoutMs: 1_000 });
    expect((await callWith(connection, 'wait', {})).end).toEqual({ kind: 'timeout', afterMs: 1000 });
    await vi.waitFor(() => expect(marks()).toContain('cancelled true'), 20_000);
    expect(await resultOf(connection, 'echo', { message: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
  });

  it('may take longer while the server tells of progress', async () => {
    const connection = start('tools', { callTimeoutMs: 1_000 });
    const { end, progress } = await callWith(connection, 'slow', {});
    expect(end).toMatchObject({ kind: 'result' });
    // What comes together with the result may be left out.
    expect(progress.length).toBeGreaterThanOrEqual(4);
  });

  it('with an answer of 100 MB is told so, and the server goes on', async () => {
    const connection = start('tools');
    const { end } = await callWith(connection, 'big', { bytes: 100 * 1024 * 1024 });
    expect(end).toEqual({ kind: 'too_large', reason: 'the answer is larger than 16777216 bytes' });
    expect(await resultOf(connection, 'echo', { message: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
  });

  it('with an answer of more objects than are held is told so, and the server goes on', async () => {
    const connection = start('tools');
    expect((await callWith(connection, 'parts', { count: 600_000 })).end).toEqual({
      kind: 'too_large',
      reason: 'the answer holds more than 500000 objects and lists',
    });
    expect(await resultOf(connection, 'parts', { count: 10 })).toMatchObject({ content: Array(10).fill({}) });
    // What stands in a text is one text.
    expect((await callWith(connection, 'parts', { count: 600_000, inText: true })).end.kind).toBe('result');
  });

  it('ends at once with an answer that is none', async () => {
    expect((await callWith(start('tools'), 'nothing', {})).end).toEqual({
      kind: 'rpc_error',
      code: -32603,
      message: 'it answered in a form that the protocol does not have',
    });
  });

  it('ends at once with an answer that is nested thousands deep, and the server goes on', async () => {
    const connection = start('tools');
    expect((await callWith(connection, 'deep', {})).end).toEqual({
      kind: 'rpc_error',
      code: -32603,
      message: 'it answered in a form that the protocol does not have',
    });
    expect(await resultOf(connection, 'echo', { message: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
  });

  it('gives errors of the protocol with their codes', async () => {
    const connection = start('tools');
    expect((await callWith(connection, 'wrong', {})).end).toEqual({
      kind: 'rpc_error',
      code: -32602,
      message: 'path is missing',
    });
    expect((await callWith(connection, 'broken', {})).end).toEqual({
      kind: 'rpc_error',
      code: -32603,
      message: 'out of luck',
    });
  });
});

describe('a child', () => {
  it('MCP-011: gets the base list of variables and what its record declares, and its arguments as they are', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-never-given';
    const connection = start('tools', { more: ['a', 'b c', '$(x)'] });
    const text = async (tool: string) => {
      const { content } = (await resultOf(connection, tool, {})) as { content: { text: string }[] };
      return JSON.parse(content[0]?.text ?? '');
    };
    const environment = await text('env');
    delete process.env['OPENAI_API_KEY'];
    expect(environment).toMatchObject({ MARK: mark(), REINS_RUN_ID: 'mcp:test' });
    const base = /^(?:PATH|HOME|LANG|LC_.*|TERM|TMPDIR|USER|SHELL|TZ|MARK|REINS_RUN_ID)$/;
    expect(Object.keys(environment).filter((name) => !base.test(name))).toEqual([]);
    expect(await text('args')).toEqual(['a', 'b c', '$(x)']);
  });

  it('that listens to nothing is killed', async () => {
    const connection = start('stubborn');
    await connection.connect(false);
    const pid = Number(marks()[0]?.split(' ')[1]);
    await connection.close();
    expect(existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '').toBe(false);
  });
});

describe('a server that failed', () => {
  it('is tried again only after a while, which grows', async () => {
    let now = 1_000_000;
    const connection = start('exit', { now: () => now });
    const starts = () => marks().filter((line) => line.startsWith('start')).length;
    await failure(connection);
    expect(await failure(connection)).toMatch(/; it is tried again in 1 s$/);
    expect(starts()).toBe(1);
    now += 1_000;
    await failure(connection);
    expect(starts()).toBe(2);
    now += 1_000;
    expect(await failure(connection)).toMatch(/; it is tried again in 1 s$/);
    await connection.connect(true);
    expect(starts()).toBe(3);
  });
});
