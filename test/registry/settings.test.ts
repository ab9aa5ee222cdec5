import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigKey, configKeys, configTable, configWarning, parseConfig } from '../../src/schema/config.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { openRooms, type Rooms } from './rooms.ts';

let rooms: Rooms;
beforeEach(async () => {
  rooms = await openRooms();
});
afterEach(() => {
  rooms.close();
  rooms.home.remove();
});

const refusal = async (doing: Promise<unknown>): Promise<string> => {
  const error: unknown = await doing.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RuntimeError);
  return `${(error as RuntimeError).code}: ${(error as RuntimeError).message}`;
};

describe('config values', () => {
  it.each<[ConfigKey, string, string, unknown]>([
    ['default-model', 'llama3.2:3b', 'llama3.2:3b', 'llama3.2:3b'],
    ['default-provider', 'openai', 'openai', 'openai'],
    ['default-provider', '', '', null],
    ['approval-ceiling', '1h30m', '1h30m', 5_400_000],
    ['approval-ceiling', 'forever', 'never', 'never'],
    ['max-rounds', '10000', '10000', 10_000],
    ['default-timeout', '0', '0', 0],
    ['default-timeout', '0.5h', '0.5h', 1_800_000],
    ['num-ctx-cap', '16k', '16000', 16_000],
    ['keep-alive', '-1', '-1', '-1'],
    ['state-retention', 'never', 'never', 'never'],
    ['shell', 'true', 'true', true],
    ['shell-env', 'FOO, BAR_*', 'FOO,BAR_*', ['FOO', 'BAR_*']],
    ['shell-timeout', '1h', '1h', 3_600_000],
    ['web-proxy', 'http://proxy:3128', 'http://proxy:3128', 'http://proxy:3128'],
    ['web-private-hosts', 'nas.local,10.0.0.5:8080', 'nas.local,10.0.0.5:8080', ['nas.local', '10.0.0.5:8080']],
    ['think', 'xhigh', 'xhigh', 'xhigh'],
    ['beam-host', '::1', '::1', '::1'],
    ['beam-port', '0', '0', 0],
    ['beam-public-origin', 'https://a.example:8443', 'https://a.example:8443', ['https://a.example:8443']],
    ['tui-guard-ms', '400', '400', 400],
  ])('accepts %s = %j', (key, text, stored, value) => {
    expect(parseConfig(key, text)).toEqual({ text: stored, value });
  });

  it.each<[ConfigKey, string]>([
    ['default-provider', 'nosuch'],
    ['hitl-policy-name', 'Not A Name'],
    ['approval-ceiling', '30'],
    ['approval-ceiling', '1.5s'],
    ['approval-ceiling', '0'],
    ['approval-ceiling', '8d'],
    ['approval-ceiling', '169h'],
    ['approval-ceiling', ''],
    ['max-rounds', '0'],
    ['max-rounds', '1e3'],
    ['default-timeout', '5'],
    ['default-timeout', '-5m'],
    ['num-ctx-cap', '0'],
    ['num-ctx-cap', '1.5k'],
    ['on-ask', 'ask'],
    ['shell', 'yes'],
    ['shell-env', '1FOO'],
    ['shell-timeout', '500ms'],
    ['web-timeout', '6m'],
    ['web-proxy', 'proxy:3128'],
    ['web-proxy', 'ftp://proxy:3128'],
    ['web-proxy', 'http://'],
    ['beam-host', 'example.org'],
    ['beam-host', '1.2.3'],
    ['beam-port', '65536'],
    ['beam-public-origin', 'https://a.example/path'],
    ['tui-guard-ms', '399'],
    ['tool-parallelism', '33'],
    ['max-tool-result-bytes', '4095'],
  ])('refuses %s = %j', (key, text) => {
    expect(parseConfig(key, text)).toBeNull();
  });

  it('have defaults that are acceptable themselves', () => {
    for (const key of configKeys)
      expect(`${key}: ${parseConfig(key, configTable[key].fallback) !== null}`).toBe(`${key}: true`);
  });

  it('warn about variables that look like secrets', () => {
    expect(configWarning('shell-env', 'FOO,GITHUB_TOKEN')).toBe(
      'GITHUB_TOKEN looks like a secret; every program that a tool starts will see it',
    );
    expect(configWarning('shell-env', 'FOO')).toBeNull();
  });
});

describe('settings', () => {
  it('says how a value is taken away to who sets an empty one', async () => {
    await expect(rooms.settings.setConfig({ key: 'default-model', value: '' })).rejects.toMatchObject({
      hints: ['reins config unset default-model', 'reins help config'],
    });
  });

  it('are set, shown, unset and listed', async () => {
    const { settings } = rooms;
    expect(await settings.getConfig({ key: 'default-model' })).toEqual({
      key: 'default-model',
      value: 'qwen2.5:7b',
      source: 'default',
    });
    expect(await settings.setConfig({ key: 'num-ctx-cap', value: '16k' })).toEqual({
      key: 'num-ctx-cap',
      value: '16000',
      source: 'set',
    });
    expect(settings.value('num-ctx-cap')).toBe(16_000);
    expect(settings.isSet('num-ctx-cap')).toBe(true);
    expect(await settings.unsetConfig({ key: 'num-ctx-cap' })).toEqual({
      key: 'num-ctx-cap',
      value: '32768',
      source: 'default',
    });
    expect(await settings.getConfig({ key: 'default-provider' })).toEqual({
      key: 'default-provider',
      value: '',
      source: 'unset',
    });
    const keys = (await settings.listConfig()).map(({ key }) => key);
    expect(keys).toEqual([...keys].sort());
    expect(keys).toHaveLength(47);
  });

  it('show no password of a proxy, and keep it when they are saved as they were shown', async () => {
    const { settings } = rooms;
    const key = 'web-proxy';
    const shown = { key, value: 'http://•••@proxy.example:3128', source: 'set' };
    expect(await settings.setConfig({ key, value: 'http://me:hunter2@proxy.example:3128' })).toEqual(shown);
    expect(await settings.setConfig(shown)).toEqual(shown);
    expect(settings.value(key)).toBe('http://me:hunter2@proxy.example:3128');
    expect(await refusal(settings.setConfig({ key, value: 'http://•••@other.example' }))).toBe(
      'usage: ••• stands for a value that is not shown; give web-proxy as a whole.',
    );
  });

  it('have the amended defaults', () => {
    expect(rooms.settings.value('max-rounds')).toBe(200);
    expect(rooms.settings.value('shell')).toBe(false);
  });

  it('refuse an unknown key and a bad value, naming what there is', async () => {
    const { settings } = rooms;
    expect(await refusal(settings.setConfig({ key: 'nope', value: 'x' }))).toMatch(
      /^usage: There is no config key "nope"; the keys are allow-default-login, approval-ceiling, /,
    );
    expect(await refusal(settings.getConfig({ key: 'toString' }))).toMatch(/^usage: There is no config key/);
    expect(await refusal(settings.setConfig({ key: 'on-ask', value: 'ask' }))).toBe(
      'usage: "ask" is not a value of on-ask; it takes wait, suspend, deny.',
    );
    expect(rooms.changes).toEqual([]);
  });

  it('are recorded when they change, without the value', async () => {
    await rooms.settings.setConfig({ key: 'think', value: 'high' });
    await rooms.settings.unsetConfig({ key: 'think' });
    expect(rooms.changes).toEqual([
      { type: 'config_changed', key: 'think', change: 'set' },
      { type: 'config_changed', key: 'think', change: 'unset' },
    ]);
  });

  it('keep the shell key in the user directory, and never read it from a database', async () => {
    const { settings, home } = rooms;
    const file = join(home.home, 'config.json');
    await settings.setConfig({ key: 'shell', value: 'true' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ shell: 'true' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(settings.value('shell')).toBe(true);
    chmodSync(file, 0o666);
    expect(settings.value('shell')).toBe(false);
    chmodSync(file, 0o600);
    await settings.unsetConfig({ key: 'shell' });
    expect(settings.value('shell')).toBe(false);
  });

  it.each([
    ['a list', '[]', 0o600, 'is not one JSON object', 'mv FILE FILE.bak'],
    ['a slip of the pen', '{"shell": "true"', 0o600, 'is not JSON (line 1, column 17)', 'mv FILE FILE.bak'],
    ['open to others', '{"shell": "true"}', 0o622, 'can be written by other users', 'chmod 600 FILE'],
  ])('of the user directory hold nothing and are not written over: %s', async (_name, text, mode, what, hint) => {
    const { settings, home } = rooms;
    const file = join(home.home, 'config.json');
    writeFileSync(file, text);
    chmodSync(file, mode);
    expect(settings.value('shell')).toBe(false);
    const expected = {
      code: 'config_invalid',
      message: `The settings file ${file} is not used: it ${what}.`,
      hints: [hint.replaceAll('FILE', file)],
    };
    await expect(settings.setConfig({ key: 'shell', value: 'true' })).rejects.toMatchObject(expected);
    await expect(settings.unsetConfig({ key: 'shell' })).rejects.toMatchObject(expected);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(mode);
    const { issues } = (await rooms.setup.doctor({ probe: false })).status;
    expect(issues.filter(({ code }) => code === 'config_unreadable')).toEqual([
      {
        code: 'config_unreadable',
        severity: 'warning',
        category: 'storage',
        message: `${expected.message} The defaults count for its keys: shell.`,
        fixPath: null,
        cliCommand: expected.hints[0],
        subject: file,
      },
    ]);
  });

  it('of the user directory may begin with a byte order mark, and an empty file is none', async () => {
    const { settings, home } = rooms;
    const file = join(home.home, 'config.json');
    writeFileSync(file, '\ufeff{"shell": "true"}', { mode: 0o600 });
    expect(settings.value('shell')).toBe(true);
    writeFileSync(file, '');
    expect(settings.value('shell')).toBe(false);
    await settings.setConfig({ key: 'shell', value: 'true' });
    expect(settings.value('shell')).toBe(true);
  });

  it('count as default when the stored value cannot be read, and say so', async () => {
    const { settings, home } = rooms;
    writeFileSync(join(home.home, 'config.json'), '{"shell": 1}', { mode: 0o600 });
    expect(settings.value('shell')).toBe(false);
    expect(settings.unreadable()).toEqual(['shell']);
  });
});
