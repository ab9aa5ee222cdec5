import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readGlobals } from '../../src/cli/globals.ts';
import { type Invocation, parse } from '../../src/cli/parse.ts';
import { scan } from '../../src/cli/scan.ts';
import type { ValueSite } from '../../src/cli/values.ts';

const site: ValueSite = { now: 0, absolute: (path) => (path.startsWith('/') ? path : `/w/${path}`) };
const read = (...argv: readonly string[]): Promise<Invocation> => parse(scan(argv), import.meta, site);
const globals = async (argv: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  readGlobals((await read(...argv)).flags, environment, site);

test('reads every kind of flag through meow', async () => {
  const { name, words, flags } = await read(
    'backend',
    'add',
    'far',
    '--type=openai',
    '--header',
    'A: 1',
    '--header',
    'B: 2',
    '--connect-timeout',
    '5s',
    '--no-color',
    '--max-turns',
    '3',
    '--context',
    '32k',
  );
  expect([name, words]).toEqual(['backend add', ['far']]);
  expect([flags.text('type'), flags.list('header'), flags.number('connect-timeout')]).toEqual([
    'openai',
    ['A: 1', 'B: 2'],
    5000,
  ]);
  expect([flags.bool('color'), flags.number('max-turns'), flags.number('context')]).toEqual([false, 3, 32_000]);
  expect([flags.text('url'), flags.has('url'), flags.bool('json')]).toEqual([null, false, null]);
});

test('a text value comes through as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      expect((await read('run', '--input', text)).flags.text('input')).toBe(text);
      expect((await read('run', `--input=${text}`)).flags.text('input')).toBe(text);
      expect((await read('run', '--var', text, `--var=${text}`)).flags.list('var')).toEqual([text, text]);
    }),
    { examples: [['"quoted"'], ["'x'"], ['0x10'], ['-5'], ['a=b'], ['--'], ['line\nbreak'], ['true'], ['']] },
  );
});

test('words keep their order and look', async () => {
  expect((await read('run', 'say', '--steps', '007', '', '--', '-x', '--json')).words).toEqual([
    'say',
    '007',
    '',
    '-x',
    '--json',
  ]);
});

test('flag beats environment, which beats nothing', async () => {
  expect(await globals(['hi'], { REINS_MODEL: 'e', REINS_TIMEOUT: '90s' })).toMatchObject({
    model: { value: 'e', source: 'environment' },
    timeoutMs: 90_000,
  });
  expect(await globals(['--model', 'f', 'hi'], { REINS_MODEL: 'e' })).toMatchObject({
    model: { value: 'f', source: 'flag' },
  });
  expect(await globals(['hi'], { REINS_MODEL: '' })).toMatchObject({ model: null, timeoutMs: null, format: 'text' });
});

test('the variables of providers, places and numbers are read as their flags are', async () => {
  const environment = {
    REINS_PROVIDER: 'scripted',
    REINS_CONTEXT: '16k',
    REINS_DB: '/srv/x.db',
    REINS_DATA_DIR: '/srv/d',
  };
  const flags = ['--provider', 'scripted', '--context', '16k', '--db', '/srv/x.db', '--data-dir', '/srv/d'];
  const [given, set] = [await globals([...flags, 'hi']), await globals(['hi'], environment)];
  expect(set).toMatchObject({ provider: { value: 'scripted', source: 'environment' }, context: 16_000 });
  expect([set.database?.value, set.dataDir?.value, set.context]).toEqual([
    given.database?.value,
    given.dataDir?.value,
    given.context,
  ]);
  await expect(globals(['hi'], { REINS_CONTEXT: 'much' })).rejects.toThrow('REINS_CONTEXT: ');
});

test('a bad variable is named as the source', async () => {
  await expect(globals(['hi'], { REINS_TIMEOUT: '5' })).rejects.toThrow('REINS_TIMEOUT: "5" is not a duration');
  await expect(globals(['hi'], { REINS_ON_ASK: 'maybe' })).rejects.toThrow(
    'REINS_ON_ASK: "maybe" is not one of wait, suspend, deny',
  );
  await expect(globals(['hi'], { REINS_TENANT: 'ME' })).rejects.toThrow('REINS_TENANT: "ME" is not a lower-case UUID');
  await expect(globals(['hi'], { REINS_TRACE: 'yes' })).rejects.toThrow('REINS_TRACE is 1 or 0, not "yes"');
});

test('output formats exclude each other', async () => {
  expect((await globals(['--json', 'hi'])).format).toBe('json');
  expect((await globals(['hi'], { REINS_OUTPUT_FORMAT: 'stream-json' })).format).toBe('stream-json');
  await expect(globals(['--raw', '--json', 'hi'])).rejects.toThrow('--raw and a JSON output format');
  await expect(globals(['--json', '--output-format', 'text', 'hi'])).rejects.toThrow('exclude each other');
});

test('a policy is a name or the path of a document', async () => {
  expect((await globals(['--policy', 'strict', 'hi'])).policy?.value).toBe('strict');
  expect((await globals(['--policy', 'p.json', 'hi'])).policy?.value).toBe('/w/p.json');
  expect((await globals(['--policy', './p', 'hi'])).policy?.value).toBe('/w/./p');
  await expect(globals(['--policy', 'Strict!', 'hi'])).rejects.toThrow('neither a policy name');
});

test('OLLAMA_HOST is read as other programs write it', async () => {
  const host = async (text: string) => (await globals(['hi'], { OLLAMA_HOST: text })).ollama?.value;
  expect(await host('0.0.0.0')).toBe('http://127.0.0.1:11434');
  expect(await host('box:8000')).toBe('http://box:8000');
  expect(await host('http://box')).toBe('http://box:11434');
  expect((await globals(['--ollama', 'http://box', 'hi'])).ollama?.value).toBe('http://box');
  await expect(globals(['--ollama', 'ftp://box', 'hi'])).rejects.toThrow('must be http or https');
  await expect(globals(['--ollama', 'http://u:p@box', 'hi'])).rejects.toThrow('must not hold a user or password');
});

test('--think has levels, aliases and a default', async () => {
  expect((await globals(['--think', 'hi'])).think).toEqual({ show: true, level: 'medium' });
  expect((await globals(['--think=max', 'hi'])).think).toEqual({ show: true, level: 'xhigh' });
  expect((await globals(['--think=off', 'hi'])).think).toEqual({ show: false, level: 'off' });
  expect((await globals(['hi'])).think).toEqual({ show: false, level: null });
  await expect(globals(['--think=hard', 'hi'])).rejects.toThrow('--think: "hard" is not one of auto, off');
});
