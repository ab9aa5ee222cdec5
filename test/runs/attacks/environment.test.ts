import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World } from '../../cli/world.ts';
import { allowAll } from '../../support/scripted-app.ts';
import { createField, type Field } from './field.ts';

/** Attacks of `attack-cases.json` by variables and on them. */

let field: Field | undefined;
let world: World | undefined;
afterEach(async () => {
  await field?.app.close();
  world?.remove();
  field = undefined;
  world = undefined;
});

/** What a script says back: the result of the call. */
const echo = '$' + '{tool.content}';
const key = 'sk-canary-0123456789-abcdefghijkl';

describe('ENV-001', () => {
  it('variables that load code reach no child, whoever set them', async () => {
    const loaders = {
      LD_PRELOAD: './e.so',
      LD_LIBRARY_PATH: '.',
      BASH_ENV: './x',
      ENV: './x',
      SHELLOPTS: 'xtrace',
      PS4: '$(: > M)',
      NODE_OPTIONS: '--require ./x.js',
      PYTHONSTARTUP: './x',
      PYTHONPATH: '.',
      PERL5OPT: '-Mx',
      PERL5LIB: '.',
      RUBYOPT: '-r./x',
      GIT_SSH_COMMAND: 'touch M',
      GIT_EXTERNAL_DIFF: 'touch M',
      GIT_CONFIG_COUNT: '1',
      GIT_EXEC_PATH: '.',
      GIT_DIR: '.',
      LESSOPEN: '|touch M',
      PAGER: 'touch M',
      EDITOR: 'touch M',
      RIPGREP_CONFIG_PATH: './x',
      TAR_OPTIONS: '--checkpoint=1',
      GREP_OPTIONS: '-f',
      PROMPT_COMMAND: 'touch M',
      IFS: '/',
      CDPATH: '/',
      'BASH_FUNC_ls%%': '() { : > M; }',
    };
    field = await createField({
      environment: loaders,
      files: { 'ws/x': ': > M\n', 'ws/x.js': 'require("fs").writeFileSync("M","")' },
    });
    for (const command of [
      'env',
      'sh -c env',
      'bash -c "ls; env"',
      'node -e "console.log(process.env)"',
      'python3 -c 1',
      'git --version',
    ]) {
      const { row } = await field.shell(command, { policy: allowAll });
      for (const name of Object.keys(loaders)) {
        // What a shell sets for itself is its own.
        if (['PS4', 'IFS', 'SHELLOPTS'].includes(name)) continue;
        expect([command, name, new RegExp(`\\b${name}\\b`).test(row.slice(row.indexOf('stdout')))]).toEqual([
          command,
          name,
          false,
        ]);
      }
    }
    expect(field.marks()).toEqual([]);
  });
});

describe('ENV-002', () => {
  it('the key of the operator is in no output, and the entry of the process is not read', async () => {
    field = await createField({ environment: { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key } });
    for (const command of [
      'env',
      'printenv',
      'printenv OPENAI_API_KEY',
      'export -p',
      'set',
      'cat /proc/self/environ',
      'sh -c "echo $OPENAI_API_KEY"',
    ]) {
      const { row } = await field.shell(command, { policy: allowAll });
      expect([command, row.includes('canary-0123')]).toEqual([command, false]);
    }
    for (const path of [
      `/proc/${process.pid}/environ`,
      `/proc/${process.pid}/task/${process.pid}/environ`,
      `/proc/${process.pid}/mem`,
    ]) {
      for (const command of [
        `cat ${path}`,
        `cat < ${path}`,
        `cd /proc && cat ${path.slice(6)}`,
        `dd if=${path}`,
        `tr a b <${path}`,
      ]) {
        const { action, state } = await field.shell(command, { policy: allowAll });
        expect([command, action, state]).toEqual([command, 'deny', 'skipped']);
      }
    }
  });

  it('nor does a command find it that looks through every process it can see', async () => {
    world = await createProject({ apart: true });
    const policy = world.write('../allow.json', JSON.stringify(allowAll));
    chmodSync(policy, 0o600);
    // The process that starts the command has nothing; what its ancestors hold is masked wherever it turns up.
    // It stands in a file, where no list looks; in a line it would be asked about.
    const script =
      'tr "\\0" "\\n" < /proc/$PPID/environ; echo parent; ' +
      'for p in $(ls /proc); do tr "\\0" "\\n" < /proc/$p/environ | grep -a OPENAI; done 2>&1; true';
    world.write('look', script);
    const command = 'sh look';
    const environment = { OPENAI_API_KEY: key };
    const url = ['--url', 'http://127.0.0.1:1/v1'];
    const far = ['backend', 'add', 'far', '--type', 'openai', '--api-key-env', 'OPENAI_API_KEY', ...url];
    expect((await world.run(far, { environment })).code).toBe(0);
    await addScript(world, [
      {
        match: { role: 'user' },
        reply: { text: 'I look.', tool_calls: [{ name: 'local_shell.local_shell', arguments: { command } }] },
      },
      { match: { role: 'tool' }, reply: { text: echo } },
    ]);
    const result = await world.run(
      ['run', ...tester, '--shell', '--policy', policy, '--on-ask', 'deny', '--json', 'go'],
      { environment },
    );
    const [parent, others] = JSON.parse(result.stdout).result.split('parent');
    expect(parent).not.toContain('OPENAI');
    expect(others).toContain('OPENAI_API_KEY');
    expect(result.stdout + result.stderr).not.toContain('canary-0123');
  });
});

describe('ENV-004', () => {
  it('nothing that a call sets is there for the next one', async () => {
    field = await createField({ files: { 'ws/evil/ls': '#!/bin/sh\n: > M\n' } });
    chmodSync(join(field.place.workspace, 'evil', 'ls'), 0o755);
    const shell = (command: string) => ({ tool: 'local_shell.local_shell', args: { command }, policy: allowAll });
    const outcomes = await field.inOneRun(
      shell('export PATH=./evil:$PATH; true'),
      shell('ls'),
      shell('PATH=./evil:$PATH; hash -r; alias ls=evil/ls; true'),
      shell('ls | cat'),
      shell('cd evil; umask 0; true'),
      shell('pwd && printenv PATH'),
    );
    expect(outcomes.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'done', 'done']);
    expect(outcomes[5]?.row).not.toContain('evil');
    expect(field.marks()).toEqual([]);
    // Within one line it is another matter: the mark would show.
    writeFileSync(join(field.place.workspace, 'x'), '');
    await field.attempt(shell('export PATH=./evil:$PATH; ls'));
    expect(field.marks()).toContain('ws/M');
  });
});
