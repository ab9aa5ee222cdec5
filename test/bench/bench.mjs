#!/usr/bin/env node
// Measures peers.mjs entries side by side against fakellm.mjs. Linux only (unshare, GNU time). See README.md.
//
// usage: bench.mjs --install DIR --state DIR [--peers a,b] [--scenarios x,y] [--runs 7] [--warmup 1]
//                  [--out results.json] [--node22 PATH] [--peers-file FILE.mjs] [--port 18080] [--timeout 120]
//                  [--no-isolate] [--keep-home]
// Without --no-isolate it first re-executes itself in a new network + pid namespace that has loopback only.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HARNESS = path.dirname(fileURLToPath(import.meta.url));
const opt = parse(process.argv.slice(2));
if (!opt.install || !opt.state) {
  console.error('bench: --install DIR and --state DIR are needed (see README.md)');
  process.exit(2);
}

if (!opt['no-isolate'] && !process.env.PEERS_ISOLATED) {
  const r = spawnSync(
    'unshare',
    [
      '-n',
      '-p',
      '--fork',
      '--mount-proc',
      '--kill-child',
      'sh',
      '-c',
      'ip link set lo up && exec "$@"',
      'sh',
      process.execPath,
      ...process.argv.slice(1),
    ],
    { stdio: 'inherit', env: { ...process.env, PEERS_ISOLATED: '1' } },
  );
  process.exit(r.status ?? 1);
}

const PORT = Number(opt.port ?? 18080);
const RUNS = Number(opt.runs ?? 7);
const WARMUP = Number(opt.warmup ?? 1);
const TIMEOUT = Number(opt.timeout ?? 120) * 1000;
const STATE = path.resolve(opt.state);
const INSTALL = path.resolve(opt.install);
const WORK = path.join(STATE, 'work');
const BASE = `http://127.0.0.1:${PORT}`;
const now = () => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

let all = (await import('./peers.mjs')).default;
if (opt['peers-file']) all = { ...all, ...(await import(pathToFileURL(path.resolve(opt['peers-file'])))).default };
const names = (opt.peers ?? Object.keys(all).join(',')).split(',');

// kind: args = plain process; model = against the script; build = one run kept as a home; resume = copy of that home
const SCENARIOS = {
  version: { kind: 'args', args: 'version' },
  help: { kind: 'args', args: 'help' },
  list: { kind: 'args', args: 'list' },
  oneshot: { kind: 'model', script: 'oneshot', requests: 1 },
  'loop-shell': { kind: 'model', script: 'loop-shell-20', requests: 21 },
  'loop-read': { kind: 'model', script: 'loop-read-20', requests: 21 },
  flood: { kind: 'model', script: 'flood-1mb', requests: 1 },
  // a file as stdout: some peers end with process.exit() and lose what a pipe has not taken yet
  'flood-pipe': { kind: 'model', script: 'flood-1mb', requests: 1, stdout: 'shellpipe' }, // 64 KiB pipe, as in `peer | cat`
  'flood-file': { kind: 'model', script: 'flood-1mb', requests: 1, stdout: 'file' },
  paced: { kind: 'model', script: 'paced-1mb', requests: 1, stdout: 'file' },
  history: { kind: 'build', script: 'history-500', requests: 501, runs: 1, warmup: 0 },
  resume: { kind: 'resume', script: 'oneshot', requests: 1 },
  // 250 answers of 40 file reads each
  'history-10k': { kind: 'build', script: 'history-10k', requests: 251, runs: 1, warmup: 0, keep: 'history-10k' },
  'resume-10k': { kind: 'resume', script: 'oneshot', requests: 1, keep: 'history-10k' },
};
const wanted = (
  opt.scenarios ?? 'version,help,list,oneshot,loop-shell,loop-read,flood,flood-pipe,flood-file,paced,history,resume'
).split(',');

// ------------------------------------------------------------ helpers
function vars(peer, home, prompt) {
  return {
    install: INSTALL,
    home,
    work: WORK,
    port: PORT,
    base: BASE,
    harness: HARNESS,
    node: process.execPath,
    node22: opt.node22 ?? process.execPath,
    prompt,
  };
}
const fill = (s, v) => s.replace(/\{(install|home|work|port|base|harness|node|node22|prompt)\}/g, (m, k) => v[k]);
const deep = (x, f) =>
  typeof x === 'string'
    ? f(x)
    : Array.isArray(x)
      ? x.map((y) => deep(y, f))
      : x && typeof x === 'object'
        ? Object.fromEntries(Object.entries(x).map(([k, y]) => [k, deep(y, f)]))
        : x;

function concreteScript(name, peer, v) {
  const s = JSON.parse(fs.readFileSync(path.join(HARNESS, 'scripts', name + '.json'), 'utf8'));
  for (const t of s.turns) {
    t.toolCalls = t.toolCalls?.map((c) => {
      if (!c.tool) return c;
      const spec = peer.tools?.[c.tool];
      if (!spec) throw new Error(`peer has no tool '${c.tool}'`);
      return deep(
        deep(spec, (x) => x.replace(/\{\{(\w+)\}\}/g, (m, k) => (k in (c.vars ?? {}) ? c.vars[k] : m))),
        (x) => fill(x, v),
      );
    });
  }
  if (peer.aux) s.aux = { text: { content: 'A title' }, ...peer.aux };
  return s;
}

function writeHome(peer, home) {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  const v = vars(peer, home, '');
  for (const [f, c] of Object.entries(peer.files ?? {})) {
    const p = path.join(home, f);
    fs.mkdirSync(path.dirname(p), { recursive: true });
    fs.writeFileSync(
      p,
      typeof c === 'string'
        ? fill(c, v)
        : JSON.stringify(
            deep(c, (x) => fill(x, v)),
            null,
            1,
          ),
    );
  }
  for (const argv of peer.setup ?? []) {
    const cmd = [...peer.cmd, ...argv].map((x) => fill(x, v));
    const r = spawnSync(cmd[0], cmd.slice(1), {
      cwd: WORK,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: home, TERM: 'dumb', ...deep(peer.env ?? {}, (x) => fill(x, v)) },
    });
    if (r.status !== 0) throw new Error(`set-up of the home failed: ${cmd.join(' ')}: ${r.stderr}`);
  }
}

const cpuStat = () => {
  const v = fs.readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  return { total: v.slice(0, 8).reduce((a, b) => a + b, 0), idle: v[3] + v[4], steal: v[7] };
};

const api = async (p, body) =>
  (await fetch(BASE + p, body ? { method: 'POST', body: JSON.stringify(body) } : {})).json();

const TIMEFILE = path.join(STATE, 'time.out');
const OUTFILE = path.join(STATE, 'stdout.out');
function runOnce(peer, home, argv, prompt, sc) {
  const v = vars(peer, home, prompt);
  const cmd = [...peer.cmd, ...argv].map((x) => fill(x, v));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: path.join(STATE, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/bash',
    USER: os.userInfo().username,
    ...deep(peer.env ?? {}, (x) => fill(x, v)),
  };
  return new Promise((ok) => {
    let out = 0,
      tail = '',
      err = '',
      firstOut = null,
      lastOut = null,
      timedOut = false;
    const t0 = now();
    const fd = sc.stdout === 'file' ? fs.openSync(OUTFILE, 'w') : null;
    const pre = sc.stdout === 'shellpipe' ? ['bash', '-o', 'pipefail', '-c', '"$@" | cat', 'bash'] : [];
    const c = spawn(
      pre[0] ?? '/usr/bin/time',
      [
        ...pre.slice(1),
        ...(pre.length ? ['/usr/bin/time'] : []),
        '-q',
        '-o',
        TIMEFILE,
        '-f',
        '%e %U %S %M',
        '--',
        ...cmd,
      ],
      { cwd: WORK, env, stdio: ['ignore', fd ?? 'pipe', 'pipe'], detached: true },
    );
    if (fd !== null) fs.closeSync(fd);
    const timer = setTimeout(() => {
      timedOut = true;
      try {
        process.kill(-c.pid, 'SIGKILL');
      } catch {}
    }, TIMEOUT);
    c.stdout?.on('data', (d) => {
      lastOut = now();
      firstOut ??= lastOut;
      out += d.length;
      tail = (tail + d.toString('latin1')).slice(-400);
    });
    c.stderr.on('data', (d) => {
      err = (err + d.toString('latin1')).slice(-2000);
    });
    let t1;
    c.on('exit', () => {
      t1 = now();
    });
    c.on('close', (code) => {
      clearTimeout(timer);
      if (fd !== null) {
        const b = fs.readFileSync(OUTFILE, 'latin1');
        out = b.length;
        tail = b.slice(-400);
      }
      const [e, u, s, m] = fs.readFileSync(TIMEFILE, 'utf8').trim().split('\n').pop().split(' ').map(Number);
      ok({
        t0,
        t1,
        code,
        timedOut,
        out,
        tail,
        err,
        firstOut,
        lastOut,
        wall: t1 - t0,
        cpu: (u + s) * 1000,
        user: u * 1000,
        sys: s * 1000,
        rssMB: m / 1024,
        e,
      });
    });
  });
}

function digest(r, log, sc) {
  const main = log.filter((x) => x.kind && !x.aux).sort((a, b) => a.t_arrive - b.t_arrive);
  const o = { wall: r.wall, cpu: r.cpu, rssMB: r.rssMB, outBytes: r.out };
  const problems = [];
  if (r.code !== 0) problems.push(`exit ${r.code}${r.timedOut ? ' (timeout)' : ''}`);
  if (sc.script) {
    if (!r.tail.includes('PEER_DONE'))
      problems.push(`no PEER_DONE at the end of stdout (${r.out} bytes; ends ${JSON.stringify(r.tail.slice(-60))})`);
    if (main.length !== sc.requests) problems.push(`${main.length} main requests, expected ${sc.requests}`);
    if (main.some((x) => x.aborted || x.status !== 200)) problems.push('aborted or failed request');
  }
  if (main.length) {
    const last = main[main.length - 1];
    o.ttfr = main[0].t_arrive - r.t0;
    o.ttfrAny = Math.min(...log.map((x) => x.t_arrive)) - r.t0;
    o.tail = r.t1 - last.t_finish;
    o.send = last.t_finish - last.t_first;
    if (r.lastOut) o.outLag = r.lastOut - last.t_finish;
    o.requests = main.length;
    o.auxRequests = log.length - main.length;
    o.reqBytes = main[0].bytesIn;
    o.msgs = main[0].msgs;
    o.conns = new Set(main.map((x) => x.conn)).size;
    const gaps = [];
    for (let i = 0; i + 1 < main.length; i++)
      if (main[i].kind === 'tool') gaps.push(main[i + 1].t_arrive - main[i].t_finish);
    if (gaps.length) {
      o.gap = median(gaps);
      o.gapFirst = gaps[0];
      o.gapMax = Math.max(...gaps);
      o.loop = last.t_arrive - main[0].t_arrive;
      if (gaps.length > 200) {
        o.gapEarly = median(gaps.slice(1, 51));
        o.gapLate = median(gaps.slice(-50));
      }
      o.lastResult = last.lastResult;
    }
  }
  if (problems.length) o.problems = problems;
  return o;
}

function median(a) {
  const s = [...a].sort((x, y) => x - y);
  const n = s.length;
  return n % 2 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}
function summarize(rows) {
  const s = {};
  for (const k of Object.keys(rows[0] ?? {})) {
    const v = rows.map((r) => r[k]).filter((x) => typeof x === 'number');
    if (v.length) s[k] = { med: median(v), min: Math.min(...v), max: Math.max(...v) };
  }
  return s;
}

// ------------------------------------------------------------ main
for (const d of [STATE, WORK, path.join(STATE, 'tmp'), path.join(STATE, 'home')]) fs.mkdirSync(d, { recursive: true });
for (let i = 0; i < 20; i++)
  fs.writeFileSync(path.join(WORK, `f${i}.txt`), `file ${i}\n` + 'line of text\n'.repeat(20));
if (wanted.includes('history-10k'))
  for (let n = 0; n < 10_000; n += 40)
    for (let i = 0; i < 40; i++) fs.writeFileSync(path.join(WORK, `h${n}-${i}.txt`), `file ${n}-${i}\n`);

const LOG = path.join(STATE, 'fakellm.jsonl');
fs.rmSync(LOG, { force: true });
const server = spawn(
  process.execPath,
  [
    path.join(HARNESS, 'fakellm.mjs'),
    '--port',
    String(PORT),
    '--log',
    LOG,
    ...(opt.bodies ? ['--bodies', path.resolve(opt.bodies)] : []),
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
for (let i = 0; ; i++) {
  try {
    await api('/__fake/log');
    break;
  } catch (e) {
    if (i > 100) throw e;
    await sleep(50);
  }
}

const results = {
  when: new Date().toISOString(),
  node: process.version,
  cpus: os.cpus().length,
  cpu: os.cpus()[0]?.model,
  loadStart: os.loadavg(),
  runs: RUNS,
  warmup: WARMUP,
  peers: {},
  versions: {},
};
if (opt.out && fs.existsSync(opt.out) && opt.merge)
  Object.assign(results, JSON.parse(fs.readFileSync(opt.out, 'utf8')));
const save = () => {
  if (opt.out) fs.writeFileSync(opt.out, JSON.stringify(results, null, 1));
};
try {
  for (const n of names) {
    if (!all[n]) throw new Error(`no peer '${n}'`);
    const home = path.join(STATE, 'home', n);
    if (!opt['keep-home'] || !fs.existsSync(home)) writeHome(all[n], home);
    results.peers[n] ??= {};
  }
  for (const scn of wanted) {
    const st0 = cpuStat();
    const sc = SCENARIOS[scn];
    if (!sc) throw new Error(`no scenario '${scn}'`);
    const runs = sc.runs ?? RUNS,
      warmup = sc.warmup ?? WARMUP;
    const rows = Object.fromEntries(names.map((n) => [n, []]));
    for (let i = -warmup; i < runs; i++) {
      for (const n of names) {
        // round robin: drift of the machine falls on every peer alike
        const peer = all[n];
        if (results.peers[n][scn]?.skipped) continue;
        let home = path.join(STATE, 'home', n);
        const keep = path.join(STATE, 'home', `${n}-${sc.keep ?? 'history'}`);
        const argv =
          sc.kind === 'args'
            ? peer[sc.args]
            : sc.kind === 'resume'
              ? peer.resume
              : sc.kind === 'build'
                ? peer.resume
                  ? (peer.runKeep ?? peer.run)
                  : null
                : peer.run;
        if (!argv) {
          results.peers[n][scn] = { skipped: 'the peer table has no command for it' };
          continue;
        }
        if (sc.kind === 'build') {
          home = keep;
          writeHome(peer, home);
        }
        if (sc.kind === 'resume') {
          if (!fs.existsSync(keep)) {
            results.peers[n][scn] = { skipped: 'no history home' };
            continue;
          }
          // the same path as the history was built at (sessions may record it): restore it from a saved copy
          const saved = keep + '.saved';
          if (!fs.existsSync(saved))
            fs.cpSync(keep, saved, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
          fs.rmSync(keep, { recursive: true, force: true });
          fs.cpSync(saved, keep, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
          home = keep;
        }
        if (sc.kind === 'build') fs.rmSync(keep + '.saved', { recursive: true, force: true });
        const run = `${n}-${scn}-${i}`;
        try {
          const script = sc.script
            ? concreteScript(sc.script, peer, vars(peer, home, ''))
            : { name: 'none', turns: [] };
          await api('/__fake/script', { script, run });
        } catch (e) {
          results.peers[n][scn] = { skipped: String(e.message) };
          continue;
        }
        const r = await runOnce(peer, home, argv, 'please do the work', sc);
        await sleep(40);
        const log = await api('/__fake/log');
        const o = digest(r, log, sc);
        if (scn === 'version' && i === -warmup) results.versions[n] = (r.tail.trim() || r.err.trim()).split('\n').pop();
        if (o.problems)
          console.error(`! ${run}: ${o.problems.join('; ')}\n  stderr: ${r.err.slice(-300).replace(/\n/g, '\n  ')}`);
        if (i >= 0) rows[n].push(o);
      }
    }
    for (const n of names) {
      if (results.peers[n][scn]?.skipped) continue;
      const good = rows[n].filter((o) => !o.problems);
      results.peers[n][scn] = {
        n: good.length,
        failed: rows[n].length - good.length,
        problems: rows[n].find((o) => o.problems)?.problems,
        ...summarize(good),
        sample: rows[n][0]?.lastResult,
      };
    }
    const st1 = cpuStat();
    (results.machine ??= {})[scn] = {
      stealPct: +((100 * (st1.steal - st0.steal)) / (st1.total - st0.total)).toFixed(2),
      idlePct: +((100 * (st1.idle - st0.idle)) / (st1.total - st0.total)).toFixed(1),
      load: os.loadavg().map((x) => +x.toFixed(2)),
    };
    console.log(`\n## ${scn} (${runs} runs, median; min–max of wall)\n\n` + table(scn));
    save();
  }
} finally {
  results.loadEnd = os.loadavg();
  save();
  server.kill('SIGTERM');
}

function table(scn) {
  const cols = {
    version: ['wall', 'cpu', 'rssMB'],
    help: ['wall', 'cpu', 'rssMB'],
    list: ['wall', 'cpu', 'rssMB'],
    oneshot: ['wall', 'cpu', 'rssMB', 'ttfr', 'tail', 'reqBytes'],
    'loop-shell': ['wall', 'cpu', 'rssMB', 'gap', 'gapFirst', 'gapMax', 'loop', 'conns'],
    'loop-read': ['wall', 'cpu', 'rssMB', 'gap', 'gapFirst', 'gapMax', 'loop', 'conns'],
    flood: ['wall', 'cpu', 'rssMB', 'send', 'outLag', 'tail', 'outBytes'],
    'flood-pipe': ['wall', 'cpu', 'rssMB', 'send', 'tail', 'outBytes'],
    'flood-file': ['wall', 'cpu', 'rssMB', 'send', 'tail', 'outBytes'],
    paced: ['wall', 'cpu', 'rssMB', 'send', 'tail', 'outBytes'],
    history: ['wall', 'cpu', 'rssMB', 'gapEarly', 'gapLate'],
    resume: ['wall', 'cpu', 'rssMB', 'ttfr', 'tail', 'msgs', 'reqBytes'],
  }[scn.replace('-10k', '')];
  const f = (x) => (x === undefined ? '-' : x >= 100 ? x.toFixed(0) : x.toFixed(1));
  const head = `| peer | n | ${cols.join(' | ')} | wall min–max |\n|---|---|${cols.map(() => '---').join('|')}|---|\n`;
  return (
    head +
    names
      .map((n) => {
        const s = results.peers[n][scn] ?? {};
        if (s.skipped) return `| ${n} | skipped: ${s.skipped} |`;
        return `| ${n} | ${s.n}${s.failed ? ` (${s.failed} failed: ${s.problems?.join('; ')})` : ''} | ${cols.map((c) => f(s[c]?.med)).join(' | ')} | ${f(s.wall?.min)}–${f(s.wall?.max)} |`;
      })
      .join('\n')
  );
}

function parse(a) {
  const o = {};
  for (let i = 0; i < a.length; i++) {
    const k = a[i].replace(/^--/, '');
    if (['no-isolate', 'keep-home', 'merge'].includes(k)) o[k] = true;
    else o[k] = a[++i];
  }
  return o;
}
