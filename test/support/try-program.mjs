// Tries a fresh build on what people do with it and keeps the bytecode of what that compiled (`keep-bytecode.cjs`): reading
// code that was compiled before takes a tenth of compiling it. Everything happens in a directory of its own, on loopback.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const hook = fileURLToPath(new URL('keep-bytecode.cjs', import.meta.url));
const modelServer = fileURLToPath(new URL('../bench/fakellm.mjs', import.meta.url));
const toolServer = fileURLToPath(new URL('bad-mcp-server.mjs', import.meta.url));

/** @param place directory of the build; its bytecode files are written there */
export async function keepBytecode(place) {
  const home = mkdtempSync(join(tmpdir(), 'reins-build-'));
  const machine = { home, cwd: join(home, 'work'), main: join(place, 'src/cli/main.js') };
  mkdirSync(machine.cwd);
  try {
    for (const line of ['init scripted', 'session list', 'doctor']) run(machine, line.split(' '));
    answerAnAsk(machine);
    await talkToServers(machine).catch((error) => console.warn(`build: ${error.message}`));
    await askServer(machine).catch((error) => console.warn(`build: ${error.message}`));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  // A thread may be terminated while it writes.
  const code = join(place, 'code');
  for (const name of readdirSync(code)) if (name.endsWith('.part')) rmSync(join(code, name));
}

const environmentOf = ({ home }, more = {}) => ({
  PATH: process.env.PATH,
  HOME: home,
  TERM: 'xterm-256color',
  ...more,
});

/** What the program printed; says so when it ended with another code than it should. */
function run(machine, argv, wanted = 0) {
  const command = ['--require', hook, machine.main, ...argv];
  const tried = spawnSync(process.execPath, command, {
    cwd: machine.cwd,
    env: environmentOf(machine, { ANTHROPIC_API_KEY: 'none', GEMINI_API_KEY: 'none', OPENAI_API_KEY: 'none' }),
    encoding: 'utf8',
    stdio: 'pipe',
  });
  if (tried.status !== wanted)
    console.warn(`build: "reins ${argv.join(' ')}" ended with ${tried.status}: ${tried.stderr}`);
  return tried.stdout;
}

/** A run that rests for an answer, and the answer: whoever answers waits for the program to start. */
function answerAnAsk(machine) {
  run(machine, ['run', '--quiet', '--on-ask', 'suspend', '--input', 'write a file'], 4);
  run(machine, ['approvals', 'list']);
  const [id = ''] = /ask_[0-9a-z]+/.exec(run(machine, ['approvals', 'list', '--json'])) ?? [];
  run(machine, ['approvals', 'show', id]);
  run(machine, ['approvals', 'respond', id, '--approve']);
}

/** A run with tools through every wire format, and one with the tools of a server of tools. */
async function talkToServers(machine) {
  const script = join(machine.home, 'script.json');
  const portFile = join(machine.home, 'port');
  const file = join(machine.cwd, 'a.txt');
  const policy = join(machine.home, 'policy.json');
  writeFileSync(file, 'text\n');
  writeFileSync(policy, JSON.stringify({ default_action: 'allow', rules: [] }));
  const calls = [
    { name: 'local_fs_read_file', args: { path: file } },
    { name: 'local_shell_local_shell', args: { command: 'true' } },
    { name: 'local_shell_local_shell', args: { command: 'true | cat', shell: true } },
    { name: 'local_fs_list_dir', args: { path: machine.cwd } },
  ];
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: { content: 'That was all.' } }];
  writeFileSync(script, JSON.stringify({ name: 'build', turns }));
  const server = spawn(process.execPath, [modelServer, '--script', script, '--port-file', portFile], {
    stdio: 'ignore',
  });
  try {
    await until(() => existsSync(portFile) && readFileSync(portFile, 'utf8') !== '', 'the model server of the bench');
    const base = `http://127.0.0.1:${readFileSync(portFile, 'utf8')}`;
    const all = ['--policy', policy, '--shell', '--local-exec-allowed-dir', machine.cwd];
    const shipped = ['--shell', '--on-ask', 'deny'];
    const tries = {
      ollama: { url: base, flags: shipped },
      gemini: { url: base, flags: shipped },
      anthropic: { url: base, flags: shipped },
      'openai-compatible': { url: `${base}/v1`, flags: all },
      openai: { url: `${base}/v1`, flags: all },
    };
    for (const [type, { url, flags }] of Object.entries(tries)) {
      run(machine, ['backend', 'add', type, '--type', type, '--url', url]);
      run(machine, ['model', 'add', `build-${type}`, '--backend', type, '--context', '32k', '--capability', 'tools']);
      run(machine, ['run', '--quiet', '--provider', type, '--model', `build-${type}`, ...flags, 'go']);
    }
    run(machine, ['mcp', 'add', 'add', '--command', process.execPath, '--arg', toolServer, '--arg', 'good']);
    const chat = ['--provider', 'openai', '--model', 'build-openai', ...all];
    run(machine, ['chat', '--quiet', ...chat, 'go']);
    for (const plain of [[], ['--plain']]) {
      run(machine, ['session', 'new']);
      await openTerminal(machine, ['tui', ...plain, ...chat]);
    }
  } finally {
    server.kill();
  }
}

/** The panes or the line mode, with a question and its answer; ended from outside. */
async function openTerminal(machine, argv) {
  const child = spawn(process.execPath, ['--require', hook, machine.main, ...argv], {
    cwd: machine.cwd,
    env: environmentOf(machine, { REINS_BUILD_TERMINAL: '1' }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (shown += data));
  const ended = new Promise((done) => child.once('exit', done));
  const name = `the terminal of "reins ${argv.join(' ')}"`;
  try {
    await until(() => shown !== '', `${name} to open`);
    await delay(200);
    child.stdin.write('hello');
    await delay(100);
    child.stdin.write('\r');
    await until(() => shown.includes('That was all.'), `an answer in ${name}`);
    await delay(200);
  } catch (error) {
    const end = stripVTControlCharacters(shown).replaceAll(/\s+/g, ' ').slice(-200);
    console.warn(`build: ${error.message} (the build is whole, and starts a little slower); it shows: ${end}`);
  }
  child.kill('SIGTERM');
  await ended;
}

/** The server, with what a page asks for first. */
async function askServer(machine) {
  const child = spawn(process.execPath, ['--require', hook, machine.main, 'beam', '--port', '0', '--json'], {
    cwd: machine.cwd,
    env: environmentOf(machine),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  const ended = new Promise((done) => child.once('exit', done));
  try {
    await until(() => said.endsWith('\n'), 'the server');
    const { url, token_file: file } = JSON.parse(said);
    const authorization = `Bearer ${readFileSync(file, 'utf8').trim()}`;
    for (const path of ['', 'api/health', 'api/sessions', 'api/runs', 'api/approvals', 'api/openapi.json']) {
      const { status } = await fetch(`${url}/${path}`, {
        headers: { authorization },
        signal: AbortSignal.timeout(60_000),
      });
      if (status !== 200) console.warn(`build: ${path} answered with ${status}`);
    }
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** @throws Error after a minute: many builds share few processors */
async function until(isSo, what) {
  const end = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited a minute for ${what}`);
    await delay(10);
  }
}
