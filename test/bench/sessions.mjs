#!/usr/bin/env node
// Measures the session commands on large databases: `session list` with 5,000 sessions and `session search` over
// 100,000 messages. usage: node test/bench/sessions.mjs [runs], after `npm run build`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Database from 'better-sqlite3';

const runs = Number(process.argv[2] ?? 11);
const program = join(import.meta.dirname, '../../dist/src/cli/main.js');
const place = mkdtempSync(join(tmpdir(), 'reins-bench-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));
const environment = { PATH: process.env.PATH, HOME: place, REINS_HOME: join(place, '.reins') };

function reins(database, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--db', database, ...words], {
    cwd: place,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return stdout;
}

/** The least time of several, in milliseconds. */
function least(body, count = runs) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < count; run += 1) {
    const start = performance.now();
    body();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
const say = (what, ms) => console.log(`${what.padEnd(66)} ${ms.toFixed(1).padStart(8)} ms`);

// Words with the frequencies of a language: few are in nearly every message, most in few.
let seed = 1;
const random = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
const word = () => `w${Math.floor(20_000 * random() ** 3).toString(36)}`;
const common = ['the', 'of', 'and', 'file', 'run', 'test'];
const text = (words) =>
  Array.from({ length: words }, () => (random() < 0.3 ? common[Math.floor(random() * common.length)] : word())).join(
    ' ',
  );

/** A database with so many sessions of so many messages. */
function fill(name, sessions, messages) {
  const path = join(place, name);
  reins(path, 'session', 'new', 'first');
  const database = new Database(path);
  const tenant = database.prepare('SELECT tenant_id FROM sessions').pluck().get();
  const addSession = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, NULL)');
  const addMessage = database.prepare(
    `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
     VALUES (?, ?, ?, ?, 'message', ?, 'complete', ?)`,
  );
  const start = performance.now();
  for (let session = 0; session < sessions; session += 1) {
    database.transaction(() => {
      addSession.run(`s${session}`, tenant, `session-${session}`, '/', session, session, messages);
      for (let seq = 1; seq <= messages; seq += 1) {
        const id = `m${session}-${seq}`;
        const role = seq % 2 === 1 ? 'user' : 'assistant';
        addMessage.run(id, `s${session}`, seq, role, JSON.stringify({ id, role, content: text(80) }), session);
      }
    })();
  }
  const ms = performance.now() - start;
  database.close();
  return { path, ms };
}

mkdirSync(environment.REINS_HOME, { mode: 0o700 });
const many = fill('many.db', 5000, 4);
const empty = join(place, 'empty.db');
reins(empty, 'session', 'new', 'first');
const start = least(() => reins(empty, 'session', 'list'));
say('session list, 1 session (start-up)', start);
say(
  'session list, 5,000 sessions',
  least(() => reins(many.path, 'session', 'list')),
);
say(
  'session list --json, 5,000 sessions',
  least(() => reins(many.path, 'session', 'list', '--json')),
);

const large = fill('large.db', 10, 10_000);
say('100,000 messages stored and indexed', large.ms);
for (const [what, ...words] of [
  ['a rare word', 'wf9x'],
  ['a word of one message in five', 'w5'],
  ['a word of nearly all messages', 'the'],
  ['three words of nearly all messages', 'the', 'file', 'run'],
  ['two words that stand together', '"the file"'],
  ['a word that is in none', 'nowhere'],
  ['signs, read from the texts', '=>'],
  ['three words of nearly all, in one session', 'the', 'file', 'run', '--session', 'session-3'],
]) {
  say(`session search: ${what}`, least(() => reins(large.path, 'session', 'search', ...words)) - start);
}
say(
  'session show --tail 20, of 10,000 messages',
  least(() => reins(large.path, 'session', 'show', 'session-3', '--tail', '20')) - start,
);
say('session export, of 10,000 messages', least(() => reins(large.path, 'session', 'export', 'session-3'), 3) - start);
say(
  'session fork, of 10,000 messages',
  least(() => reins(large.path, 'session', 'fork', '--from', 'session-3'), 3) - start,
);
say('session delete, of 10,000 messages', least(() => reins(large.path, 'session', 'delete', 'session-4'), 1) - start);
