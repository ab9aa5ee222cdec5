import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCli } from '../support/run-cli.ts';
import { createProject, echoChain, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
  world.write('echo.json', echoChain);
  mkdirSync(join(world.workspace, 'folder'));
});
afterAll(() => world.remove());

const task = (more: object) => JSON.stringify({ id: 'c', tasks: [{ id: 'a', handler: 'noop', ...more }] });

describe('chains', () => {
  test.each<[string, string | null, number, RegExp]>([
    ['a missing file', null, 3, /nosuch\.json/],
    ['broken JSON', '{"id": "c", "tasks": [', 3, /bad\.json/],
    ['an unknown handler', task({ handler: 'teleport' }), 3, /teleport/],
    ['a goto to nowhere', task({ transition: { branches: [{ operator: 'default', goto: 'nowhere' }] } }), 3, /nowhere/],
    ['no tasks', '{"id":"c","tasks":[]}', 3, /tasks/],
    ['an empty file', '', 3, /bad\.json/],
    ['bytes that are no text', '\u0000\u0001', 3, /bad\.json/],
  ])('%s', async (_name, content, exit, text) => {
    if (content !== null) world.write('bad.json', content);
    const chain = content === null ? 'nosuch.json' : 'bad.json';
    const { code, stdout, stderr } = await world.run(['run', '--chain', chain, 'hi']);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(text);
    expect(stderr).toMatch(/^(?: {2}.*\n)*reins: /);
    expect(stderr).not.toContain('    at ');
  });

  test('all defects of a document are listed', async () => {
    world.write(
      'bad.json',
      JSON.stringify({
        id: 'c',
        tasks: [
          { id: 'a', handler: 'teleport' },
          { id: 'b', handler: 'noop', transition: { branches: [{ operator: 'default', goto: 'nowhere' }] } },
        ],
      }),
    );
    const { code, stderr } = await world.run(['run', '--chain', 'bad.json', 'hi']);
    expect(code).toBe(3);
    expect(stderr).toContain('teleport');
    expect(stderr).toContain('nowhere');
  });

  test('a directory is not a chain', async () => {
    expect((await world.run(['run', '--chain', 'folder', 'hi'])).code).toBe(3);
  });
});

describe('input', () => {
  const echo = ['run', '--chain', 'echo.json'];

  test.each<[string, readonly string[], RegExp]>([
    ['a missing file', [...echo, '--input', '@nosuch'], /--input: nosuch cannot be read \(no such file\)/],
    ['a directory', [...echo, '--input', '@folder'], /--input: folder is a directory/],
    ['an empty text', [...echo, '--input', ''], /--input is empty/],
    ['nothing at all', echo, /no input\n {2}reins run <text>\n {2}reins run --input @file\n/],
    ['an unknown type', [...echo, '--input-type', 'xml', 'x'], /--input-type: "xml" is not one of string, chat, json/],
    ['text that is no image', [...echo, '--image', 'echo.json', 'x'], /--image: echo\.json is not a PNG/],
    ['a missing image', [...echo, '--image', 'nosuch.png', 'x'], /--image: nosuch\.png cannot be read/],
  ])('%s exits 2', async (_name, argv, text) => {
    const { code, stdout, stderr } = await world.run(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(text);
  });

  test('invalid UTF-8 is replaced, with one warning', async () => {
    const bytes = Uint8Array.from([0x61, 0xff, 0xfe, 0x62]);
    const { code, stdout, stderr } = await world.run(echo, { stdin: bytes });
    expect([code, stdout]).toEqual([0, 'a\ufffd\ufffdb\n']);
    expect(stderr).toBe(
      'reins: warning: standard input is not UTF-8 throughout: invalid bytes were replaced by U+FFFD\n',
    );
  });

  test('a NUL byte is no text', async () => {
    expect(await world.run(echo, { stdin: 'a\u0000b' })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'reins: the input holds a NUL byte: it is not text\n',
    });
  });

  test('50 MB on a pipe are refused without being read to the end', async () => {
    const { code, stderr } = await world.run(echo, { stdin: Buffer.alloc(50_000_000, 'x') });
    expect([code, stderr]).toEqual([2, 'reins: standard input is more than the limit of 10485760 bytes (10 MiB)\n']);
  });

  test('an endless pipe is refused too', async () => {
    const started = startCli(world, echo);
    const piece = Buffer.alloc(1_000_000, 'x');
    const feed = () => {
      if (started.child.stdin.writable) started.child.stdin.write(piece, feed);
    };
    feed();
    expect((await started.ended).code).toBe(2);
  });

  test('a file that is too large is refused with its size', async () => {
    world.write('large.txt', Buffer.alloc(11_000_000, 'x'));
    expect((await world.run([...echo, '--input', '@large.txt'])).stderr).toBe(
      'reins: --input: large.txt is 11000000 bytes, more than the limit of 10485760 bytes (10 MiB)\n',
    );
  });
});

describe('names', () => {
  test.each<[string, readonly string[], number, RegExp]>([
    [
      'an unknown config key',
      ['config', 'set', 'defualt-model', 'x'],
      2,
      /unknown config key "defualt-model" \(did you mean default-model\?\)/,
    ],
    ['a bad config value', ['config', 'set', 'approval-ceiling', '1d'], 2, /approval-ceiling/],
    ['an unknown session', ['session', 'switch', 'nosuch'], 1, /nosuch/],
    ['an unknown backend', ['backend', 'show', 'nosuch'], 1, /nosuch/],
    ['a backend name with a blank', ['backend', 'add', 'my server'], 2, /my server/],
    ['a backend without its URL', ['backend', 'add', 'far', '--type', 'vllm'], 2, /--url/],
    ['an unknown backend type', ['backend', 'add', 'far', '--type', 'magic'], 2, /--type: "magic" is not one of/],
    [
      'two ways to give a key',
      ['backend', 'add', 'x', '--api-key', 'a', '--api-key-env', 'B'],
      2,
      /exclude each other/,
    ],
    ['an unknown policy', ['--policy', 'nosuch', '--chain', 'echo.json', 'hi'], 3, /nosuch/],
    ['an unknown model', ['model', 'remove', 'nosuch'], 1, /nosuch/],
    [
      'an unknown provider',
      ['init', 'nosuch'],
      2,
      /unknown provider "nosuch" \(ollama, openai, vllm, gemini, anthropic, openai-compatible, local, scripted\)/,
    ],
    ['a data directory that is missing', ['--data-dir', '/nonexistent/reins', 'hi'], 3, /nonexistent/],
  ])('%s', async (_name, argv, exit, text) => {
    const { code, stdout, stderr } = await world.run(argv);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(text);
    expect(stderr).not.toContain('    at ');
  });
});
