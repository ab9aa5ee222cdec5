import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from './world.ts';

const literal = 'sk-lit/+aaaaBBBBcccc1111==';
const fromEnvironment = 'sk-env/+ddddEEEEffff2222==';
const header = 'hdr-secret-7777xyzQ';
const proxy = 'http://who:passw0rd-of-mine@127.0.0.1:3128/?zone=hidden-zone-9';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

/** The files of an archive, read by its directory, each checked against its sum. */
function unzip(archive: Buffer): Map<string, string> {
  const end = archive.lastIndexOf('PK\u0005\u0006');
  const files = new Map<string, string>();
  let at = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count -= 1) {
    const [sum, size, length] = [at + 16, at + 20, at + 28].map((offset) => archive.readUInt32LE(offset)) as [
      number,
      number,
      number,
    ];
    const nameLength = length & 0xffff;
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const start = archive.readUInt32LE(at + 42) + 30 + nameLength;
    const bytes = inflateRawSync(archive.subarray(start, start + size));
    expect(crc32(bytes)).toBe(sum);
    files.set(name, bytes.toString('utf8'));
    at += 46 + nameLength;
  }
  return files;
}

test('tells of the set-up and of what happened, and holds no key, message, argument or content of a file', async () => {
  await world.run(['backend', 'add', 'lit', '--type', 'vllm', '--url', 'http://127.0.0.1:1', '--api-key', literal]);
  const env = ['--url', 'http://127.0.0.1:1', '--header', `x-secret: ${header}`, '--api-key-env', 'MY_KEY'];
  await world.run(['backend', 'add', 'env', '--type', 'openai-compatible', ...env]);
  await world.run(['config', 'set', 'web-proxy', proxy]);
  await addScript(world, writingTurns);
  expect((await world.run([...tester, '--policy', 'open', 'write down my-own-words'])).code).toBe(0);
  const environment = { MY_KEY: fromEnvironment };
  const { code, stdout, stderr } = await world.run(['doctor', '--bundle', '--out', 'help.zip'], { environment });
  const path = join(world.workspace, 'help.zip');
  expect([code, stdout, stderr]).toEqual([0, `${path}\n`, '']);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  const files = unzip(readFileSync(path));
  expect([...files.keys()]).toEqual([
    'doctor.json',
    'versions.json',
    'config.json',
    'registered.json',
    'database.json',
    'log.jsonl',
  ]);
  const all = [...files.values()].join('\n');
  const secrets = [literal, fromEnvironment, header, 'passw0rd-of-mine', 'hidden-zone-9'];
  const spoken = ['my-own-words', 'I will write it.', 'It is written.', 'hello', 'new.txt'];
  for (const text of [...secrets, ...secrets.map((secret) => btoa(secret).replace(/=+$/, '')), ...spoken]) {
    expect(all).not.toContain(text);
  }
  const { rows } = JSON.parse(files.get('database.json') ?? '');
  expect(rows).toMatchObject({ runs: 1, tool_calls: 1, asks: 0 });
  expect(JSON.parse(files.get('versions.json') ?? '')).toMatchObject({ version: '0.1.0', schema: 3 });
  expect(JSON.parse(files.get('registered.json') ?? '').backends).toMatchObject([
    { name: 'env', keySource: 'env:MY_KEY', headers: ['x-secret'] },
    { name: 'lit', keySource: 'stored' },
    { name: 'script' },
    { name: 'scripted' },
    { name: 'demo' },
  ]);
  const log = (files.get('log.jsonl') ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(log.map(({ kind }) => kind)).toContain('policy_decision');
  expect(log.find(({ kind }) => kind === 'tool_call')).toMatchObject({
    tools: 'local_fs',
    tool: 'write_file',
    ok: true,
  });
  expect(log.at(-1)).toMatchObject({ kind: 'chain_completed', status: 'completed', exit_code: 0 });
});

test('has a name of its own, never replaces a file, and goes with a database that cannot be read', async () => {
  truncateSync(join(world.workspace, '.reins/local.db'), 5000);
  const { code, stdout } = await world.run(['doctor', '--bundle', '--skip-probe']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\/reins-doctor-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.zip\n$/);
  const [name = ''] = readdirSync(world.workspace).filter((file) => file.startsWith('reins-doctor-'));
  const bytes = readFileSync(join(world.workspace, name));
  expect(unzip(bytes).get('doctor.json')).toContain('database_corrupt');
  expect(await world.run(['doctor', '--bundle', '--skip-probe', '--out', name])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `reins: --out: ${join(world.workspace, name)} exists already\n  reins doctor --bundle\n`,
  });
  expect(readFileSync(join(world.workspace, name)).equals(bytes)).toBe(true);
  expect((await world.run(['doctor', '--out', 'x.zip'])).code).toBe(2);
});
