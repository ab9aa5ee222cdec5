import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { complete } from '../../src/cli/complete.ts';
import { cliEnvironment, program } from '../support/run-cli.ts';
import { createWorld } from './world.ts';

const closed = async () => null;
const candidates = (...words: readonly string[]) => complete(words, closed, '/');

test('completes commands, subcommands and their flags', async () => {
  expect(await candidates('ses')).toEqual(['session']);
  expect(await candidates('session', 's')).toEqual(['search', 'show', 'switch']);
  expect(await candidates('session', 'show', '--t')).toEqual([
    '--tail',
    '--tenant',
    '--think',
    '--timeout',
    '--tools',
    '--trace',
    '--trust',
  ]);
  expect(await candidates('--json', 'conf')).toEqual(['config']);
});

test('completes the words of a flag and of an argument', async () => {
  expect(await candidates('run', '--on-ask', '')).toEqual(['deny', 'suspend', 'wait']);
  expect(await candidates('--output-format=s')).toEqual(['--output-format=stream-json']);
  expect(await candidates('completion', '')).toEqual(['bash', 'fish', 'zsh']);
  expect(await candidates('help', 'exit')).toEqual(['exit-codes']);
  expect(await candidates('config', 'get', 'tui-m')).toEqual(['tui-mode', 'tui-mouse']);
});

test('completes what an earlier word decides about: the values of a key, the subcommands of a command', async () => {
  expect(await candidates('config', 'set', 'on-ask', '')).toEqual(['deny', 'suspend', 'wait']);
  expect(await candidates('config', 'set', 'beam-token-scope', 'f')).toEqual(['full']);
  expect(await candidates('config', '--json', 'set', 'plan-manager', '')).toEqual(['false', 'true']);
  expect(await candidates('config', 'set', 'default-provider', 'o')).toEqual(['ollama', 'openai', 'openai-compatible']);
  expect(await candidates('config', 'set', 'max-rounds', '')).toEqual([]);
  expect(await candidates('config', 'set', 'nosuch', '')).toEqual([]);
  expect(await candidates('help', 'session', 's')).toEqual(['search', 'show', 'switch']);
  expect(await candidates('help', 'run', '')).toEqual([]);
  expect(await candidates('help', 'flags', '')).toEqual([]);
  const world = createWorld();
  await world.run(['init', 'scripted']);
  expect((await world.run(['__complete', 'config', 'set', 'default-model', ''])).stdout).toBe('demo\n');
  expect((await world.run(['__complete', 'config', 'set', 'hitl-policy-name', 'r'])).stdout).toBe('read-only\n');
  world.remove();
});

test('completes the files behind @ where a value may be read from one', async () => {
  const world = createWorld();
  for (const name of ['note.txt', 'notes/a.md', 'notes/b c.md', '.hidden', 'bad\nname']) world.write(name, '');
  const at = (...words: readonly string[]) => complete(words, closed, world.workspace);
  expect(await at('run', '--input', '@no')).toEqual(['@note.txt', '@notes/']);
  expect(await at('--input=@')).toEqual(['--input=@note.txt', '--input=@notes/']);
  expect(await at('chat', '--input', '@./notes/')).toEqual(['@./notes/a.md', '@./notes/b c.md']);
  expect(await at('run', '--input', '@.h')).toEqual(['@.hidden']);
  expect(await at('run', '--input', `@${world.workspace}/note.`)).toEqual([`@${world.workspace}/note.txt`]);
  expect(await at('run', '--input', '@nosuch/x')).toEqual([]);
  // The sign itself, a text, and a flag that reads no file.
  expect([await at('--input', '@@'), await at('--input', 'no'), await at('--model', '@no')]).toEqual([[], [], []]);
  // A link in a circle, and one to a directory.
  symlinkSync('round', join(world.workspace, 'round'));
  symlinkSync('notes', join(world.workspace, 'rows'));
  expect(await at('run', '--input', '@ro')).toEqual(['@round', '@rows/']);
  world.remove();
});

test('gives nothing where nothing can be opened, and never fails', async () => {
  expect(await candidates('session', 'switch', '')).toEqual([]);
  expect(await complete(['session', 'switch', ''], () => Promise.reject(new Error('no database')), '/')).toEqual([]);
  expect(await candidates('nosuch', 'thing', '--x')).toEqual([]);
});

test('the script of bash completes words that bash itself cuts at = and :', async () => {
  const world = createWorld();
  await world.run(['init', 'scripted']);
  await world.run(['model', 'add', 'tiny:1b', '--backend', 'scripted']);
  const bin = join(world.home, 'reins');
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(bin, 0o755);
  const typed = (line: string): string[] =>
    execFileSync(
      'bash',
      [
        '-c',
        `source <(reins completion bash); COMP_WORDBREAKS=' =:'; COMP_LINE=$1 COMP_POINT=\${#1}; _reins; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        line,
      ],
      {
        cwd: world.workspace,
        env: cliEnvironment(world, { PATH: `${world.home}:${process.env['PATH'] ?? '/usr/bin:/bin'}` }),
        encoding: 'utf8',
      },
    )
      .trimEnd()
      .split('\n');
  expect(typed('reins ses')).toEqual(['session']);
  expect(typed('reins session ')).toContain('switch');
  expect(typed('reins --provider=v')).toEqual(['vllm']);
  expect(typed('reins --provider v')).toEqual(['vllm']);
  expect(typed('reins model show tiny:')).toEqual(['1b']);
  world.write('my file.txt', '');
  world.write('my dir/x', '');
  expect(typed('reins run --input @my')).toEqual(['@my\\ dir/', '@my\\ file.txt']);
  expect(typed('reins --input=@my\\ f')).toEqual(['@my\\ file.txt']);
  // Behind an opened quote, which bash leaves where it is; within a closed one, and between two.
  world.write("my 'x.txt", '');
  expect(typed('reins "ses')).toEqual(['session']);
  expect(typed("reins 'session' 'sw")).toEqual(['switch']);
  expect(typed('reins --input "@my ')).toEqual(["@my 'x.txt", '@my dir/', '@my file.txt']);
  expect(typed("reins --input '@my ")).toEqual(['@my dir/', '@my file.txt']);
  expect(typed('reins --input="@my f')).toEqual(['@my file.txt']);
  expect(typed('reins --input "@my file.txt" --provider=v')).toEqual(['vllm']);
  world.remove();
});

const zsh = spawnSync('zsh', ['--version']).status === 0;

test.runIf(zsh)('the script of zsh loads where nothing else did, and is the function itself in fpath', async () => {
  const world = createWorld();
  const { stdout } = await world.run(['completion', 'zsh']);
  const script = world.write('_reins', stdout);
  const said = (line: string) =>
    execFileSync('zsh', ['-f', '-c', line, 'zsh', script, world.workspace], {
      env: cliEnvironment(world),
      encoding: 'utf8',
    });
  expect(said('source $1; print -- $_comps[reins]')).toBe('_reins\n');
  // The first call is the one that somebody waits for.
  const asked = 'fpath=($2); autoload -U _reins; reins() { print -u 3 -- $* }; compadd() { :; }; _files() { :; };';
  expect(said(`${asked} words=(reins ses) CURRENT=2; _reins 3>&1`)).toBe('__complete ses\n');
  const quoted = `typeset -A compstate=(quote '"'); words=(reins '"session"' '"my s'); CURRENT=3;`;
  expect(said(`${asked} ${quoted} _reins 3>&1`)).toBe('__complete session my s\n');
  world.remove();
});
