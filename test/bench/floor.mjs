#!/usr/bin/env node
// The floor: the least a Node CLI can do for the same work (node:http, no dependencies, no config files,
// no policy). Not a product: it says which part of a peer's time is Node's own start and the tools' own run.
// usage: floor.mjs --version | --help | [--session FILE] PROMPT      env: FLOOR_BASE=http://127.0.0.1:PORT/v1
import http from 'node:http';
import fs from 'node:fs';
import { spawn } from 'node:child_process';

const a = process.argv.slice(2);
if (a[0] === '--version') {
  console.log('floor 1');
  process.exit(0);
}
if (a[0] === '--help') {
  console.log('usage: floor.mjs [--session FILE] PROMPT');
  process.exit(0);
}
let session = null;
if (a[0] === '--session') {
  a.shift();
  session = a.shift();
}
const messages =
  session && fs.existsSync(session)
    ? fs
        .readFileSync(session, 'utf8')
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l))
    : [];
const add = (m) => {
  messages.push(m);
  if (session) fs.appendFileSync(session, JSON.stringify(m) + '\n');
};
const fn = (name, properties) => ({ type: 'function', function: { name, parameters: { type: 'object', properties } } });
const tools = [fn('bash', { command: { type: 'string' } }), fn('read', { path: { type: 'string' } })];
const agent = new http.Agent({ keepAlive: true });
const base = process.env.FLOOR_BASE;

const ask = () =>
  new Promise((ok, bad) => {
    const body = JSON.stringify({ model: 'fake-model', stream: true, messages, tools });
    const req = http.request(
      base + '/chat/completions',
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (res) => {
        let buf = '',
          text = '';
        const calls = [];
        res.setEncoding('utf8');
        res.on('data', (d) => {
          buf += d;
          let at = 0,
            nl;
          while ((nl = buf.indexOf('\n', at)) >= 0) {
            const line = buf.slice(at, nl);
            at = nl + 1;
            if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
            const delta = JSON.parse(line.slice(6)).choices?.[0]?.delta;
            if (delta?.content) {
              text += delta.content;
              process.stdout.write(delta.content);
            }
            for (const c of delta?.tool_calls ?? []) calls.push({ id: c.id, type: 'function', function: c.function });
          }
          buf = buf.slice(at);
        });
        res.on('end', () =>
          ok({ role: 'assistant', content: text || null, ...(calls.length && { tool_calls: calls }) }),
        );
        res.on('error', bad);
      },
    );
    req.on('error', bad);
    req.end(body);
  });
const sh = (cmd) =>
  new Promise((ok) => {
    const c = spawn('/bin/bash', ['-c', cmd], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    c.stdout.on('data', (d) => (out += d));
    c.stderr.on('data', (d) => (out += d));
    c.on('close', (rc) => ok(`exit ${rc}\n${out}`));
  });

add({ role: 'user', content: a.join(' ') });
for (;;) {
  const m = await ask();
  add(m);
  if (!m.tool_calls) break;
  for (const c of m.tool_calls) {
    const args = JSON.parse(c.function.arguments);
    add({
      role: 'tool',
      tool_call_id: c.id,
      content: c.function.name === 'bash' ? await sh(args.command) : fs.readFileSync(args.path, 'utf8'),
    });
  }
}
process.stdout.write('\n');
agent.destroy();
