// `npm run bench -- --scenarios streams`: 200 watchers of one run of 200 tokens a second, and the memory of the server meanwhile.
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { served } from '../server/served.ts';

type Ready = { readonly url: string; readonly token: string };

const watchers = 200;
const perSecond = 200;

/** The server in a process of its own, so that its memory is its own. */
async function serve(seconds: number): Promise<void> {
  const text = Array.from({ length: seconds * perSecond }, (_, index) => `w${index}`).join(' ');
  const server = await served({
    turns: [{ match: {}, reply: { text, delay_ms: 1000 / perSecond } }],
    streams: { perCredential: watchers + 1, all: watchers + 1, heartbeatMs: 15_000 },
  });
  const ready: Ready = { url: server.url, token: server.token };
  process.send?.(ready);
  process.once('disconnect', () => void server.close().then(() => process.exit(0)));
}

/** Resolves with how many deltas and bytes one watcher got. */
function watch({ url, token }: Ready, runId: string): Promise<{ readonly chunks: number; readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const sent = request(`${url}/api/runs/${runId}/events`, { headers, agent: false }, (response) => {
      let [chunks, bytes] = [0, 0];
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        for (let at = piece.indexOf('event: step_chunk'); at >= 0; at = piece.indexOf('event: step_chunk', at + 1))
          chunks += 1;
      });
      response.on('end', () => resolve({ chunks, bytes }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function measure(rounds: number): Promise<void> {
  const seconds = Math.max(10, rounds * 3);
  const child: ChildProcess = fork(process.argv[1] ?? '', ['serve', String(seconds)]);
  const ready = await new Promise<Ready>((resolve) => child.once('message', (message) => resolve(message as Ready)));
  const megabytes = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  const headers = { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ input: 'go', model: 'm', provider: 'scripted' });
  const started = (await (await fetch(`${ready.url}/api/runs`, { method: 'POST', headers, body })).json()) as {
    run_id: string;
  };
  const began = performance.now();
  const seen: number[] = [];
  const look = setInterval(() => seen.push(megabytes()), 500);
  const got = await Promise.all(Array.from({ length: watchers }, () => watch(ready, started.run_id)));
  clearInterval(look);
  const took = (performance.now() - began) / 1000;
  child.disconnect();
  await new Promise((resolve) => child.once('exit', resolve));

  // The highest of each: collections make the curve a saw.
  const part = Math.ceil(seen.length / 4);
  const [early, late] = [Math.max(...seen.slice(part, 2 * part)), Math.max(...seen.slice(-part))];
  const bytes = got.reduce((sum, one) => sum + one.bytes, 0);
  const fewest = Math.min(...got.map(({ chunks }) => chunks));
  const rows = [
    [
      `${watchers} streams of one run, ${seconds * perSecond} tokens, seconds`,
      took.toFixed(1),
      String(seconds),
      `${(took / seconds).toFixed(2)}x`,
      'as long as the model takes',
    ],
    ['… deltas to the slowest (tokens are merged)', String(fewest), '-', '-', '-'],
    ['… written in all, MB', (bytes / 1024 / 1024).toFixed(0), '-', '-', '-'],
    [
      '… memory in the last quarter and in the second, MB',
      late.toFixed(0),
      early.toFixed(0),
      `${(late / early).toFixed(2)}x`,
      'no growth',
    ],
  ];
  console.log('\n| streams | ours | base | ratio | goal |\n|---|---|---|---|---|');
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

const [, , first, second] = process.argv;
await (first === 'serve' ? serve(Number(second)) : measure(Number(first ?? 9)));
