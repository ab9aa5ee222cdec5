// Mixed load on one server for a while: `npm run soak [-- --minutes N]`. Prints its memory every half minute and fails when it
// has grown by more than a third between the end of the first fifth and the end. Not part of the tests: it takes ten minutes.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
const asked = process.argv.indexOf('--minutes');
const minutes = asked < 0 ? 10 : Number(process.argv[asked + 1]);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');

const place = mkdtempSync(join(tmpdir(), 'reins-soak-'));
const environment = { PATH: process.env.PATH, HOME: place, REINS_HOME: join(place, 'home'), LANG: 'C.UTF-8' };
const reins = (...argv) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...argv], {
    cwd: place,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`reins ${argv.join(' ')}: ${stderr}`);
};

writeFileSync(
  join(place, 'script.json'),
  JSON.stringify({
    script: 1,
    models: [{ name: 'm', context: 100_000, capabilities: ['chat', 'tools'] }],
    turns: [
      { match: { role: 'tool' }, reply: { text: 'It is done.' } },
      {
        match: { last_user: { regex: 'write (\\w+)' } },
        reply: {
          text: 'I write.',
          tool_calls: [{ name: 'local_fs.write_file', arguments: { path: '\u0024{match.1}.txt', content: 'x' } }],
        },
      },
      {
        match: { last_user: 'look' },
        reply: { text: 'I look.', tool_calls: [{ name: 'local_fs.list_dir', arguments: {} }] },
      },
      { reply: { text: Array.from({ length: 200 }, (_, n) => `word ${n} `), delay_ms: 2 } },
    ],
  }),
);
reins('init', 'scripted');
reins('backend', 'add', 'soak', '--type', 'scripted', '--url', join(place, 'script.json'));
reins('config', 'set', 'default-model', 'm');
const password = 'only for this soak run 4711';
const set = spawnSync(process.execPath, [program, 'beam', 'set-password', '--stdin'], {
  cwd: place,
  env: environment,
  input: `${password}\n`,
  encoding: 'utf8',
});
if (set.status !== 0) throw new Error(`reins beam set-password: ${set.stderr}`);

const server = spawn(process.execPath, [program, 'beam', '--port', '0', '--json'], {
  cwd: place,
  env: environment,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const { url } = JSON.parse(
  await new Promise((resolve, reject) => {
    server.stdout.setEncoding('utf8').once('data', resolve);
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  }),
);
const login = await fetch(`${url}/login`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'admin', password }),
});
const headers = { authorization: `Bearer ${(await login.json()).token}` };
const counts = {};
let files = 0;
const count = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

const call = async (method, path, body) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  count(`${method} ${path.split('?')[0].replace(/(run|ask)_\w+/g, '$1')} ${response.status}`);
  const text = await response.text();
  return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : {} };
};
const until = performance.now() + minutes * 60_000;
const going = () => performance.now() < until;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Streams that did not come to their end, which is a fault whatever else happens. */
const unended = [];
async function follow(run) {
  const stream = await fetch(`${url}/api/runs/${run}/events`, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: AbortSignal.timeout(60_000),
  });
  const decoder = new TextDecoder();
  const answered = new Set();
  let text = '';
  for await (const chunk of stream.body) {
    // An event may come in two pieces.
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const [, ask] of frames.join('\n').matchAll(/"ask_id":"(ask_\w+)"/g)) {
      if (answered.has(ask)) continue;
      answered.add(ask);
      const { binding } = (await call('GET', `/api/approvals/${ask}`)).json;
      const outcome = Math.random() < 0.5 ? 'approve' : 'deny';
      await call('POST', `/api/approvals/${ask}/answer`, { outcome, binding });
    }
  }
}

/** Starts a run, follows its stream to the end, and answers what it asks. */
async function runs(inputOf) {
  while (going()) {
    const { status, json } = await call('POST', '/api/runs', { input: inputOf(), model: 'm', provider: 'scripted' });
    if (status !== 202) {
      await pause(200);
      continue;
    }
    try {
      await follow(json.run_id);
      count('streams followed to their end');
    } catch (error) {
      const { status: state, waiting_on } = (await call('GET', `/api/runs/${json.run_id}`)).json;
      unended.push(`${json.run_id} ${state}, waiting on ${waiting_on}: ${error}`);
    }
  }
}
async function reads() {
  for (;;) {
    for (const path of [
      '/api/version',
      '/api/runs?limit=20',
      '/api/approvals',
      '/api/sessions',
      '/api/audit?limit=20',
    ]) {
      if (!going()) return;
      await call('GET', path);
      await pause(100);
    }
  }
}
async function watches() {
  while (going()) {
    const stop = AbortSignal.timeout(5000);
    try {
      const stream = await fetch(`${url}/api/events`, { headers, signal: stop });
      for await (const _ of stream.body) if (!going()) break;
    } catch {
      count('watches ended');
    }
  }
}

const memory = [];
const measure = setInterval(
  () => {
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1] ?? 0);
    memory.push(kilobytes);
    console.log(
      `${Math.round((minutes * 60_000 - (until - performance.now())) / 1000)} s  ${Math.round(kilobytes / 1024)} MB`,
    );
  },
  Math.min(30_000, minutes * 6000),
);

await Promise.all([
  runs(() => 'hello'),
  runs(() => 'look'),
  runs(() => `write f${++files}`),
  reads(),
  watches(),
  watches(),
]);
clearInterval(measure);
server.kill('SIGTERM');
await new Promise((resolve) => server.once('exit', resolve));
rmSync(place, { recursive: true, force: true });
console.log(counts);
const early = memory[Math.floor(memory.length / 5)] ?? 0;
const late = memory.at(-1) ?? 0;
const failures = Object.entries(counts).filter(([name]) => / 5\d\d$/.test(name));
console.log(
  `memory ${Math.round(early / 1024)} MB -> ${Math.round(late / 1024)} MB; ${failures.length} kinds of server failure`,
);
for (const line of unended) console.log(`a stream did not end: ${line}`);
process.exitCode = late > early * 1.34 || failures.length > 0 || unended.length > 0 ? 1 : 0;
