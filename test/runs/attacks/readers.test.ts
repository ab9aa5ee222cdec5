import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import type { TempHome } from '../../support/temp-home.ts';
import { createField, type Field } from './field.ts';

/** Attacks of our own by options and operands of programs that an allowlist grants, with the real programs. */

let field: Field | undefined;
afterEach(() => field?.app.close());

const secret = 'the-canary-sings';
const granting = (entries: string, ...rules: readonly unknown[]) => ({
  default_action: 'approve',
  rules: [
    ...rules,
    { tools: 'local_shell', action: 'allow', when: [{ op: 'command_prefix_allowlist', value: entries }] },
  ],
});
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** A field in whose workspace a link leads to a directory of secrets outside. */
const withSecrets = (prepare: (place: TempHome) => void = () => {}): Promise<Field> =>
  createField({
    files: {
      'private/key': secret,
      'private/a.json': JSON.stringify(secret),
      'ws/notes': 'a note\n',
      'ws/.env': `KEY=${secret}\n`,
      'ws/sub/notes': 'another\n',
      'ws/c': '#!/bin/sh\n: > ./M\nexec cat\n',
    },
    prepare(place) {
      symlinkSync('../private', join(place.workspace, 'link'));
      symlinkSync('../../private', join(place.workspace, 'sub', 'inner'));
      chmodSync(join(place.workspace, 'c'), 0o755);
      execFileSync('tar', ['-cf', 'x.tar', 'notes'], { cwd: place.workspace });
      prepare(place);
    },
  });

/** Refused; and the same line, unguarded, would have shown the secret or left a mark. */
async function refused(on: Field, entries: string, command: string): Promise<void> {
  const outcome = await on.shell(command, { policy: granting(entries) });
  expect([command, outcome.action]).toEqual([command, 'approve']);
  expect(outcome.state).toBe('skipped');
  expect(outcome.row).not.toContain(secret);
  expect(on.marks()).toEqual([]);
}

describe('a granted program', () => {
  it.each([
    'tar If ./c x.tar -t',
    'tar tIf ./c x.tar --list',
    'tar Ft ./c -t',
    'tar -t -f x.tar -I ./c',
    'tar -tf x.tar --use-compress=./c',
    'tar -tf x.tar --checkpoint=1 --checkpoint-action=exec=./c',
  ])('starts no other one by a bundle or an abbreviation: %s', async (command) => {
    field = await withSecrets();
    await refused(field, 'tar', command);
  });

  it('does so when nobody guards it', async () => {
    field = await withSecrets();
    expect(field.unguarded('tar If ./c x.tar -t')).toContain('M');
  });

  it.each([
    ['grep', 'grep -R canary sub'],
    ['grep', 'grep -nR canary .'],
    ['grep', 'grep --dereference-recursive canary .'],
    ['egrep', 'egrep -R canary .'],
    ['fgrep', 'fgrep canary link/key'],
    ['egrep', 'egrep -f link/key notes'],
    ['diff', 'diff -r sub .'],
    ['diff', 'diff --recursive sub .'],
    ['diff', 'diff -N sub .'],
    ['diff', 'diff -u . sub/'],
    ['diff', 'diff -N ./sub/.. sub'],
    ['diff', 'diff sub/notes .'],
    ['git diff', 'git diff sub .'],
    ['git diff', 'git diff -- . sub'],
    ['grep', 'grep -r -e canary -e -- .'],
    ['grep', 'grep -rz --include -- -e canary .'],
    ['git diff', 'git diff link/key notes'],
    ['git diff', 'git diff -- notes link/key'],
    ['cat', 'cat ./sub/../link/key'],
    ['cat', 'cat sub/inner/key'],
    ['head', 'head -n1 -- link/key'],
    ['sort', 'sort --files0-from=notes'],
    ['wc', 'wc --files0-from=link/key'],
    ['cut', 'cut -c1-9 link/key'],
    ['uniq', 'uniq link/key'],
    ['file', 'file -f link/key'],
    ['date', 'date -f link/key'],
    ['date', 'date --file=link/key'],
    ['stat', 'stat -L link/key'],
    ['sed', 'sed -n 1p link/key'],
    ['sed', 'sed -n 1r./link/key notes'],
    ['ls', 'ls link/'],
    ['find', 'find link/ -name key'],
    ['find', 'find -L . -name key'],
    ['find', 'find . -newer link/key'],
  ])('reads nothing outside, whatever link or option leads there: %s by %s', async (entries, command) => {
    field = await withSecrets();
    await refused(field, entries, command);
  });

  it.each([
    ['find', 'find . -fprintf M x'],
    ['find', 'find . -name notes -exec touch M {} +'],
    ['sort', 'sort -no M notes'],
    ['sort', 'sort notes --outp=M'],
    ['sort', 'sort -oM notes'],
    ['uniq', 'uniq notes M'],
    ['uniq', 'uniq -- notes M'],
    ['sed', 'sed -n -s -i.bak 1p notes'],
    ['sed', "sed -n '1w M' notes"],
    ['sed', "sed -n '1e touch M' notes"],
    ['git log', 'git log --outpu=M'],
    ['git diff', 'git diff --output M'],
  ])('writes nothing: %s by %s', async (entries, command) => {
    field = await withSecrets();
    await refused(field, entries, command);
  });

  it.runIf(has('jq'))('takes no module from elsewhere: jq', async () => {
    field = await withSecrets();
    for (const command of [
      `jq -n 'import "a" as $d {search:"../private"}; $d'`,
      `jq -n 'import "a" as $d {search:"./link"}; $d'`,
      `jq -rn 'include "a" {search:"../private"}; .'`,
      `jq -n '"a" | modulemeta'`,
      'jq -L ../private -n .',
      'jq --slurpfile x link/a.json -n .',
      'jq --rawfile x link/key -n .',
      'jq -f link/key -n .',
    ]) {
      await refused(field, 'jq', command);
    }
    const { state } = await field.shell(`jq -n '"included"'`, { policy: granting('jq') });
    expect(state).toBe('done');
  });
});

describe('a granted search', () => {
  const among = (...names: readonly string[]): Promise<Field> =>
    createField({
      files: {
        'ws/sub/notes': 'a note\n',
        ...Object.fromEntries(names.map((name) => [`ws/${name}`, `${secret}\n`])),
      },
    });

  it.each(['.env', 'sub/.netrc', '.aws/credentials', '.reins/notes', 'sub/a.pem'])(
    'does not tell what stands in %s',
    async (name) => {
      field = await among(name);
      const outcome = await field.shell('grep -r -e canary -e note .', { policy: granting('grep') });
      expect([outcome.state, outcome.row.includes('a note'), outcome.row.includes(secret)]).toEqual([
        'done',
        true,
        false,
      ]);
    },
  );

  it.each(['.docker/config.json', '.config/gh/hosts.yml', '.local/share/keyrings/login'])(
    'does not go through a directory with %s, which it cannot leave out',
    async (name) => {
      field = await among(name);
      for (const command of ['grep -r canary', 'grep -rn canary . sub', 'fgrep -r canary ./sub/..']) {
        await refused(field, 'grep,fgrep', command);
      }
      const outcome = await field.shell('grep -r note sub', { policy: granting('grep') });
      expect(outcome.state).toBe('done');
    },
  );
});

describe('curl', () => {
  it.runIf(has('curl'))('reaches no host that the policy denies, however the address is written', async () => {
    field = await withSecrets();
    const reached: string[] = [];
    const server = createServer((request, response) => {
      reached.push(request.url ?? '');
      response.end(secret);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const deny = { tools: 'webhook', action: 'deny', when: [{ key: 'url', op: 'host', value: '127.0.0.1' }] };
      for (const url of [
        `http://127.0.0.1:${port}/`,
        `http://ok.test\\@127.0.0.1:${port}/`,
        `http://{127.0.0.1,ok.test}:${port}/`,
        `http://127.0.0.[1-1]:${port}/`,
        `http://0x7f.1:${port}/`,
        `http://2130706433:${port}/`,
        `http://127.1:${port}/`,
        `http://%31%32%37.0.0.1:${port}/`,
        `http://u@127.0.0.1:${port}/`,
        `http://[::ffff:127.0.0.1]:${port}/`,
        `HTTP://127.0.0.1:${port}/`,
        `127.0.0.1:${port}/`,
        `http:127.0.0.1:${port}/`,
      ]) {
        const outcome = await field.shell(`curl -s -m 5 '${url}'`, { policy: granting('curl', deny) });
        expect([url, outcome.state]).toEqual([url, 'skipped']);
      }
      expect(reached).toEqual([]);
      // That it is an attack: what the policy reads as `ok.test`, the program takes to the address behind it.
      await promisify(execFile)('curl', ['-s', '-m', '5', `http://ok.test\\@127.0.0.1:${port}/`]);
      expect(reached).toEqual(['/']);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('a compiler', () => {
  it('is not told by an operand to write after all', async () => {
    field = await createField({ programs: ['tsc'], files: { 'ws/a.ts': 'export {};\n' } });
    for (const operand of ['false', 'null', 'true', '@flags']) {
      const { state } = await field.shell(`tsc --noEmit ${operand}`, { policy: granting('tsc') });
      expect([operand, state]).toEqual([operand, 'skipped']);
    }
    expect(field.marks()).toEqual([]);
    expect((await field.shell('tsc --noEmit a.ts', { policy: granting('tsc') })).state).toBe('done');
    expect(field.marks()).toEqual(['tsc']);
    expect(existsSync(join(field.place.workspace, 'a.js'))).toBe(false);
  });
});
