#!/usr/bin/env node
// Measures the full-screen terminal through a pseudo-terminal of 120x40: first frame, keys on a session of 10,000 messages
// while it rests and while a code block streams into it, bytes of a streamed frame, memory and idle processor time.
// usage: node test/bench/tui.mjs [starts], after `npm run build`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { spawn } from '@lydell/node-pty';
import Database from 'better-sqlite3';

const starts = Number(process.argv[2] ?? 20);
const program = join(import.meta.dirname, '../../dist/src/cli/main.js');
const place = mkdtempSync(join(tmpdir(), 'reins-bench-'));
const running = new Set();
process.on('exit', () => {
  for (const pid of running) process.kill(pid, 'SIGKILL');
  rmSync(place, { recursive: true, force: true });
});
const environment = {
  PATH: process.env.PATH,
  HOME: place,
  REINS_HOME: join(place, '.reins'),
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
};
mkdirSync(join(place, 'work'));
const cwd = join(place, 'work');

const reins = (...words) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
};
const say = (what, value, unit = 'ms') => console.log(`${what.padEnd(66)} ${value.toFixed(1).padStart(8)} ${unit}`);
const at = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The program on a terminal; `saw` resolves with the time at which its output held a text. */
function open(...argv) {
  const began = performance.now();
  const pty = spawn(process.execPath, [program, ...argv], { cols: 120, rows: 40, cwd, env: environment });
  running.add(pty.pid);
  let bytes = '';
  const waiting = new Set();
  const frames = [];
  pty.onData((data) => {
    bytes += data;
    for (const part of data.split('\u001b[?2026h').slice(1)) frames.push(part.length);
    for (const look of [...waiting]) look();
  });
  const ended = new Promise((resolve) => pty.onExit((how) => resolve(how, running.delete(pty.pid))));
  return {
    pid: pty.pid,
    frames,
    clear: () => {
      bytes = '';
      frames.length = 0;
    },
    held: () => bytes,
    type: (text) => pty.write(text),
    saw: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!bytes.includes(text)) return;
          waiting.delete(look);
          resolve(performance.now() - began);
        };
        waiting.add(look);
        look();
      }),
    ended,
  };
}

reins('init', 'scripted');
const code = Array.from(
  { length: 1000 },
  (_, index) => `  const value${index} = compute(${index}); // step ${index}\n`,
).join('');
writeFileSync(
  join(place, 'script.json'),
  JSON.stringify({
    script: 1,
    models: [{ name: 'bench', context: 1_000_000, capabilities: ['chat', 'tools'] }],
    turns: [
      {
        name: 'code',
        match: { role: 'user', last_user: { equals: 'go' } },
        reply: { text: `\`\`\`ts\n${code}\`\`\`\ndone streaming`, chunk: 'word', delay_ms: 5 },
      },
      {
        // 100,000 pieces.
        name: 'flood',
        match: { role: 'user', last_user: { equals: 'flood' } },
        reply: { text: `\`\`\`ts\n${code}\`\`\`\n\n`.repeat(14), chunk: 'word', delay_ms: 0 },
      },
      { name: 'summary', reply: { text: 'A summary.' } },
    ],
  }),
);
reins('backend', 'add', 'b', '--type', 'scripted', '--url', join(place, 'script.json'));
reins('session', 'new', 'large');
const database = new Database(join(cwd, '.reins/local.db'));
const session = database.prepare("SELECT id FROM sessions WHERE name = 'large'").pluck().get();
const add = database.prepare(
  `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at) VALUES (?, ?, ?, ?, 'message', ?, 'complete', ?)`,
);
database.transaction(() => {
  for (let seq = 1; seq <= 10_000; seq += 1) {
    const role = seq % 2 === 1 ? 'user' : 'assistant';
    const content = `Message ${seq}. ${'Some words of an answer. '.repeat(seq % 7)}\n\n- one\n- two \`code\`\n`;
    add.run(`m${seq}`, session, seq, role, JSON.stringify({ id: `m${seq}`, role, content }), Date.now());
  }
})();
database.prepare('UPDATE sessions SET message_count = 10000 WHERE id = ?').run(session);
database.close();

const firsts = [];
const readies = [];
for (let run = 0; run < starts; run += 1) {
  const terminal = open('tui');
  firsts.push(await terminal.saw(' starting'));
  readies.push(await terminal.saw(' idle'));
  terminal.type('\u0018\u0003');
  await terminal.ended;
}
say('first frame, in the middle (goal 350)', at(firsts, 0.5));
say('first frame to a usable session of 10,000 messages (goal 250)', at(readies, 0.5) - at(firsts, 0.5));

const terminal = open('tui', '--provider', 'scripted', '--model', 'bench');
await terminal.saw(' idle');
await pause(500);

/** Types one letter after another; each is waited for. */
async function keys(count, gap) {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const letter = 'abcdefghij'[index % 10];
    const frames = terminal.frames.length;
    const from = performance.now();
    terminal.type(letter);
    // The frame that shows it ends with the cursor one place further on.
    const place = `${index % 100 === 99 ? '' : `\u001b[37;${(index % 100) + 4}H`}`;
    while (terminal.frames.length === frames || !terminal.held().includes(place)) {
      await new Promise((resolve) => setImmediate(resolve));
      if (performance.now() - from > 2000) break;
    }
    times.push(performance.now() - from);
    terminal.clear();
    await pause(gap);
    if (index % 100 === 98) {
      terminal.type('\u0003');
      await pause(100);
      index += 1;
      terminal.clear();
    }
  }
  return times;
}
const idle = await keys(90, 20);
say('key to the frame that shows it, idle, p50', at(idle, 0.5));
say('key to the frame that shows it, idle, p95 (goal 33)', at(idle, 0.95));
terminal.type('\u0003');
await pause(200);
terminal.clear();
terminal.type('go\r');
await terminal.saw('value20');
terminal.clear();
await pause(2000);
say('bytes of a streamed frame, in the middle (goal 600)', at(terminal.frames, 0.5), 'B');
say('frames a second while streaming (goal at most 30)', terminal.frames.length / 2, '/s');
const busy = await keys(90, 60);
say('key to the frame that shows it, streaming, p50', at(busy, 0.5));
say('key to the frame that shows it, streaming, p95 (goal 33)', at(busy, 0.95));
terminal.type('\u001b');
await pause(2000);
terminal.type('\u001b[5~'.repeat(1));
const pages = performance.now();
terminal.clear();
for (let page = 0; page < 60; page += 1) {
  terminal.type('\u001b[5~');
  await pause(20);
}
say(
  'frames a second while a page key is held (goal at least 15)',
  (terminal.frames.length / (performance.now() - pages)) * 1000,
  '/s',
);
terminal.type('\u001b[1;5F');
await pause(500);
terminal.clear();
terminal.type('flood\r');
await terminal.saw('working 00:');
terminal.clear();
await terminal.saw(' idle');
const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${terminal.pid}/status`, 'utf8'))?.[1]) / 1024;
say('memory when 100,000 tokens have just streamed', rss(), 'MiB');
await pause(8000);
const used = () => {
  const [, utime, stime] =
    /\) \S+(?: \S+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${terminal.pid}/stat`, 'utf8')) ?? [];
  return (Number(utime) + Number(stime)) * 10;
};
const before = used();
await pause(10_000);
say('processor time of 10 idle seconds (goal below 100)', used() - before);
say('memory after that (goal 200)', rss(), 'MiB');
terminal.type('\u0018\u0003');
await Promise.race([terminal.ended, pause(3000)]);
process.exit(0);
